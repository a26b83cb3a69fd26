"""``toprank report`` writes a page, with or without the target."""

import json


def test_a_report_says_what_it_shows(invoke, deals, tmp_path):
    page = tmp_path / "page.html"
    options = ("--no-push-path", "--top", "30", "-o", page)
    done = invoke("report", deals / "model.toprank", deals / "new.parquet", *options, "--json")
    assert json.loads(done.stdout) == {"report": str(page), "rows": 30, "has_target": True}
    assert "What the top is worth" in page.read_text(encoding="utf-8")
    assert "The push path" not in page.read_text(encoding="utf-8")
    invoke("report", deals / "model.toprank", deals / "new.parquet", "-o", page)
    assert "The push path" in page.read_text(encoding="utf-8")
    done = invoke("report", deals / "model.toprank", deals / "new.csv", *options, "--json")
    assert json.loads(done.stdout) == {"report": str(page), "rows": 30, "has_target": False}
    assert "has no column 'bought': the page shows no measures of quality" in done.stderr
    assert "What the top is worth" not in page.read_text(encoding="utf-8")


def test_a_push_path_shows_how_far_it_is_and_ends_in_time(invoke, deals, tmp_path, monkeypatch):
    arguments = ("report", deals / "model.toprank", deals / "new.parquet")
    arguments += ("-o", tmp_path / "p.html")
    monkeypatch.setattr("toprank.app.console._SECONDS_PER_LINE", 0.0)
    done = invoke(*arguments)
    assert "push path: 15 of 15" in done.stderr
    monkeypatch.setattr("toprank.app.report.model_page._MOST_SECONDS", -1.0)
    done = invoke(*arguments)
    assert done.exit_code == 0
    assert "the push path is left out: 0 of 15 fits took" in done.stderr
    assert "--no-push-path saves them" in done.stderr
    assert "The push path" not in (tmp_path / "p.html").read_text(encoding="utf-8")
