"""Figures 2 and 3 of Kar, Narasimhan and Jain (2015), from our runs."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter

COLOURS = {
    "SGD@k-avg": "#1b6ca8",
    "SGD@k-max": "#7fb2d9",
    "SGD@k-ramp": "#0b2e4f",
    "Perceptron@k-avg": "#c1440e",
    "Perceptron@k-max": "#ee9b6f",
    "1PMB": "#5a8f29",
    "SVMPerf": "#a3c585",
    "logistic regression": "#555555",
    "linear SVM": "#888888",
    "PNormPush(p=4)": "#7b3fa0",
}
DASHES = {"Perceptron@k-avg": "--", "Perceptron@k-max": "--", "1PMB": "-.", "SVMPerf": "-."}
MARKERS = {"logistic regression": "s", "linear SVM": "^", "PNormPush(p=4)": "D"}


def _panels(n):
    figure, axes = plt.subplots(
        (n + 1) // 2, 2, figsize=(9.5, 3.6 * ((n + 1) // 2)), layout="constrained"
    )
    for empty in axes.flat[n:]:
        empty.set_axis_off()
    return figure, axes.flat


def _finish(figure, axis, path, columns=5):
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def times_picture(path, curves, title):
    """Test precision against training time: one panel per data set."""
    figure, axes = _panels(len(curves))
    for axis, (name, methods) in zip(axes, curves.items(), strict=False):
        for method, (seconds, precision) in methods.items():
            if method in MARKERS:
                axis.plot(seconds, precision, MARKERS[method], color=COLOURS[method], label=method)
            else:
                axis.plot(
                    seconds, precision, DASHES.get(method, "-"), color=COLOURS[method],
                    label=method, linewidth=1.6,
                )  # fmt: skip
        axis.set(xscale="log", xlabel="seconds of training", ylabel=f"test {title}", title=name)
        axis.xaxis.set_minor_formatter(NullFormatter())
        # the first cutting planes may rank no row above another; what matters is where all end
        ends = [float(precision[-1]) for _, precision in methods.values()]
        room = max(0.01, 0.6 * (max(ends) - min(ends)))
        axis.set_ylim(max(0.0, min(ends) - room), min(1.002, max(ends) + 0.3 * room))
        axis.grid(alpha=0.25)
    _finish(figure, figure.axes[0], path)


def lines_picture(path, lines, xlabel, ylabel, log=False):
    """Mean and spread over splits against κ or batch length: one panel per data set."""
    figure, axes = _panels(len(lines))
    for axis, (name, (grid, methods)) in zip(axes, lines.items(), strict=False):
        for method, values in methods.items():
            mean, spread = np.mean(values, axis=0), np.std(values, axis=0)
            style = DASHES.get(method, "-")
            axis.plot(grid, mean, style, color=COLOURS[method], label=method, linewidth=1.6)
            axis.fill_between(
                grid, mean - spread, mean + spread, color=COLOURS[method], alpha=0.12, linewidth=0
            )
        axis.set(xlabel=xlabel, ylabel=ylabel, title=name)
        if log:
            axis.set_xscale("log")
            axis.set_xticks(grid, [f"{value:,}" for value in grid])
            axis.minorticks_off()
        axis.grid(alpha=0.25)
    _finish(figure, figure.axes[0], path)
