"""Facts about the house itself: what an import costs, where things stand, what may not be said."""

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import toprank

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "toprank"
SOURCES = sorted(PACKAGE.rglob("*.py"))
STUB = PACKAGE / "__init__.pyi"
HEAVY = ("matplotlib", "numba", "pandas", "polars", "pyarrow", "scipy", "sklearn")


def python(code, **environment):
    """Run code in a new interpreter and give its last line of output."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def pyproject():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def stub_names():
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return [alias.asname or alias.name for node in imports for alias in node.names]


# What an import costs ---------------------------------------------------------------------


def test_importing_toprank_loads_nothing_heavy():
    code = f"import sys, toprank; print([m for m in {HEAVY} if m in sys.modules])"
    assert python(code) == "[]"


def test_help_of_the_command_line_loads_nothing_heavy():
    code = f"""
import sys
from toprank.app.cli import app
try:
    app(["--help"])
except SystemExit as end:
    assert not end.code
print([m for m in {HEAVY} if m in sys.modules])
"""
    assert python(code) == "[]"


def test_every_name_of_the_stub_resolves():
    names = set(stub_names())
    assert names <= set(dir(toprank)) & set(toprank.__all__)
    assert [name for name in names if getattr(toprank, name) is None] == []


def test_a_fit_works_where_neither_install_nor_home_can_be_written(tmp_path):
    # A directory cannot be made where a file is, not even by root. So a file named __pycache__
    # makes a folder of the install unwritable for caches, and a file as home an unwritable home.
    site = tmp_path / "site"
    shutil.copytree(PACKAGE, site / "toprank", ignore=shutil.ignore_patterns("__pycache__"))
    folders = [path for path in (site / "toprank").rglob("*") if path.is_dir()]
    for folder in [site / "toprank", *folders]:
        (folder / "__pycache__").touch()
    nowhere = tmp_path / "file"
    nowhere.touch()
    unwritable = str(nowhere / "cache")
    homes = dict.fromkeys(
        ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "LOCALAPPDATA", "NUMBA_CACHE_DIR"), unwritable
    )
    code = """
import numpy as np, toprank
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X[:, 0] + rng.normal(size=60) > 0.5
assert np.isfinite(toprank.PNormPush().fit(X, y).decision_function(X)).all()
print(toprank.__file__)
"""
    loaded_from = python(code, PYTHONPATH=str(site), **homes)
    assert Path(loaded_from) == site / "toprank" / "__init__.py"
    assert not list(tmp_path.rglob("*.nb[ci]"))


# Where things stand -----------------------------------------------------------------------


def test_the_version_stands_in_one_place():
    assert "version" in pyproject()["dynamic"]
    assert importlib.metadata.version("toprank") == toprank.__version__
    literal = re.compile(rf"""["']{re.escape(toprank.__version__)}["']""")
    holders = [path for path in SOURCES if literal.search(path.read_text(encoding="utf-8"))]
    assert holders == [PACKAGE / "__init__.py"]


def test_the_changelog_tells_of_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(toprank.__version__)}\b", changelog, flags=re.MULTILINE)
    assert re.search(r"^## Unreleased$", changelog, flags=re.MULTILINE)


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {toprank.__version__}\n" in citation


def test_the_oldest_requirements_are_the_lower_bounds():
    project = pyproject()
    bounds = project["dependencies"] + project["optional-dependencies"]["test"]
    assert all(">=" in bound for bound in bounds)
    lines = (ROOT / "tests" / "oldest-requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert sorted(pins) == sorted(bound.replace(">=", "==") for bound in bounds)


# How things are written -------------------------------------------------------------------


def test_every_module_says_what_it_is():
    modules = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert [str(path) for path, tree in modules.items() if not ast.get_docstring(tree)] == []


def written_files():
    folders = ("src", "tests", "docs", "examples", "benchmarks", "experiments", ".github")
    made = {"__pycache__", "_build", "gallery", "generated"}
    kinds = {".cff", ".css", ".html", ".md", ".py", ".pyi", ".rst", ".toml", ".txt", ".yml"}
    candidates = [*ROOT.iterdir(), *(f for folder in folders for f in (ROOT / folder).rglob("*"))]
    for path in candidates:
        inside = path.relative_to(ROOT)
        if path.is_file() and path.suffix in kinds and not made.intersection(inside.parts):
            yield path


def test_no_file_names_a_path_of_somebodys_machine():
    machine = re.compile(r"(?<![\w.~-])/(?:work|root|(?:home|Users)/\w+)/|\b[A-Z]:\\Users\\")
    found = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in written_files()
        if (match := machine.search(path.read_text(encoding="utf-8")))
    }
    assert not found


def test_actions_are_named_by_commit_and_release_tools_by_version():
    folder = ROOT / ".github"
    workflows = [path.read_text(encoding="utf-8") for path in folder.glob("workflows/*.yml")]
    used = [line for text in workflows for line in re.findall(r"uses: (.*)", text)]
    assert used
    assert [
        line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", line)
    ] == []
    tools = (folder / "release-requirements.txt").read_text(encoding="utf-8").split("\n")[1:-1]
    assert [line for line in tools if not re.fullmatch(r"[\w-]+==[\d.]+", line)] == []
    assert {"build", "hatchling", "twine", "cyclonedx-bom"} == {
        line.split("==")[0] for line in tools
    }
