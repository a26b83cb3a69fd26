"""The page tells the run's numbers, holds no foreign markup, and needs nothing beside it."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.app.report.parsed import Page
from toprank.app.report.comparison_page import comparison_page
from toprank.metrics import precision_at_k

EVIL = "<script>alert('x')</script> & \"quotes\""


def render(run):
    return comparison_page(**run).render()


def test_texts_of_the_user_are_text_and_never_markup(run):
    source = render(run)
    page = Page(source)
    assert page.open == []
    assert len(page.every("script")) == 2  # its data and its own
    assert "<script>alert" not in source
    assert sum(EVIL in text for text in page.text) >= 8
    # attribute values too
    assert EVIL in [attrs.get("aria-label") for attrs in page.every("div")]


def test_the_table_holds_the_numbers(run):
    text = " ".join(" ".join(Page(render(run)).text).split())
    gained = run["found"].rows_gained("push", "plain")
    assert gained.mean == pytest.approx(5)
    hits = run["found"].expected("plain")
    assert f"{hits.mean:.1f} {hits.low:.0f} to {hits.high:.0f}" in text
    assert f"+{gained.mean:.1f}" in text
    assert "reference" in text  # in place of what the push gains over itself
    assert run["found"].verdict("push", "plain") in text


def test_the_page_names_versions_and_settings(run):
    text = " ".join(Page(render(run)).text)
    for name in ("toprank", "Python", "numpy", "scikit-learn"):
        assert name in text


def test_a_run_without_pictures_has_no_place_for_them(run):
    assert 'id="pictures"' not in render(run | {"pictures": ()})


def test_the_slider_follows_weights_and_lists(run):
    weights, groups = np.arange(40) % 3 + 0.5, np.arange(40) % 4
    rows = replace(run["found"].rows, weights=weights, groups=groups)
    comparison = replace(run["found"], rows=rows)
    source = render(run | {"found": comparison})
    data = json.loads(re.search(r'id="data">(.*?)</script>', source)[1])
    focus = data["series"][data["shaded"]]
    labels, scores = rows.positives, comparison.scores["push"]
    for length, share in zip(focus["lengths"], focus["share"], strict=True):
        expected = precision_at_k(labels, scores, k=length, sample_weight=weights, groups=groups)
        assert share == pytest.approx(expected, abs=1e-5)
    assert focus["n_lists"] == 4
    assert "Rows are counted by their weight" in source


def test_no_more_curves_are_drawn_than_can_be_told_apart(run):
    # ranker n puts n negatives above all positives, the push 6
    labels, last = run["found"].rows.positives, {"push": 6} | {f"ranker {n}": n for n in range(6)}
    many = {
        name: labels + 2.0 * np.isin(np.arange(40), 2 * np.arange(n) + 1)
        for name, n in last.items()
    }
    comparison = replace(run["found"], scores=many)
    contestants = dict.fromkeys(many, "")
    source = render(run | {"found": comparison, "contestants": contestants})
    data = json.loads(re.search(r'id="data">(.*?)</script>', source)[1])
    names = [each["name"] for each in data["series"]]
    assert names == ["push", "ranker 0", "ranker 1", "ranker 2"]
    assert data["shaded"] == 0


def test_nothing_points_outside_the_page(run):
    source = render(run)
    Page(source).check_nothing_points_outside()
    assert set(re.findall(r"url\(([^)]{1})", source)) <= {"#"}
    assert "@import" not in source


def test_every_inner_link_and_reference_has_its_target_and_no_id_comes_twice(run):
    page = Page(render(run))
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in page.tags:
        if attrs.get("href", "").startswith("#"):
            assert attrs["href"][1:] in ids
        for reference in attrs.get("aria-labelledby", "").split():
            assert reference in ids
        for reference in re.findall(r"url\(#([^)]+)\)", " ".join(map(str, attrs.values()))):
            assert reference in ids


def test_people_who_do_not_see_the_page_can_use_it(run):
    page = Page(render(run))
    assert page.every("html")[0]["lang"] == "en"
    assert all(attrs.get("scope") in ("col", "row") for attrs in page.every("th"))
    assert len(page.every("caption")) == len(page.every("table"))
    drawings = [attrs for attrs in page.every("div") if attrs.get("role") == "img"]
    assert len(drawings) == len(run["pictures"]) + 3  # and the curves
    assert all(attrs["aria-label"] for attrs in drawings)
    assert [tag for tag, _ in page.tags if tag in ("h1", "h2")].count("h1") == 1


@pytest.fixture
def page(run, tmp_path):
    return comparison_page(**run).write(tmp_path / "report.html")


def test_a_browser_opens_the_page_without_a_complaint_or_a_request(browser, page):
    browser.open(page)
    assert browser.js("document.querySelectorAll('#precision polyline').length") == 3
    assert browser.js("document.querySelectorAll('#roc polyline').length") == 3
    assert browser.js("document.getElementById('legend').textContent") == "plainpush"
    assert browser.complaints() == []


def test_the_slider_tells_what_each_ranker_found(browser, page):
    browser.open(page)
    words = "document.getElementById('at-budget').textContent"
    # Scores rise with the row, and every second row is positive; the push has them all on top.
    assert browser.js(words).startswith(
        "Of 20 positives, the first 10 rows contain 5 (precision 50.0 %) with "
    )
    browser.js("document.getElementById('budget').focus()")
    browser.press("Home", 36)
    assert browser.js(words) == (
        "Of 20 positives, the first row contains 0 (precision 0.0 %) with plain; "
        "1 (precision 100.0 %) with push."
    )


def test_the_tables_of_rankers_and_rows_can_be_sorted_and_filtered(browser, page):
    browser.open(page)
    names = "[...document.querySelectorAll('#gained tbody th')].map(c => c.textContent)"
    assert browser.js(names) == ["push", "plain"]  # the most hits first
    browser.click("#gained thead th:nth-child(2) button")
    assert browser.js(names) == ["plain", "push"]
    cells = "[...document.querySelectorAll('#list tbody td:first-child')].map(c => c.textContent)"
    browser.click("#list thead th:nth-child(1) button")
    assert browser.js(cells) == ["2", "1"]
    browser.type("#filter", "ALERT")
    browser.wait_until(f"{cells}.join() === '1'")
    assert browser.complaints() == []


def test_no_serious_accessibility_issue(browser, page):
    assert browser.serious_issues(page) == []
