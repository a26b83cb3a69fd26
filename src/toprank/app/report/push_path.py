"""What other powers of the push would do on the rows of a report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from toprank.app.report.picture import Picture, draw_picture
from toprank.metrics import positives_at_top, precision_at_k, roc_auc
from toprank.plots import push_path
from toprank.rankers import PNormPush
from toprank.selection.lessons import Lesson

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from toprank.app.labels import Supervision
    from toprank.app.model import Model

__all__ = ["draw_push_path"]

Path = dict[float, dict[str, list[float]]]

_POWERS = (1, 2, 4, 8, 16)
_MOST_ROWS = 4_000
_SHARE = 0.05
# The area under the ROC curve must pay for the other two.
_MEASURES: dict[str, Callable[..., float]] = {
    "precision_at_k": partial(precision_at_k, k=_SHARE),
    "positives_at_top": positives_at_top,
    "roc_auc": roc_auc,
}


def draw_push_path(model: Model, lesson: Supervision, *, seed: int = 0) -> Picture | None:
    """Fit each power on three random splits, with weights and lists; None where rows are few."""
    features = lesson.features
    used = features.without([name for name in features.names if name not in set(model.columns)])
    rows = Lesson(used, lesson.positives, lesson.weights, lesson.groups, _SHARE)
    rows = rows.sample(_MOST_ROWS, seed)
    if not rows.can_split() or min(int(rows.positives.sum()), int((~rows.positives).sum())) < 6:
        return None
    path: Path = {power: {name: [] for name in _MEASURES} for power in _POWERS}
    for train, test in rows.splits(3, 1 / 3, seed):
        fold = rows.fold(train, test, rows.size)
        for power, values in path.items():
            ranker = PNormPush(p=power, alpha=max(float(model.ranker.alpha), 1e-3))
            ranker.fit(fold.X_train, fold.y_train, **fold.given)
            scores = ranker.decision_function(fold.X_test)
            for name, measure in _MEASURES.items():
                values[name].append(measure(fold.y_test, scores, **fold.judged))

    def draw(figure: Figure) -> None:
        push_path(path, ax=figure.subplots(1, 3))

    return draw_picture(
        draw,
        title="The push path",
        caption="What a harder push does on these rows: each power learns from two thirds of them "
        "and is judged on the others. Thin lines are three random splits, the thick line is "
        "their mean.",
        alt="Precision in the first 5 % of the list, positives above all negatives and the area "
        "under the ROC curve, each against the power p from 1 to 16.",
    )
