"""``fit`` and ``rank`` on files read in pieces: models and shortlists as in memory."""

import json
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from toprank.app.cli import app
from toprank.app.model_file import load_model
from toprank.app.reading import available_memory, is_streamed


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def people(n_rows=1500, seed=0):
    """Numbers, texts, dates, booleans, all with gaps; some rows without a target."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, n_rows)
    job = rng.choice(np.array(["clerk", "smith", "baker", "?", None], dtype=object), n_rows)
    bad = age + 10 * (job == "smith") + rng.normal(0, 5, n_rows) > 62
    target = np.where(bad, "ill", "well").astype(object)
    target[rng.random(n_rows) < 0.03] = None

    def holes(values):
        return pa.array(values, mask=rng.random(n_rows) < 0.1)

    return pa.table(
        {
            "number": np.arange(n_rows),
            "age": holes(age.round(1)),
            "visits": holes(rng.integers(0, 9, n_rows)),
            "job": pa.array(job, pa.string()),
            "since": holes(np.datetime64("2020-01-01") + rng.integers(0, 900, n_rows)),
            "smokes": holes(rng.random(n_rows) < 0.3),
            "heavy": rng.integers(1, 4, n_rows).astype(float),
            "state": target,
        }
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("streaming") / "people.parquet"
    pq.write_table(people(), path, row_group_size=170)
    return path


def fitted(file, folder, *options):
    """The same fit, in memory and streamed."""
    models = []
    for way in ("--in-memory", "--stream"):
        path = folder / f"{way}.toprank"
        named = ("--target", "state", "--positive", "ill", "--ignore", "number")
        run("fit", file, *named, *options, "--budget", "50", way, "-o", path, "--quiet")
        models.append(path)
    return models


@pytest.mark.parametrize(
    "options",
    [
        ("--ranker", "pnorm-push", "--set", "p=2"),
        ("--ranker", "pnorm-push", "--weight", "heavy"),
        ("--ranker", "ir-push"),
        ("--ranker", "rankboost", "--set", "max_iter=20"),
    ],
    ids=["push", "weighted", "ir", "boosting"],
)
def test_streaming_changes_neither_model_nor_shortlist(file, tmp_path, options):
    paths = fitted(file, tmp_path, *options)
    known, found = map(load_model, paths)
    assert found.roles == known.roles
    assert found.encoder.feature_names_out_ == known.encoder.feature_names_out_
    assert found.encoder.medians_ == known.encoder.medians_
    for name in ("n_rows", "n_positives", "class", "parameters", "table"):
        assert found.facts[name] == known.facts[name]
    for name in ("baseline", "spread", "cutoff"):
        np.testing.assert_allclose(getattr(found, name), getattr(known, name), atol=1e-6)
    np.testing.assert_allclose(found.ranker.weights_, known.ranker.weights_, atol=1e-6)

    for cut in (("--top", "70"), (), ("--cutoff", "model")):
        lists = []
        for way in ("--in-memory", "--stream"):
            shortlist = tmp_path / f"{way}.parquet"
            run("rank", paths[0], file, *cut, way, "-o", shortlist, "--quiet")
            lists.append(pq.read_table(shortlist))
        assert lists[0].equals(lists[1])
        assert lists[0].num_rows > 20


def test_ties_stay_in_the_order_of_the_file(file, tmp_path):
    model, _ = fitted(file, tmp_path, "--ranker", "rankboost", "--set", "max_iter=2")
    for way in ("--in-memory", "--stream"):
        run("rank", model, file, "--top", "1000", way, "-o", tmp_path / f"{way}.csv", "--quiet")
    assert (tmp_path / "--stream.csv").read_text() == (tmp_path / "--in-memory.csv").read_text()


def test_without_a_name_a_ranker_is_chosen_on_a_sample_and_said(file, tmp_path):
    path = tmp_path / "model.toprank"
    named = ("--target", "state", "--ignore", "number", "--positive", "ill", "--outer", "0")
    result = run("fit", file, *named, "--stream", "-o", path, "--json")
    assert "chosen among pnorm-push, ir-push, rankboost on 1," in result.stderr
    assert "pass 1 over 1,500 rows is done" in result.stderr
    assert json.loads(result.stdout)["chosen"] in ("pnorm-push", "ir-push", "rankboost")
    assert load_model(path).facts["chosen_on"] > 1000


def test_a_folder_is_a_stream(file, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    table = pq.read_table(file)
    for place in range(3):
        pq.write_table(table.slice(500 * place, 500), parts / f"part-{place}.parquet")
    named = ("--target", "state", "--ranker", "ir-push", "--ignore", "number", "--quiet")
    run("fit", parts, *named, "-o", tmp_path / "parts.toprank")
    run("fit", file, *named, "--stream", "-o", tmp_path / "whole.toprank")
    part, whole = (load_model(tmp_path / f"{name}.toprank") for name in ("parts", "whole"))
    np.testing.assert_allclose(part.ranker.coef_, whole.ranker.coef_, atol=1e-7)
    run("rank", tmp_path / "parts.toprank", parts, "-o", tmp_path / "list.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ranker", "precision-at-k"), "take one of pnorm-push, ir-push, rankboost"),
        (("--ranker", "pnorm-push", "--set", "loss=hinge"), "sorted scores"),
        (("--group", "job"), "--group needs all rows in memory"),
        (("--set", "p=4"), "--set needs a --ranker"),
        (("--budget", "5000", "--ranker", "ir-push"), "not a shortlist of 1,4"),
        (("--scratch", "absent", "--ranker", "rankboost"), "absent"),
    ],
)
def test_what_cannot_be_streamed_is_refused_with_a_remedy(file, tmp_path, options, message):
    output = tmp_path / "model.toprank"
    named = ("--target", "state", "--positive", "ill", "--stream", "-o", output)
    result = run("fit", file, *named, *options, code=2)
    assert message in " ".join(result.stderr.split())
    assert not output.exists()


def test_files_that_are_no_stream_are_told(file, tmp_path):
    text = tmp_path / "people.csv"
    text.write_text("age,state\n1,ill\n2,well\n")
    output = ("-o", tmp_path / "model.toprank", "--target", "state")
    assert "needs Parquet" in run("fit", text, "--stream", *output, code=2).stderr
    assert "without any .parquet" in run("fit", tmp_path, *output, code=2).stderr
    assert "is a folder" in run("fit", tmp_path, "--in-memory", *output, code=2).stderr
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(file.read_bytes()[:2000])
    assert "cut off, damaged" in run("fit", broken, "--stream", *output, code=2).stderr
    assert "cut off, damaged" in run("fit", broken, *output, code=2).stderr


def test_a_file_is_streamed_where_it_would_fill_half_of_the_memory(file, monkeypatch):
    assert available_memory() > 1e6
    assert not is_streamed(file, asked=None)
    size = 8 * 1500 * 8  # eight columns
    monkeypatch.setattr("toprank.app.reading.available_memory", lambda: 2 * size + 2)
    assert not is_streamed(file, asked=None)
    monkeypatch.setattr("toprank.app.reading.available_memory", lambda: 2 * size - 2)
    assert is_streamed(file, asked=None)
    assert not is_streamed(file, asked=False)
    monkeypatch.setattr("toprank.app.reading.available_memory", lambda: None)
    assert not is_streamed(file, asked=None)


def test_a_shortlist_that_does_not_fit_is_refused(file, tmp_path, monkeypatch):
    model, _ = fitted(file, tmp_path, "--ranker", "ir-push")
    monkeypatch.setattr("toprank.app.ranking.available_memory", lambda: 20_000)
    for cut in (("--top", "1400"), ("--cutoff", "-1e9")):
        output = tmp_path / "list.csv"
        result = run("rank", model, file, *cut, "--stream", "-o", output, code=2)
        assert "ask for fewer rows" in result.stderr
        assert not output.exists()
    run("rank", model, file, "--top", "5", "--stream", "-o", tmp_path / "list.csv")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_interrupted_fit_leaves_nothing(start, tmp_path):
    pq.write_table(people(20_000), tmp_path / "people.parquet", row_group_size=2000)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    arguments = ["people.parquet", "--target", "state", "--ranker", "rankboost", "--stream"]
    arguments += ["--set", "max_iter=1000000", "--scratch", "scratch", "-o", "model.toprank"]
    fit = start("from toprank.app.cli import app; app()", "fit", *arguments, cwd=tmp_path)

    def bins_are_on_disk():
        for link in Path(f"/proc/{fit.pid}/fd").iterdir():
            try:
                if str(link.readlink()).startswith(str(scratch)):
                    return True
            except OSError:  # closed meanwhile
                continue
        return False

    while not bins_are_on_disk():
        assert fit.poll() is None
        time.sleep(0.05)
    time.sleep(0.3)
    fit.send_signal(signal.SIGINT)
    _, words = fit.communicate(timeout=60)
    assert fit.returncode == 130
    assert "interrupted; nothing was written" in words
    assert sorted(each.name for each in tmp_path.iterdir()) == ["people.parquet", "scratch"]
    assert not list(scratch.iterdir())
