"""``toprank compare`` gives a verdict and goes on after an interrupt."""

import json
import re

FEW = ("--ranker", "pnorm-push", "--no-engines")


def test_compare_gives_a_verdict_and_a_report(invoke, words, deals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = ("compare", deals / "known.csv", "--target", "bought", "--budget", "20", *FEW)
    text = words(invoke(*call, "--report", "page.html"))
    assert re.search(r"Use the blend: expect \d+ of your 20 \(\d+ to \d+\); the simplest", text)
    typed = f"toprank fit {deals / 'known.csv'} --target bought --budget 20"
    assert f"Next: {typed} --ranker logistic --ranker pnorm-push -o model.toprank" in text
    assert "Which ranker for known.csv" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_compare_and_fit_give_the_same_order_and_promise(invoke, deals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = (deals / "known.csv", "--target", "bought", "--budget", "20", "--json")
    compared = json.loads(invoke("compare", *table, *FEW).stdout)
    rankers = ("--ranker", "logistic", "--ranker", "pnorm-push")
    fitted = json.loads(invoke("fit", *table, *rankers, "-o", "m.toprank").stdout)
    for fact in ("verdict", "standings", "weights", "hits"):
        assert compared[fact] == fitted[fact]
    alone = json.loads(invoke("fit", *table, *rankers[:2], "-o", "m.toprank").stdout)
    standings = {each["ranker"]: each["hits"] for each in compared["standings"]}
    assert alone["hits"] == standings["logistic"]


def test_an_interrupted_comparison_goes_on_where_it_was(invoke, deals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import toprank.selection.blending as module

    arguments = ("compare", deals / "known.csv", "--target", "bought", "--budget", "20", *FEW)
    arguments += ("--json",)
    whole = json.loads(invoke(*arguments).stdout)
    real, calls = module.clone, []

    def interrupted(*given):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(module, "clone", interrupted)
    stopped = invoke(*arguments)
    assert stopped.exit_code == 130
    assert "go on with --resume" in stopped.stderr
    monkeypatch.setattr(module, "clone", real)
    (journal,) = tmp_path.glob("toprank-compare-*.journal")
    journal.write_text(journal.read_text() + '{"key": "cut o')  # as a kill would leave it
    resumed = invoke(*arguments, "--resume")
    assert "2 finished fits are taken" in resumed.stderr
    assert json.loads(resumed.stdout) == whole
    assert not journal.exists()
