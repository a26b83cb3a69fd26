"""Who is ahead over many data sets: mean ranks, Friedman's test, critical difference.

Demšar (2006): with k methods on N sets, two mean ranks differ at the 5 % level if they are further
apart than q·√(k(k+1)/(6N)), where q is the studentised range's quantile over √2 (Nemenyi).
"""

from typing import NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

mpl.use("Agg")
OURS_COLOUR, PEER_COLOUR = "#0072B2", "#767676"


class Standings(NamedTuple):
    """Mean rank of each method (1 is best), Friedman's p-value and the critical difference."""

    methods: list[str]
    ranks: np.ndarray
    p_value: float
    difference: float

    def groups(self) -> list[tuple[float, float]]:
        """Longest stretches of neighbouring ranks within the critical difference."""
        ordered = np.sort(self.ranks)
        found: list[tuple[float, float]] = []
        for start in ordered:
            end = ordered[ordered <= start + self.difference].max()
            if end > start and not (found and end <= found[-1][1]):
                found.append((start, end))
        return found


def standings(scores: dict[str, list[float]]) -> Standings:
    """Standings from one score per data set for every method, higher is better."""
    table = np.array(list(scores.values())).T
    ranks = stats.rankdata(-np.round(table, 10), axis=1).mean(axis=0)
    n_sets, k = table.shape
    q = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    p_value = float(stats.friedmanchisquare(*table.T).pvalue)
    return Standings(list(scores), ranks, p_value, float(q * np.sqrt(k * (k + 1) / (6 * n_sets))))


def against(scores: dict[str, list[float]], base: str) -> dict[str, tuple[int, int, int, float]]:
    """Wins, ties, losses and Wilcoxon's p-value of each method beside one, after Holm."""
    others = [name for name in scores if name != base]
    gaps = {name: np.subtract(scores[name], scores[base]).round(10) for name in others}
    raw = {name: _wilcoxon(gap) for name, gap in gaps.items()}
    held, largest = {}, 0.0
    for place, name in enumerate(sorted(others, key=raw.get)):
        largest = max(largest, min(1.0, raw[name] * (len(others) - place)))
        held[name] = largest
    return {
        name: (int((gap > 0).sum()), int((gap == 0).sum()), int((gap < 0).sum()), held[name])
        for name, gap in gaps.items()
    }


def _wilcoxon(gaps: np.ndarray) -> float:
    return float(stats.wilcoxon(gaps).pvalue) if np.any(gaps) else 1.0


def difference_picture(found: Standings, ours: tuple[str, ...], path) -> None:
    """Mean ranks on a line, the best on the left; bars join methods that cannot be told apart."""
    order = np.argsort(found.ranks, kind="stable")
    half = (len(order) + 1) // 2
    low, high = np.floor(found.ranks.min()), np.ceil(found.ranks.max())
    bars = found.groups()
    figure, axes = plt.subplots(figsize=(9, 1.1 + 0.3 * half + 0.14 * len(bars)))
    axes.plot([low, high], [0, 0], color="#333333", linewidth=1)
    for tick in np.arange(low, high + 1):
        axes.plot([tick, tick], [0, 0.12], color="#333333", linewidth=1)
        axes.text(tick, 0.25, f"{tick:g}", ha="center", fontsize=9)
    for number, (start, end) in enumerate(bars):
        depth = -0.22 - 0.2 * number
        axes.plot([start - 0.04, end + 0.04], [depth, depth], color="#333333", linewidth=3)
    first = -0.4 - 0.2 * len(bars)
    for place, method in enumerate(order):
        is_left = place < half
        depth = first - 0.42 * (place if is_left else len(order) - 1 - place)
        rank, name = found.ranks[method], found.methods[method]
        colour = OURS_COLOUR if name in ours else PEER_COLOUR
        end = low - 0.25 if is_left else high + 0.25
        axes.plot([rank, rank, end], [0, depth, depth], color=colour, linewidth=1)
        text = f"{name}  {rank:.2f}" if is_left else f"{rank:.2f}  {name}"
        axes.text(end + (-0.1 if is_left else 0.1), depth, text, va="center",
                  ha="right" if is_left else "left", color=colour, fontsize=9)  # fmt: skip
    axes.plot([low, low + found.difference], [0.75, 0.75], color="#333333", linewidth=1.5)
    axes.text(low + found.difference / 2, 0.85, f"critical difference {found.difference:.2f}",
              ha="center", va="bottom", fontsize=8.5)  # fmt: skip
    axes.set_xlim(low - 4.2, high + 4.2)
    axes.set_ylim(first - 0.42 * half, 1.3)
    axes.set_axis_off()
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)
