"""Shortlists of files read in pieces are those of memory, or are refused."""

from tests.app.streamed_fits import fitted, run


def test_ties_stay_in_the_order_of_the_file(file, tmp_path):
    model, _ = fitted(file, tmp_path, "--ranker", "rankboost", "--set", "max_iter=2")
    for way in ("--in-memory", "--stream"):
        run("rank", model, file, "--top", "1000", way, "-o", tmp_path / f"{way}.csv", "--quiet")
    assert (tmp_path / "--stream.csv").read_text() == (tmp_path / "--in-memory.csv").read_text()


def test_a_shortlist_that_does_not_fit_is_refused(file, tmp_path, monkeypatch):
    model, _ = fitted(file, tmp_path, "--ranker", "ir-push")
    monkeypatch.setattr("toprank.app.ranking.available_memory", lambda: 20_000)
    for cut in (("--top", "1400"), ("--cutoff", "-1e9")):
        output = tmp_path / "list.csv"
        result = run("rank", model, file, *cut, "--stream", "-o", output, code=2)
        assert "ask for fewer rows" in result.stderr
        assert not output.exists()
    run("rank", model, file, "--top", "5", "--stream", "-o", tmp_path / "list.csv")
