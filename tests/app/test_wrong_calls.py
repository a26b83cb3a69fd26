"""Malformed and hostile inputs: exit code 2, a line or two that help, nothing left behind."""

import gzip
import io

import numpy as np
import polars as pl
import pytest

ROWS = "".join(f"{i},{'x' if i % 3 else 'y'},{int(i % 4 == 0)}\n" for i in range(40))
GOOD = "a,b,t\n" + ROWS


def parquet(columns):
    sink = io.BytesIO()
    pl.DataFrame(columns).write_parquet(sink, compression="uncompressed")
    return sink.getvalue()


GOOD_PARQUET = parquet({"a": np.arange(40), "t": np.arange(40) % 4 == 0})

NO_UTF8 = parquet({"a": ["café"] * 40, "t": np.arange(40) % 4 == 0})
NO_UTF8 = NO_UTF8.replace("é".encode(), b"\xff\xff")

# Name of the file, its content, options of fit, and words of the message.
TABLES = [
    ("empty.csv", b"", (), "is empty"),
    ("empty.csv.gz", gzip.compress(b""), (), "holds nothing"),
    ("blank.csv", b"\n\n\n", (), "blank.csv"),
    ("header.csv", b"a,b,t\n", (), "no rows"),
    ("cut.csv", b"a,b,t\n1,x,1\n2,y", (), "Every line needs as many cells"),
    ("long.csv", b"a,b,t\n1,x,1\n2,y,0,9\n", (), "Every line needs as many cells"),
    ("quote.csv", b'a,b,t\n1,"x,1\n2,y,0\n', (), "quote.csv"),
    ("latin.csv", b"a,b,t\n" + b"1,caf\xe9,1\n2,y,0\n" * 30, (), "UTF-8"),
    ("utf16.csv", GOOD.encode("utf-16"), (), "UTF-16"),
    ("utf32.csv", GOOD.encode("utf-32"), (), "UTF-32"),
    ("zeros.csv", b"a,b,t\n1,\0\0,1\n", (), "zero bytes"),
    ("late.csv", b"a,b,t\n" + b"1,x,1\n" * 20_000 + b"2,\0,0\n", (), "zero bytes"),
    ("image.csv", b"\x89PNG\r\n\x1a\n\0\0\0", (), "zero bytes"),
    ("random.csv", bytes(range(1, 256)) * 4, (), "random.csv"),
    (
        *("code.parquet", NO_UTF8, ()),
        "UTF-8",
    ),
    ("label.libsvm", b"1e300 1:1\n0 1:2\n1 1:3\n", ("--target", "label"), "'1e+300'"),
    ("unnamed.csv", b"a,,t\n1,2,1\n3,4,0\n", (), "without a name"),
    ("no_header.csv", b"1,2,1\n3,4,0\n5,6,1\n", (), "holds values, not names"),
    ("other.csv", b"a,b\n1,2\n", (), "no column 't'"),
    ("names.csv", b"a,t\nann,0\nbob,1\ncy,1\n", ("--budget", "1"), "no column that a ranker"),
    ("huge.csv", b"a,t\n1e999,0\n2,1\n3,0\n", ("--budget", "1"), "'a (unique text)'"),
    (
        *("large.csv", GOOD.replace("\n7,", "\n1e308,").replace("\n9,", "\n-1e308,").encode()),
        *(("--budget", "1", "--ranker", "pnorm-push"), "large.csv holds 1e+308 in the column 'a'"),
    ),
    ("budget.csv", GOOD.encode(), ("--budget", "40"), "covers all"),
    ("budget.csv", GOOD.encode(), ("--budget", "0"), "neither a number"),
    ("budget.csv", GOOD.encode(), ("--budget", "100%"), "neither a number"),
    ("budget.csv", GOOD.encode(), ("--budget", "nan%"), "neither a number"),
    ("group.csv", GOOD.encode(), ("--group", "g"), "no column 'g' for the group"),
    ("group.csv", b"a,g,t\n1,1,0\n2,,1\n3,1,1\n", ("--group", "g"), "every row needs a list"),
    ("weight.csv", GOOD.encode(), ("--weight", "w"), "no column 'w'"),
    ("weight.csv", GOOD.encode(), ("--weight", "b"), "holds text"),
    ("weight.csv", b"a,w,t\n1,.1,0\n2,.1,1\n3,.1,0\n", ("--weight", "w"), "weigh 0.3 in all"),
    ("ignore.csv", GOOD.encode(), ("--ignore", "z"), "no column 'z'"),
    ("set.csv", GOOD.encode(), ("--set", "p=0.5"), "p"),
    ("set.csv", GOOD.encode(), ("--set", "alpha=-1"), "alpha"),
    (
        "set.csv",
        GOOD.encode(),
        ("--ranker", "ir-push", "--set", "p=2"),
        "ir-push has no setting 'p'",
    ),
    ("cut.parquet", GOOD_PARQUET[:-30], (), "cannot be read as Parquet"),
    ("text.parquet", GOOD.encode(), (), "cannot be read as Parquet"),
    ("lists.parquet", parquet({"a": [[1], [2]], "t": [0, 1]}), ("--budget", "1"), "holds List"),
    ("bytes.parquet", parquet({"a": [b"1", b"2"], "t": [0, 1]}), ("--budget", "1"), "holds Binary"),
    (
        "rows.parquet",
        parquet({"a": np.zeros(0), "t": np.zeros(0)}),
        (),
        "no rows",
    ),
    ("cut.csv.gz", gzip.compress(GOOD.encode())[:-12], (), "cut off or damaged"),
    ("bad.csv.gz", b"\x1f\x8b" + b"junk" * 20, (), "cut off or damaged"),
    ("cut.parquet.gz", gzip.compress(GOOD_PARQUET)[:200], (), "cut off or damaged"),
    ("cut.libsvm", b"1 1:2\n0 1:", ("--target", "label"), "line 2"),
    ("none.libsvm", b"# nothing\n", ("--target", "label"), "holds no rows"),
    ("bare.libsvm", b"1\n0\n", ("--target", "label"), "no feature"),
    ("twice.libsvm", b"1 1:2 1:3\n0 1:3\n", ("--target", "label"), "the same feature twice"),
    ("some.letor", b"1 qid:1 1:2\n0 1:3\n", ("--target", "label"), "give every line one"),
    ("latin.libsvm", b"1 1:2 # caf\xe9\n", ("--target", "label"), "UTF-8"),
]


def one_or_two_lines(done, words):
    assert done.exit_code == 2, (done.output, done.exception)
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.output
    assert len(done.stderr.strip().splitlines()) <= 2
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("name", "content", "options", "words"),
    TABLES,
    ids=[f"{i}-{t[0]}" for i, t in enumerate(TABLES)],
)
def test_a_table_that_cannot_be_learned_from_is_told(
    invoke, name, content, options, words, tmp_path
):
    path = tmp_path / name
    path.write_bytes(content)
    given = {
        "--budget": ("--budget", "1"),
        "--target": ("--target", "t"),
        "--ranker": ("--ranker", "pnorm-push"),
    }
    defaults = [each for option, pair in given.items() if option not in options for each in pair]
    done = invoke("fit", path, *defaults, *options, "-o", tmp_path / "m.toprank")
    one_or_two_lines(done, words)
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "nowhere.csv", "--target", "t", "-o", "m"), "there is no file"),
        (("fit", ".", "--target", "t", "-o", "m"), "is a folder"),
        (("fit", "{known}", "--target", "bought", "-o", "no/m"), "does not exist"),
        (("fit", "{known}", "--target", "bought", "-o", "."), "is a folder"),
        (("fit", "{known}", "-o", "m"), "name the target with --target"),
        (("rank", "nowhere.toprank", "{new}"), "there is no model file"),
        (("rank", "{known}", "{new}"), "not a toprank model"),
        (("rank", "{model}", "nowhere.csv"), "there is no file"),
        (("rank", "{model}", "{new}", "--top", "9999"), "more than the 100 rows"),
        (("rank", "{model}", "{new}", "--top", "3", "--cutoff", "1"), "give one of them"),
        (("rank", "{model}", "{new}", "--cutoff", "high"), "neither a score"),
        (("rank", "{model}", "{new}", "--cutoff", "nan"), "neither a score"),
        (("rank", "{model}", "{new}", "-o", "list.pdf"), "end the name in .csv"),
        (("rank", "{new}", "{new}", "-o", "list.pdf"), "end the name in .csv"),  # before it reads
        (("rank", "{model}", "{new}", "-o", "no/list.csv"), "does not exist"),
        (("evaluate", "{model}", "{new}"), "no column 'bought'"),
        (("evaluate", "{model}", "{known}", "--budget", "9999"), "more than the 300 rows"),
        (("evaluate", "{model}", "{known}", "--against", "x"), "there is no model file"),
        (("explain", "{model}", "{new}"), "either --row N or --top N"),
        (("explain", "{model}", "--row", "2"), "either --row N or --top N"),
        (("explain", "{model}", "{new}", "--row", "101"), "more than the 100 rows"),
        (("compare", "{known}", "--target", "bought", "--ranker", "magic"), "no ranker 'magic'"),
        (
            ("compare", "{known}", "--target", "bought", "--ranker", "logistic"),
            "other than logistic",
        ),
        (("compare", "{known}", "--target", "bought", "--report", "no/p.html"), "does not exist"),
    ],
)
def test_a_wrong_call_is_told(invoke, arguments, words, deals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {
        "known": deals / "known.csv",
        "new": deals / "new.csv",
        "model": deals / "model.toprank",
    }
    one_or_two_lines(invoke(*(part.format(**names) for part in arguments)), words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "words", "strictly"),
    [
        (b"age,member\n30,true\n", "has no columns 'job', 'branch': they count as missing", True),
        (b"aged,job,member,branch\n9,x,true,1\n", "no column 'age' (did you mean 'aged'?)", True),
        (b"age,job,member,branch\nold,nurse,true,1\n", "not a number ('old' in row 1)", True),
        (b"age,job,member,branch\ninf,nurse,true,1\n", "not a number ('inf' in row 1)", True),
        (b"name,town\nann,ulm\n", "has none of the 4 columns that the model needs", False),
    ],
)
def test_what_does_not_fit_counts_as_missing_with_a_note_or_is_refused(
    invoke, content, words, strictly, deals, tmp_path
):
    path = tmp_path / "new.csv"
    path.write_bytes(content)
    call = ("rank", deals / "model.toprank", path, "--top", "1")
    one_or_two_lines(invoke(*call, "--strict"), words)
    if strictly:
        done = invoke(*call)
        assert (done.exit_code, words in " ".join(done.stderr.split())) == (0, True), done.output
        done = invoke("explain", deals / "model.toprank", path, "--row", "1")
        assert (done.exit_code, words in " ".join(done.stderr.split())) == (0, True), done.output
