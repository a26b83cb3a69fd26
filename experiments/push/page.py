"""The page of the documentation, from the numbers."""

from typing import NamedTuple

import numpy as np

from experiments.push.comparison import ENDS, REPEATS, ROUNDS, Verdict, standard_error, verdict
from experiments.push.illustrations import FAR_OUT, TRIALS, Choice, Number
from experiments.push.printed import COLUMNS, PREFERS_F1_FROM, Row

NAMES = {
    "AUC": "AUC",
    "R2": "$R_{2,1}$",
    "R4": "$R_{4,1}$",
    "R8": "$R_{8,1}$",
    "R16": "$R_{16,1}$",
    "DCG": "DCG",
    "AveR": "AveR",
}
LOSS_NAMES = {"0-1": "0-1 loss", "exponential": "exponential loss", "logistic": "logistic loss"}


class Experiment(NamedTuple):
    """One of Tables 3 to 5 with its numbers."""

    number: int
    figure: int
    title: str
    about: str
    rows: tuple[Row, ...]
    values: dict[str, np.ndarray]
    picture: str


def table(head: list[str], body: list[list[str]], *, words: int = 1) -> str:
    """Lay out a table: so many columns of words, then numbers, to the right."""
    rule = [*["---"] * words, *["---:"] * (len(head) - words)]
    lines = [head, rule, *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def power_of_ten(value: float) -> str:
    if value < 1e4:
        return f"{value:,.2f}"
    exponent = int(np.floor(np.log10(value)))
    return f"${value / 10.0**exponent:.4f} \\cdot 10^{{{exponent}}}$"


def as_printed(number: str) -> str:
    """Show a printed number with its digits and its power of ten."""
    digits, _, exponent = number.partition("e")
    return f"${digits} \\cdot 10^{{{exponent}}}$" if exponent else digits


def first_table(found: dict[str, list[Number]]) -> str:
    head = ["list", "loss", "printed", "ours, halved", "ours, as stated", "digits"]
    losses = ("0-1", "exponential", "logistic")
    body = [
        [name if loss == "0-1" else "", LOSS_NAMES[loss], as_printed(number.printed),
         f"{number.ours:.2f}", f"{number.as_stated:.2f}", agreement(number)]
        for name, numbers in found.items()
        for loss, number in zip(losses, numbers, strict=True)
    ]  # fmt: skip
    return table(head, body, words=2)


def agreement(*numbers: Number) -> str:
    return "agree" if all(number.agrees for number in numbers) else "**differ**"


def second_table(found: dict[int, list[Number]], loss: str) -> str:
    """One loss of Table 2."""
    start = 2 * list(PREFERS_F1_FROM).index(loss)
    head = ["p", "$f_1$ printed", "$f_1$ ours", "$f_2$ printed", "$f_2$ ours", "prefers", "digits"]
    body = []
    for p, numbers in found.items():
        first, second = numbers[start : start + 2]
        prefers = "$f_1$" if first.ours < second.ours else "$f_2$"
        printed = "$f_1$" if p >= PREFERS_F1_FROM[loss] else "$f_2$"
        body.append([
            str(p), as_printed(first.printed), power_of_ten(first.ours),
            as_printed(second.printed), power_of_ten(second.ours),
            prefers if prefers == printed else f"{prefers} (printed: {printed})",
            agreement(first, second),
        ])  # fmt: skip
    return table(head, body)


def results(experiment: Experiment) -> str:
    """The paper's number above ours, and the standard error below."""
    body = []
    for row in experiment.rows:
        scaled = experiment.values[row.measure] / 10.0**row.exponent
        digits = 0 if row.values[0] > 1000 else 4
        unit = f" / $10^{{{row.exponent}}}$" if row.exponent else ""
        body += [
            [f"{NAMES[row.measure]}{unit}", "paper", *(f"{v:,.{digits}f}" for v in row.values)],
            ["", "ours", *(f"{v:,.{digits}f}" for v in scaled.mean(axis=0))],
            ["", "± s.e.", *(f"{v:,.{digits}f}" for v in standard_error(scaled))],
        ]
    return table(["measure", "", *COLUMNS], body, words=2)


def verdicts(experiment: Experiment) -> list[tuple[Row, Verdict]]:
    return [
        (row, verdict(row, experiment.values[row.measure] / 10.0**row.exponent))
        for row in experiment.rows
    ]


def verdict_table(experiment: Experiment) -> str:
    head = ["measure", "best, paper", "best, ours", "the same?", "trend followed?",
            "p = 1 to 64, paper", "p = 1 to 64, ours", "paper's run within 2 s.d."]  # fmt: skip
    body = []
    for row, found in verdicts(experiment):
        digits = 0 if row.values[0] > 1000 else 4
        change = f"{found.change:+,.{digits}f} ± {found.error:,.{digits}f}"
        says = {"yes": "yes", "no": "**no**"}.get(found.follows, found.follows)
        body.append([NAMES[row.measure], row.best, COLUMNS[found.best], found.best_agrees, says,
                     f"{row.values[5] - row.values[0]:+,.{digits}f}", change,
                     f"{found.near} of {len(COLUMNS)}"])  # fmt: skip
    return table(head, body, words=5)


def summary(experiments: list[Experiment]) -> str:
    """Which rows follow the paper, and which do not, in a sentence each."""
    every = [(e, row, v) for e in experiments for row, v in verdicts(e)]
    count = {word: sum(v.follows == word for *_, v in every) for word in ("yes", "within noise")}
    against = len(every) - sum(count.values())
    others = [exception(*each) for each in every if each[-1].follows != "yes"]
    others += [idle(*each) for each in every if each[-1].follows == "yes" and each[-1].idle]
    return (
        f"Of the {len(every)} rows of Tables 3 to 5, {count['yes']} clearly follow the paper's "
        f"trend,\n{count['within noise']} cannot be told from it within the noise, and "
        f"{against or 'none'} clearly {'go' if against > 1 else 'goes'} against it."
        + ("\n\n" + "\n".join(f"- {each}" for each in others) if others else "")
    )


def exception(experiment: Experiment, row: Row, found: Verdict) -> str:
    said = {
        "yes": f"among the paper's best ({row.best})",
        "within noise": f"not clearly better than the paper's best ({row.best})",
        "no": f"clearly better than the paper's best ({row.best}): **the trend is not followed**",
    }[found.best_agrees]
    ends = " and ".join(COLUMNS[end] for end in found.unbeaten)
    return (
        f"Table {experiment.number}, {NAMES[row.measure]}: our best column is "
        f"{COLUMNS[found.best]}, {said}"
        + (f"; {ends}, not among them, is not clearly worse." if ends else ".")
    )


def idle(experiment: Experiment, row: Row, found: Verdict) -> str:
    """Say which columns that the paper names have no clear part in a trend that is followed."""
    columns = " and ".join(COLUMNS[column] for column in found.idle)
    ends = " and ".join(COLUMNS[end] for end in ENDS if end not in row.best_columns)
    return (
        f"Table {experiment.number}, {NAMES[row.measure]}: the trend is followed, but {columns}, "
        f"among the paper's best ({row.best}), is not clearly better than {ends}."
    )


def choices_table(found: list[Choice]) -> str:
    head = ["training rows m", "$(1-\\epsilon)^m$", "$(1-\\epsilon/2)^m$",
            "x chosen by $R_{\\max}$", "neither", "−x chosen by AUC"]  # fmt: skip
    body = [
        [str(c.n_rows), f"{(1 - FAR_OUT) ** c.n_rows:.3f}", f"{(1 - FAR_OUT / 2) ** c.n_rows:.3f}",
         f"{c.wrong:.3f}", f"{c.undecided:.3f}", f"{c.wrong_by_auc:.3f}"]
        for c in found
    ]  # fmt: skip
    return table(head, body)


def experiment_section(experiment: Experiment) -> str:
    return f"""\
## Table {experiment.number} and Figure {experiment.figure}: {experiment.title}

{experiment.about}

{results(experiment)}

{verdict_table(experiment)}

![True against false positives, in rows]({experiment.picture})

*Figure {experiment.figure}, from the split with seed 0: true against false positives, in rows.
Training rows above, test rows below; the whole list on the left, its left end on the right.*
"""


SETTINGS = f"""\
## Tables 3 to 5: how they were made

**Settings.** P-Norm Push with $p$ = 1, 2, 4, 8, 16, 64: {ROUNDS} rounds of coordinate descent, a
budget and not a point of convergence, without a penalty. IR Push: minimised to convergence,
without a penalty. Weak rankers are the features; each is scaled to [0, 1] by the range of the
*training* rows, so that nothing is learned from test rows (the paper says "normalized to [0,1]"
and not by which rows; the IR Push does not depend on it, nor does any push at convergence).
Each number of ours is the mean over {REPEATS} repeats (seeds 0 to {REPEATS - 1}; a repeat is one
random training set, or one cross-validation), with the standard error of that mean. It tells how
much the *splits* matter: all of them cut the same data set, and another data set of the same kind
may differ by more. The paper reports one repeat, so its numbers should scatter around our means
by a standard deviation of one repeat, {REPEATS**0.5:.1f} standard errors; the last column counts
the columns where they are within two of these.

**How rows are compared.** The paper names the columns that are best in a row: its trend. A row
*follows* it if our best column is one of them, and if both ends, $p = 1$ and $p = 64$, are clearly
worse than that column unless the paper names them. It does *not* follow it if our best column is
another one and clearly better than the best of those named. Otherwise the noise is too large to
decide. Columns are compared split by split, and a difference of two standard errors is clear.
"""

TRIALS_TEXT = f"{TRIALS:,} training sets of each size"
