"""The page about a model: its words in any parser, its slider, table and filter in a browser."""

import json
import re

import numpy as np
import polars as pl
import pytest

from tests.app.report.parsed import Page
from toprank.app.fitting import fit_model
from toprank.app.report.model_page import build_model_page
from toprank.app.training_data import label_rows
from toprank.metrics import precision_at_k, roc_auc
from toprank.selection.candidates import make_ranker
from toprank.tables import as_table

EVIL = "</script><img src=x onerror=alert(1)> & \"q\" 'a'"
N_ROWS = 12_000


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N_ROWS, 2))
    job = rng.choice(["clerk", "nurse", EVIL], N_ROWS)
    noisy = x[:, 0] + (job == "nurse") + rng.normal(size=N_ROWS)
    columns = {
        "age": x[:, 0],
        EVIL: x[:, 1],
        "job": job,
        "sold": np.where(noisy > np.quantile(noisy, 0.9), "yes", "no"),
    }
    table = as_table(pl.DataFrame(columns), name="deals.csv")
    data = label_rows(table, target="sold")
    few = label_rows(table.rows(np.arange(2000)), target="sold")
    model = fit_model(few, make_ranker("pnorm-push", {"p": 4}), budget=500, name="pnorm-push")
    return build_model_page(model, table, data.in_memory(), top=10_000)


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    return made.write(tmp_path_factory.mktemp("page") / "report.html")


def test_texts_of_the_table_are_text_and_never_markup_and_nothing_points_outside(made):
    page = Page(made.render())
    assert len(page.every("script")) == 2
    assert not page.every("img")
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert any(EVIL in text for text in page.text)
    page.check_nothing_points_outside()


def test_the_page_tells_measures_drivers_certificates_and_calibration(made):
    text = " ".join(Page(made.render()).text)
    for words in ("precision", "lift", "Training list of", "rows 1 to 1,200", "The push path"):
        assert words in text
    assert made.run["drivers"][0][0] == "age"
    assert len(made.run["quality"]["calibration"]) == 10
    assert (
        made.run["quality"]["calibration"][0].observed
        > made.run["quality"]["calibration"][-1].observed
    )
    assert made.run["curve"].found[-1] == 0.1 * N_ROWS


def test_the_same_run_gives_the_same_page(made):
    assert made.render() == made.render()


@pytest.fixture(scope="module")
def listed():
    """A model of rows with weights in lists of one to six rows, and its table."""
    rng = np.random.default_rng(1)
    lists = np.repeat(np.arange(120), rng.integers(1, 7, 120))
    x = rng.normal(size=lists.size)
    columns = {
        "x": x,
        "query": lists.astype(str),
        "w": rng.integers(0, 4, lists.size),
        "y": x + rng.logistic(size=lists.size) > 1,
    }
    table = as_table(pl.DataFrame(columns), name="queries.csv")
    data = label_rows(table, target="y", group="query", weight="w")
    ranker = make_ranker("pnorm-push", {"p": 4})
    return fit_model(data, ranker, budget=2, name="pnorm-push"), table, data.in_memory()


def test_figures_respect_weights_and_lists(listed):
    model, table, data = listed
    made = build_model_page(model, table, data)
    given = {"sample_weight": data.weights, "groups": data.groups}
    scores = model.scores(table)
    expected = precision_at_k(data.positives, scores, k=2, **given)
    assert made.run["quality"]["metrics"]["precision"][0] == pytest.approx(expected)
    assert made.run["curve"].share[1] == pytest.approx(expected, abs=1e-5)
    area = roc_auc(data.positives, scores, **given)
    assert made.run["quality"]["metrics"]["area under the ROC curve"][0] == pytest.approx(area)
    best = np.argsort(-scores)[: np.flatnonzero(data.weights).size // 10]
    best = best[data.weights[best] > 0]
    tenth = np.average(data.positives[best], weights=data.weights[best])
    assert made.run["quality"]["calibration"][0].observed == pytest.approx(tenth, abs=0.1)
    assert made.run["quality"]["push_path"] is not None


def test_the_shortlist_of_lists_comes_list_after_list(listed):
    model, table, data = listed
    made = build_model_page(model, table, data, push=False)
    ranks, lists = (
        [row[0] for row in made.run["shortlist"].rows],
        [row[3] for row in made.run["shortlist"].rows],
    )
    sizes = np.unique(data.groups, return_counts=True)[1]
    assert ranks == [place for size in sizes for place in range(1, min(size, 2) + 1)]
    assert lists == sorted(lists)
    text = " ".join(Page(made.render()).text)
    assert "in 120 lists" in text
    assert "The first 2 rows of each list can be looked at." in text
    assert "Rows are counted by their weight" in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', made.render())[1])
    assert data["sorted"] == -1


def test_without_a_target_lists_are_lists_too(listed):
    model, table, _ = listed
    made = build_model_page(
        model, table.select([name for name in table.names if name not in ("y", "w")]), None, top=1
    )
    assert [row[0] for row in made.run["shortlist"].rows] == [1] * 120
    assert made.run["quality"] is None
    assert not made.run["weighted"]


# In a browser ---------------------------------------------------------------------------


def first_cells(browser):
    return browser.js(
        "[...document.querySelectorAll('#list tbody tr')].map(r => r.cells[0].textContent)"
    )


def test_the_page_opens_without_a_complaint_or_a_request(browser, page):
    browser.open(page)
    assert browser.js("document.querySelectorAll('#precision polyline').length") == 2
    assert browser.complaints() == []


def test_the_slider_tells_the_value_at_each_length(browser, page, made):
    browser.open(page)
    before = browser.js("document.getElementById('at-budget').textContent")
    assert before.startswith("The first 500 rows contain")
    browser.js("document.getElementById('budget').focus()")
    browser.press("Home", 36)
    text = browser.js("document.getElementById('at-budget').textContent")
    assert text.startswith("The first row contains")
    browser.press("ArrowRight", 39)
    text = browser.js("document.getElementById('at-budget').textContent")
    assert text.startswith(f"The first 2 rows contain {made.run['curve'].found[1]:g} positives")


def test_zooming_shows_fewer_negatives(browser, page):
    browser.open(page)
    before = browser.js("document.getElementById('at-zoom').textContent")
    browser.js("document.getElementById('zoom').focus()")
    browser.press("End", 35)
    after = browser.js("document.getElementById('at-zoom').textContent")
    assert before != after
    assert "first 34 of" in after


def test_sorting_filtering_and_paging_work_on_ten_thousand_rows(browser, page):
    browser.open(page)
    assert first_cells(browser)[:3] == ["1", "2", "3"]
    browser.click("#list thead th:nth-child(1) button")
    assert first_cells(browser)[0] == "10,000"
    assert browser.js("document.querySelector('#list th').getAttribute('aria-sort')") == (
        "descending"
    )
    browser.click("#next")
    assert first_cells(browser)[0] == "9,900"
    browser.type("#filter", "nurse")
    shown = "parseInt(document.getElementById('count').textContent.replaceAll(',', ''))"
    browser.wait_until(f"0 < {shown} && {shown} < 10000")
    # Sorting all rows takes less than a patient eye notices; other work on the machine may.
    took = [
        browser.js(
            "(() => {const t = performance.now();"
            "document.querySelector('#list thead th:nth-child(3) button').click();"
            "return performance.now() - t})()"
        )
        for _ in range(5)
    ]
    assert min(took) < 1000


def test_a_row_says_why_it_stands_there(browser, page, made):
    browser.open(page)
    browser.click("#list tbody tr:nth-child(2) button")
    assert browser.js("document.getElementById('why').hidden") is False
    told = browser.js("document.querySelector('#why-rows th').textContent")
    assert told == made.data["drivers"][1][0][0]
    assert browser.js("document.activeElement.id") == "why"
    assert browser.complaints() == []


def test_no_serious_accessibility_issue(browser, page):
    assert browser.serious_issues(page, prepare="#list tbody tr:nth-child(1) button") == []


def test_a_typed_length_moves_the_slider_and_the_words(browser, page):
    browser.open(page)
    browser.js(
        "(() => {const box = document.getElementById('length'); box.value = 120;"
        "box.dispatchEvent(new Event('change'));})()"
    )
    assert browser.js("document.getElementById('at-budget').textContent").startswith(
        "The first 120 rows contain"
    )
    ticks = "[...document.querySelectorAll('#gain text')].map(t => t.textContent)"
    assert {"0", "5,000", "10,000"} <= set(browser.js(ticks))
    assert browser.complaints() == []
