"""The map in CONTRIBUTING.md is the tree, and every room keeps to its size."""

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "toprank"
SOURCES = sorted(PACKAGE.rglob("*.py"))
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
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
