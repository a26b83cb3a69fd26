"""The page that says where each statement of the papers is, and the examples of its code."""

import doctest

import pytest

from experiments import papers
from experiments.boosting import covers
from experiments.cited import PAPERS, REASONS
from experiments.online import bounds
from experiments.push import chain, deviations


def test_the_page_is_what_the_files_cite():
    assert papers.PAGE.read_text(encoding="utf-8") == papers.page(), (
        "run python -m experiments papers"
    )


@pytest.mark.parametrize("number", PAPERS)
def test_no_cell_is_empty_and_no_reason_is_stale(number):
    found = papers.cited_in(number)
    for name, _, *cells in papers.rows(number):
        assert all(cells), name
    for name, reasons in REASONS[number].items():
        statement = papers.statement_of(name)
        assert name in PAPERS[number].statements
        assert any(statement not in found[column] for column in reasons), name


def test_citations_are_found_in_words_lists_and_names():
    text = "Theorems 2 and 3, equation (12), Tables 1 to 3 and test_corollary_13_holds; OP 3/4."
    expected = {("theorem", 2), ("theorem", 3), ("equation", 12), ("corollary", 13)}
    expected |= {("table", 1), ("table", 2), ("table", 3), ("op", 3), ("op", 4)}
    assert papers.citations(text) == expected


@pytest.mark.parametrize("module", [bounds, chain, covers, deviations])
def test_the_examples_are_true(module):
    done = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.attempted > 0
    assert done.failed == 0
