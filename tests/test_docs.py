"""Code in the pages that people read first does what the pages say."""

import doctest
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page):
    """Line number and text of every block marked as Python."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in re.finditer(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, found.start(1)), found[1]


@pytest.fixture(autouse=True)
def no_windows():
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


PAGES = [
    "docs/tutorial.md",
    *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/guide/*.md")),
]


ENGINES = ("lightgbm", "xgboost", "catboost", "onnx", "dask")


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))])
def test_a_page_runs_as_printed(page):
    if (engine := Path(page).stem) in ENGINES:
        pytest.importorskip(engine)
    names = {}
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    parser = doctest.DocTestParser()
    for line, code in blocks(page):
        example = parser.get_doctest(code, names, page, page, line)
        assert example.examples, f"the block at line {line} holds no >>>"
        said = []
        runner.run(example, out=said.append, clear_globs=False)
        names.update(example.globs)
        assert not said, "".join(said)
    assert runner.summarize(verbose=False).attempted > 5


def test_the_code_of_the_readme_runs_and_says_what_the_comment_says(capsys):
    [(_, code)] = blocks("README.md")
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    promised = float(re.search(r"# share of positives among them: ([\d.]+)", code)[1])
    assert float(capsys.readouterr().out) == pytest.approx(promised, abs=0.02)
    assert len([line for line in code.splitlines() if line]) <= 10


def test_the_readme_names_only_rankers_that_exist():
    import toprank

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`([A-Z]\w+)\(", text)
    assert named
    for name in named:
        assert hasattr(toprank, name)


def test_every_file_that_the_readme_points_to_is_there():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    assert targets
    for target in targets:
        assert (ROOT / target).exists()
    assert (ROOT / "docs/images/magic.png").stat().st_size < 200_000
