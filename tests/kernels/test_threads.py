"""Threads of our own, and BLAS held to one."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from toprank import LinearRankSVM, PNormPush, RankBoost, TreeRanker
from toprank.blocks import ArrayBlocks
from toprank.kernels.threads import Threads, one_blas_thread, readers_of, threads_for
from toprank.weak_rankers import Features, Stumps


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


needs_blas = pytest.mark.skipif(not blas_threads(), reason="threadpoolctl knows no BLAS here")


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_chunks_come_back_in_order(n_threads):
    with Threads(n_threads) as threads:
        chunks = threads.chunks(10, 3, lambda rows: (rows.start, rows.stop))
        assert chunks == [(0, 3), (3, 6), (6, 9), (9, 10)]
        assert threads.chunks(0, 3, lambda rows: rows) == []


def test_a_mapped_file_larger_than_memory_is_read_by_one_thread(tmp_path, monkeypatch):
    mapped = np.memmap(tmp_path / "X", np.float32, "w+", shape=(3, 2))
    with Threads(2) as threads:
        assert readers_of(np.asarray(mapped), threads) is threads
        monkeypatch.setattr("toprank.kernels.threads.available_memory", lambda: 23)
        assert readers_of(np.asarray(mapped), threads).n_threads == 1
        assert readers_of(np.zeros((3, 2)), threads) is threads
        monkeypatch.setattr("toprank.kernels.threads.available_memory", lambda: 24)
        assert readers_of(mapped, threads) is threads


@pytest.mark.parametrize("n_jobs", ["2", 1.5, 0])
@pytest.mark.parametrize("ranker", [PNormPush(), RankBoost(), TreeRanker()], ids=repr)
def test_a_number_of_threads_that_is_none_is_refused_in_a_sentence(ranker, n_jobs):
    with pytest.raises(ValueError, match=f"n_jobs must be .* or None, got {n_jobs!r}; -1 uses all"):
        ranker.set_params(n_jobs=n_jobs).fit([[0.0], [1.0]], [0, 1])


def test_a_thread_that_is_held_up_leaves_its_work_to_the_caller():
    free, begun = Event(), Event()
    with Threads(2) as threads:
        threads._pool.submit(lambda: (begun.set(), free.wait(60)))
        assert begun.wait(60)
        assert threads.chunks(10, 1, lambda rows: rows.start) == list(range(10))
        assert threads.chunks(2, 1, lambda rows: threads.chunks(2, 1, lambda _: rows.start)) == [
            [0, 0],
            [1, 1],
        ]
        free.set()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_a_part_is_told_once_all_threads_have_stopped(n_threads):
    running = []

    def work(rows):
        running.append(rows.start)
        if rows.start == 5:
            raise IndexError("of the work itself")
        running.pop()

    with Threads(n_threads) as threads, pytest.raises(IndexError, match="of the work itself"):
        threads.chunks(1000, 1, work)
    assert len(running) == 1


def test_work_after_the_threads_have_gone_is_done_by_the_caller():
    with Threads(2) as threads:
        pass
    assert threads.chunks(4, 2, lambda rows: rows.start) == [0, 2]


@needs_blas
def test_blas_has_one_thread_inside_and_its_own_number_afterwards():
    with threadpool_limits(2, user_api="blas"):
        with Threads(2):
            assert blas_threads() == {1}
        assert blas_threads() == {2}


@needs_blas
def test_fits_that_overlap_give_blas_back_as_the_user_had_it():
    inside, first_left = Barrier(2), Barrier(2)

    def first():
        with one_blas_thread():
            inside.wait(60)
        first_left.wait(60)

    def second():
        with one_blas_thread():
            inside.wait(60)
            first_left.wait(60)

    before = blas_threads()
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(first), pool.submit(second)]:
            future.result(60)
    assert blas_threads() == before


@needs_blas
def test_a_limit_of_the_user_is_kept(monkeypatch):
    monkeypatch.setattr("toprank.kernels.threads.cpu_count", lambda: 8)
    with threadpool_limits(1, user_api="blas"):
        assert threads_for(None).n_threads == 1
        assert threads_for(3).n_threads == 3
    with threadpool_limits(2, user_api="blas"):
        assert threads_for(None).n_threads == 2
        monkeypatch.setattr("toprank.kernels.threads.cpu_count", lambda: 1)
        assert threads_for(None).n_threads == 1


@pytest.mark.parametrize("family", [Features(), Stumps(n_bins=8)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_passes_over_a_table_do_not_depend_on_the_number_of_threads(family, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3)).astype(dtype)
    residuals = rng.normal(size=len(X))
    results = []
    for n_threads in (1, 2, 3):
        with Threads(n_threads) as threads:
            design = family.copy().fit(X, threads=threads).design(X, threads=threads)
            weights = np.linspace(-1.0, 1.0, design.n_weak)
            results.append((design.scores(weights), design.correlate(residuals)))
    for scores, correlations in results[1:]:
        np.testing.assert_array_equal(scores, results[0][0])
        np.testing.assert_array_equal(correlations, results[0][1])


@pytest.mark.parametrize("weak_rankers", ["features", "stumps"])
def test_a_push_does_not_depend_on_the_number_of_threads(weak_rankers):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=len(X)) > 2
    models = [
        PNormPush(p=8, weak_rankers=weak_rankers, max_iter=3, tol=None, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, None)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.weights_, models[0].weights_)
        np.testing.assert_array_equal(model.intercept_, models[0].intercept_)


def test_blocks_in_memory_and_predictions_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=len(X)) > 2
    one, two = (
        PNormPush(p=8, n_jobs=n_jobs).fit_blocks(ArrayBlocks.cut(X, y, size=3000, n_jobs=n_jobs))
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.weights_, two.weights_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_a_linear_svm_does_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=len(X)) > 2
    one, two = (LinearRankSVM(max_iter=2, tol=None, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.weights_, two.weights_)


@needs_blas
def test_work_on_a_dask_chunk_has_one_blas_thread():
    dask_array = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    from toprank.integrations.dask import DaskBlocks

    rows = dask_array.from_array(np.zeros((4, 2)), chunks=(2, 2))
    blocks = DaskBlocks(rows, np.zeros(4))
    with threadpool_limits(2, user_api="blas"), dask.config.set(scheduler="synchronous"):
        assert blocks.total(lambda _: sorted(blas_threads())) == [1, 1]
