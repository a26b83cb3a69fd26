"""Lists with several lists, chances and rules are checked as they were made."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from toprank.app.audit_trail import check_shortlist, with_trail
from toprank.app.model import Roles
from toprank.app.ranking import rank_rows, take_ranked
from toprank.shortlists import Calibration
from toprank.tables import Table


@pytest.fixture
def lists(model):
    """A model with lists and calibration rows, and a table for it."""
    rng = np.random.default_rng(0)
    names = {name: rng.normal(size=40) for name in model.columns if name != "job"}
    jobs = {"job": rng.choice(["clerk", "smith"], 40)} if "job" in model.columns else {}
    table = pa.table({**names, **jobs, "region": np.repeat(["north", "south"], 20)})
    calibration = Calibration.of(rng.normal(size=300), rng.random(300) < 0.3)
    ranker = replace(model, roles=Roles("sold", ("true",), "region"), calibration=calibration)
    return ranker, Table(table, "new.csv")


def test_places_are_checked_within_lists_and_chances_with_them(lists):
    model, table = lists
    made = with_trail(rank_rows(model, table, 5, None), model, "abc", "today", as_columns=True)
    shortlist = Table(made.columns, "list.csv")
    for source in (None, table):
        found = check_shortlist(shortlist, model, "abc", source)
        assert not found.differs
        assert not found.unchecked
        assert "the chance of 10 rows" in found.agrees
    # a row left out is missed, wherever the rows are looked for
    fewer = Table(made.columns.take([0, 2, *range(3, 10)]), "list.csv")
    for source in (None, table):
        found = check_shortlist(fewer, model, "abc", source)
        assert any("place" in text for text in found.differs)
    swapped = made.columns.take([1, 0, *range(2, 10)]).set_column(0, "rank", made.columns["rank"])
    found = check_shortlist(Table(swapped, "list.csv"), model, "abc")
    assert any("place" in text for text in found.differs)


def test_lists_that_follow_rules_are_checked_by_their_scores(lists):
    model, table = lists
    free = replace(model, roles=Roles("sold", ("true",)))
    scores = free.scores(table)
    order = np.array([3, 1, 2])
    made = take_ranked(table, order, scores[order], {"gain": np.array([3.0, 2.0, 1.0])})
    made = with_trail(made, free, "abc", "today", by_rules=True)
    shortlist = Table(made.columns, "list.parquet")
    found = check_shortlist(shortlist, free, "abc")
    assert not found.differs
    assert any("rules" in text for text in found.unchecked)
    with pytest.raises(ValueError, match="--table"):
        check_shortlist(shortlist, free, "abc", table)


@pytest.mark.parametrize("as_columns", [False, True])
def test_a_column_of_the_table_called_chance_is_not_taken_for_the_models_chances(lists, as_columns):
    model, table = lists
    own = Table(table.columns.append_column("chance", pa.array(np.linspace(0, 1, 40))), "new.csv")
    made = with_trail(rank_rows(model, own, 5, None), model, "abc", "today", as_columns=as_columns)
    assert ("toprank_chance" in made.columns.column_names) == as_columns
    found = check_shortlist(Table(made.columns, "list.csv"), model, "abc", own)
    assert not found.differs
    assert ("the chance of 10 rows" in found.agrees) == as_columns
