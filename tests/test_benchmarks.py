"""The benchmark page hides no row and explains every loss."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("psutil")
ROOT = Path(__file__).parents[1]


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    yield __import__("benchmarks.page", fromlist=["page"])
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def test_every_kept_row_stands_on_the_page(benchmarks):
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    kept = benchmarks.read()
    assert set(benchmarks.SUITE) <= set(kept)
    rows = [row for name in benchmarks.SUITE for row in kept[name]["results"]]
    missing = [row for row in rows if (row.peer if hasattr(row, "peer") else row.name) not in page]
    assert rows
    assert not missing


def test_every_place_where_a_peer_is_ahead_is_explained():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert "Not yet explained" not in page


def test_a_race_puts_the_peer_over_ours(benchmarks):
    measure = sys.modules["benchmarks.measure"]
    row = measure.compared("training", "a task", ("ours", [1.0, 2.0]), ("peer", [3.0, 4.0]), "s")
    assert (row.ratio, row.low, row.high) == (2.5, 2.0, 3.0)
    assert benchmarks.verdict(row) == "ahead"
    assert benchmarks.verdict(row._replace(low=0.9)) == "level"
    assert benchmarks.verdict(row._replace(low=0.5, ratio=0.6, high=0.9)) == "**behind**"


def test_a_race_can_tell_of_processor_time_too(benchmarks):
    measure = sys.modules["benchmarks.measure"]
    calls = ("ours", lambda: None), {"peer": lambda: sum(range(10_000))}
    wall, processor = measure.race("training", "a task", *calls, turns=1, processor=True)
    assert (wall.task, processor.task) == ("a task", "a task, processor time")
    assert "training on a busy machine" in benchmarks.SECTIONS
    with measure.busy_processes(1):
        pass


def figures(*ratios, on="one processor"):
    return [
        {"commit": str(at), "on": on, "ratio": ratio} for at, ratio in enumerate(ratios, start=1)
    ]


def test_a_row_that_lost_over_15_percent_is_named_with_its_commits(benchmarks):
    history = {"kept": figures(2.0, 1.8), "lost": figures(1.0, 2.0, 1.5, 1.6), "new": figures(0.5)}
    (lost,) = benchmarks.history.losses(history)
    assert lost == ("lost", 2.0, 1.6, "2", "4")
    assert "| lost | 2 | 1.6 | 2 | 4 |" in benchmarks.lost_text([lost])
    elsewhere = {"lost": [*figures(2.0, on="another"), *figures(1.0)]}
    assert not benchmarks.history.losses(elsewhere)


def test_ratios_are_remembered_once_per_commit(benchmarks):
    measure = sys.modules["benchmarks.measure"]
    row = measure.compared("training", "a task", ("ours", [1.0]), ("peer", [2.0]), "s")
    limit = measure.Limit("work", 1, 1.0, 1.0, 4.0, 1.0, 4.0)
    kept = {"push": {"machine": {"processor": "p"}, "commit": "a", "results": [row, limit]}}
    history = benchmarks.history.remember(kept, {})
    assert [figures[0]["ratio"] for figures in history.values()] == [2.0, 0.25]
    again = benchmarks.history.remember(kept, history)
    assert again == history
    kept["push"]["commit"] = "b"
    assert all(len(each) == 2 for each in benchmarks.history.remember(kept, history).values())


@pytest.mark.usefixtures("benchmarks")
def test_tables_are_written_between_the_comments_of_their_page():
    between = __import__("benchmarks.between", fromlist=["between"])
    page = "before\n<!-- plan -->\n\nold\n\n<!-- end of plan -->\nafter\n"
    once = between.replaced(page, "plan", between.table(["a", "b"], [["x", "1"]]))
    assert once.split("\n")[1:8] == [
        "<!-- plan -->", "", "| a | b |", "| --- | ---: |", "| x | 1 |", "", "<!-- end of plan -->",
    ]  # fmt: skip
    assert between.replaced(once, "plan", "old") == page
    with pytest.raises(ValueError, match="no <!-- terms -->"):
        between.replaced(page, "terms", "")


@pytest.mark.usefixtures("benchmarks")
def test_a_plan_predicts_what_grows_along_a_line():
    plan = __import__("benchmarks.plan", fromlist=["plan"])
    terms = sys.modules["benchmarks.plan_terms"]

    def fits(size):
        def fit(**passes):
            found = {
                name: (count, count * (1e-3 + size * ns)) for name, (count, ns) in passes.items()
            }
            total = sum(seconds for _, seconds in found.values())
            return terms.Fit(found, total + 0.5, total, 1000 + 21 * size)

        look = {"survey_block": (1, 5e-9), "rows_for_thresholds": (1, 2e-9)}
        return {
            "PNormPush": fit(survey_block=(1, 5e-9), a_pass=(6, 9e-9)),
            "RankBoost": fit(**look, binned=(1, 7e-9), a_round=(11, 3e-9)),
            "TreeRanker": fit(**look, binned_rows=(1, 8e-9), ask=(30, 1e-9), weigh=(1, 1e-9)),
        }

    told, seconds, n_bytes = plan.predicted(
        {size: fits(size) for size in (10**6, 3 * 10**6, 10**7)}
    )
    there = fits(4 * 10**7)
    assert told["a pass of the push"](4 * 10**7) == pytest.approx(0.361)
    for name, fit in there.items():
        assert seconds(name, 4 * 10**7) == pytest.approx(fit.processor)
        assert n_bytes[name](4 * 10**7) == pytest.approx(fit.n_bytes)
    assert plan._checked(1.1, 1.0, 1.0) == ["1.1", "1", "+10 %"]
