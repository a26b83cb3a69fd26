"""What is collected: doctests of an optional engine only where that engine is installed."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ENGINES = ("lightgbm", "xgboost", "catboost", "torch", "onnx", "dask")
ABSENT = [name for name in ENGINES if find_spec(name) is None]

collect_ignore = [
    str(path)
    for name in ABSENT
    for path in (
        HERE / "src" / "toprank" / "integrations" / name,
        *(HERE / "src" / "toprank" / "integrations").glob(f"{name}*.py"),
        HERE / "tests" / "integrations" / name,
        HERE / "tests" / "integrations" / f"test_{name}.py",
    )
]
# A program of its own, whose modules import each other by their bare names.
collect_ignore += map(str, (HERE / "tests" / "fuzz_files").glob("[!t]*.py"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what is left out, and why."""
    for name in ABSENT:
        terminalreporter.write_line(
            f"not tested: toprank.integrations.{name} ({name} is not installed)"
        )
