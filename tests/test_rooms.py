"""The map in CONTRIBUTING.md is the tree, and every room keeps to its size."""

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "toprank"
SOURCES = sorted(PACKAGE.rglob("*.py"))
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MOST_FILES = 204  # more would want a merge first
LONGEST_FUNCTION = 60  # lines of code, without its docstring: what fits on a screen


def mapped():
    """The rooms that the map names, with the sentence of each."""
    drawing = GUIDE.split("## The map of rooms")[1].split("```")[1]
    return dict(re.findall(r"^ +(\S+) +(\S.*)$", drawing, flags=re.MULTILINE))


def test_the_map_names_every_room_and_nothing_else():
    inside = [path for path in PACKAGE.iterdir() if path.name[0] not in "_."]
    rooms = {f"{path.name}/" for path in inside if path.is_dir()}
    rooms |= {path.name for path in inside if path.suffix == ".py"}
    assert set(mapped()) == rooms


def test_the_map_names_only_folders_that_are_there():
    drawing = GUIDE.split("## The map of rooms")[1].split("```")[1]
    named = re.findall(r"^(\w\S*)/", drawing, flags=re.MULTILINE)
    assert named
    assert all((ROOT / name).is_dir() for name in named)


def test_imports_point_up_the_map():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    layers = [re.findall(r"toprank\.(\w+)", layer) for layer in reversed(contract["layers"])]
    depth = {room: number for number, layer in enumerate(layers) for room in layer}
    down_the_map = [depth[room.rstrip("/").removesuffix(".py")] for room in mapped()]
    assert down_the_map == sorted(down_the_map)


def test_the_package_has_few_files():
    assert len(SOURCES) <= MOST_FILES


def functions():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield path.relative_to(PACKAGE).as_posix(), node


def test_every_function_fits_on_a_screen():
    long = []
    for path, node in functions():
        body = node.body[1:] if ast.get_docstring(node) else node.body
        if body and body[-1].end_lineno - body[0].lineno >= LONGEST_FUNCTION:
            long.append(f"{path}: {node.name}")
    assert not long


def test_a_class_name_means_one_class():
    found = defaultdict(list)
    for path in SOURCES:
        inside = path.relative_to(PACKAGE)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and inside.parts[:2] != ("integrations", "dask"):
                found[node.name].append(inside.as_posix())
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_rates_are_per_row_and_not_a_row():
    found = re.compile(
        r"\b(bytes?|seconds?|rows|numbers?) an? "
        r"(row|cell|list|pass|round|class|pair|feature|column)\b"
    )
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    texts = {path: path.read_text(encoding="utf-8") for path in [*SOURCES, *pages]}
    assert [str(path) for path, text in texts.items() if found.search(text)] == []


# Modules that take e^{power·(s - edge)}, the mass that a row has in an exponential push.
TILTED = {
    "kernels/tilts.py": "rows of one list: linear models, trees, CatBoost's twin",
    "kernels/ladder.py": "rows within lists and grades",
    "objectives/exponential.py": "sums of rows, put on one scale and made into the value",
    "solvers/passes.py": "sums of rows with the moments of their columns",
    "objectives/prices.py": "powers of heights that any loss made",
    "objectives/top.py": "the smooth bound of the hinges' largest height",
}


def test_tilted_masses_are_computed_where_they_are_known_to_be():
    tilted = re.compile(r"exp\([\w.]*\b_?(p|q|power)(s\[\w+\])? \*|def class_exponent\b")
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        if tilted.search(path.read_text(encoding="utf-8"))
    }
    assert {name for name in found if not name.startswith("integrations/torch/")} == set(TILTED)


# Tests mirror the modules ---------------------------------------------------------------------

# Modules that no test of their folder names, each with a test that covers it.
TESTED_THROUGH = {
    "tables/cell_texts.py": "tables/test_notation.py",
    "models/sql_cells.py": "models/test_sql.py",
    "models/sql_trees.py": "models/test_sql.py",
    "models/writing.py": "app/test_writing.py",
    "integrations/torch/pairs.py": "integrations/torch/test_losses.py",
    "integrations/torch/precision.py": "integrations/torch/test_losses.py",
    "kernels/jit.py": "test_house.py",
    "kernels/mini_batches.py": "solvers/test_mini_batch.py",
    "kernels/rows.py": "predtron/test_base.py",
    "kernels/tree_scores.py": "trees/test_oblivious.py",
    "kernels/tree_shapley.py": "trees/test_binary.py",
    "kernels/tree_terms.py": "solvers/test_tree_leaves.py",
    "objectives/exponential.py": "objectives/test_battery.py",
    "objectives/heights.py": "objectives/test_battery.py",
    "plots/lists.py": "plots/test_curves.py",
    "plots/style.py": "plots/test_curves.py",
    "rankers/base.py": "rankers/test_scikit_learn.py",
    "solvers/label_boosting.py": "rankers/test_multilabel_boosting.py",
    "weak_rankers/base.py": "weak_rankers/test_designs.py",
}

ELSEWHERE = {"elsewhere", "experiments", "fuzz_files"}  # folders of tests that are of no room


def is_tested_in_its_folder(module):
    """Whether a test of the mirrored folder is named after a module or names what it defines."""
    inside = module.relative_to(PACKAGE)
    folder = ROOT / "tests" / inside.parent
    if (folder / f"test_{module.stem}.py").exists():
        return True
    tree = ast.parse(module.read_text(encoding="utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    dotted = ".".join(("toprank", *inside.with_suffix("").parts))
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("test_*.py")]
    return any(dotted in text or defined.intersection(re.findall(r"\w+", text)) for text in texts)


def test_every_module_is_tested_in_the_mirrored_folder():
    modules = [path for path in SOURCES if not path.name.startswith("__")]
    untested = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules
        if not is_tested_in_its_folder(path)
    }
    assert untested - set(TESTED_THROUGH) == set()
    assert all((PACKAGE / module).exists() for module in TESTED_THROUGH)
    assert all((ROOT / "tests" / test).exists() for test in TESTED_THROUGH.values())


def test_every_folder_of_tests_mirrors_one_of_the_package():
    folders = {path.parent.relative_to(ROOT / "tests") for path in ROOT.glob("tests/**/test_*.py")}
    rooms = {folder for folder in folders if folder.parts and folder.parts[0] not in ELSEWHERE}
    assert {str(folder) for folder in rooms if not (PACKAGE / folder).is_dir()} == set()
