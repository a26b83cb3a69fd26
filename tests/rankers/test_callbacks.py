"""Callbacks of scikit-learn 1.9 and later."""

import numpy as np
import pytest

from toprank import IRPush, PNormPush, PrecisionAtKRanker, RankBoost

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")


def data(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + rng.normal(size=n) > 1


class Recorder:
    """Keeps what a fit tells, and asks it to stop after some iterations."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.begun, self.ended, self.models = 0, 0, []

    def setup(self, estimator, context):
        self.setup_of = type(estimator).__name__, context.max_subtasks

    def teardown(self, estimator, context):
        self.torn_down = True

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        self.ended += 1
        self.metadata = metadata
        if fitted_estimator is not None:
            self.models.append(fitted_estimator)
        return self.stop_after is not None and len(self.models) == self.stop_after


@pytest.mark.parametrize("ranker", [PNormPush(p=8), PNormPush(solver="coordinate"), IRPush()])
def test_a_callback_sees_every_iteration_with_a_model_ready_to_score(ranker):
    X, y = data()
    recorder = Recorder()
    model = ranker.set_callbacks(recorder).fit(X, y, sample_weight=np.ones(200))
    assert len(recorder.models) == model.n_iter_
    assert recorder.begun == recorder.ended
    assert recorder.torn_down
    assert list(recorder.metadata) == ["sample_weight"]
    np.testing.assert_allclose(recorder.models[-1].decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    "ranker",
    [
        PNormPush(p=8),
        PNormPush(p=8, solver="coordinate"),
        RankBoost(),
        PrecisionAtKRanker(tol=None, random_state=0),
    ],
)
def test_a_callback_may_stop_a_fit_with_the_model_it_has(ranker):
    X, y = data()
    recorder = Recorder(stop_after=2)
    model = ranker.set_callbacks(recorder).fit(X, y)
    assert model.n_iter_ == 2
    assert not model.converged_
    # boosting knows its intercept at the end of a fit
    gap = recorder.models[-1].decision_function(X) - model.decision_function(X)
    assert np.ptp(gap) < 1e-9


def test_a_callback_is_torn_down_when_a_fit_fails():
    recorder = Recorder()

    def broken(_):
        raise RuntimeError("broken")

    X, y = data()
    with pytest.raises(RuntimeError):
        PNormPush(weak_rankers=[broken]).set_callbacks(recorder).fit(X, y)
    assert recorder.begun == recorder.ended == 0


def test_progress_bars_of_scikit_learn_follow_a_fit(capsys):
    X, y = data()
    PNormPush().set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "PNormPush" in capsys.readouterr().out
