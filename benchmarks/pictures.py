"""The two pictures of the page: ratios at one look, and growth."""

from itertools import cycle

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

mpl.use("Agg")
AHEAD, LEVEL, BEHIND = ("#0072B2", "^"), ("#767676", "s"), ("#D55E00", "v")
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#767676", "#000000",
)  # fmt: skip


def _look(row):
    if row.low > 1:
        return AHEAD
    return BEHIND if row.high < 1 else LEVEL


def ratio_picture(rows, sections, path):
    """One line per comparison, grouped by section, the largest ratio of each on top."""
    lines, place = [], 0.0
    labels = [_label(row) for row in rows]
    for section in sections:
        chosen = sorted((r for r in rows if r.section == section), key=lambda r: -r.ratio)
        lines.append((place, section, None))
        for row in chosen:
            place += 1.0
            label = _label(row)
            if labels.count(label) > 1:  # the last words of the task tell them apart
                label += f", {', '.join(row.task.split(', ')[-2:])}"
            lines.append((place, label, row))
        place += 1.6
    figure, axes = plt.subplots(figsize=(9.5, 0.205 * place + 1.2), layout="constrained")
    for at, text, row in lines:
        if row is None:
            axes.text(-0.01, at, text, transform=axes.get_yaxis_transform(), ha="right",
                      va="center", fontsize=9.5, fontweight="bold")  # fmt: skip
            continue
        colour, marker = _look(row)
        axes.plot([row.low, row.high], [at, at], color=colour, linewidth=2, alpha=0.45)
        axes.plot([row.ratio], [at], marker, color=colour, markersize=5)
    axes.axvline(1, color="#333333", linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}×"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks([at for at, _, row in lines if row], [t for _, t, row in lines if row])
    axes.tick_params(axis="y", labelsize=7, length=0)
    axes.tick_params(axis="x", labelsize=8, labeltop=True)
    axes.set_ylim(place - 1, -0.8)
    axes.grid(axis="x", alpha=0.25)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("peer over toprank: right of 1 toprank is ahead", fontsize=9)
    marks = [("ahead", AHEAD), ("level", LEVEL), ("behind", BEHIND)]
    handles = [axes.plot([], [], marker, color=colour)[0] for _, (colour, marker) in marks]
    axes.legend(handles, [name for name, _ in marks], fontsize=8, frameon=False, loc="lower right")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _label(row):
    text = f"{row.ours} / {row.peer}"
    return text if len(text) < 88 else text[:86] + "…"


def growth_picture(grown, path):
    """Seconds over rows, and below them nanoseconds per row, in which a straight line lies flat."""
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(7.5, 7), sharex=True, layout="constrained", height_ratios=(3, 2)
    )
    for at, (each, colour) in enumerate(zip(grown, cycle(COLOURS), strict=False)):
        style = {"color": colour, "markersize": 3.5}
        line = "o-" if at < len(COLOURS) else "s--"  # a colour that is used again
        label = f"{each.name}: {each.exponent:.2f}"
        top.plot(each.rows, each.seconds, line, label=label, **style)
        per_row = [1e9 * s / n for s, n in zip(each.seconds, each.rows, strict=True)]
        bottom.plot(each.rows, per_row, line, **style)
    low, high = grown[0].fitted
    for axes in (top, bottom):
        axes.axvspan(low, high, color="#999999", alpha=0.12, linewidth=0)
        axes.set(xscale="log", yscale="log")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    top.set_ylabel("seconds")
    top.legend(
        fontsize=8, frameon=False, title="exponent, fitted in the grey band", title_fontsize=8
    )
    bottom.set(xlabel="rows", ylabel="nanoseconds per row")
    figure.savefig(path, dpi=110)
    plt.close(figure)
