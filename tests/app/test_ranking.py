"""Shortlists of files read in pieces are those of memory, or are refused."""

from typer.testing import CliRunner

from toprank.app.cli import app


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def fitted(file, folder, *options):
    """The same fit, in memory and streamed."""
    models = []
    for way in ("--in-memory", "--stream"):
        path = folder / f"{way}.toprank"
        named = ("--target", "state", "--positive", "ill", "--ignore", "number")
        run("fit", file, *named, *options, "--budget", "50", way, "-o", path, "--quiet")
        models.append(path)
    return models


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
