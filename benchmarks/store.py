"""Results as JSON files in benchmarks/results/, one per benchmark, with machine and commit."""

import json
import os
import platform
from importlib import metadata
from pathlib import Path

import psutil

from benchmarks.history import commit
from benchmarks.measure import Growth, Limit, Row

RESULTS = Path(__file__).parent / "results"
KINDS = {kind.__name__: kind for kind in (Row, Growth, Limit)}
LIBRARIES = (
    "numpy", "scipy", "scikit-learn", "numba", "lightgbm", "xgboost", "catboost", "torch", "libauc",
    "ydf", "chimeraboost", "autogluon.tabular",
)  # fmt: skip


def machine() -> dict[str, str]:
    """Say on what figures were taken: processor, cores, memory, versions; no date, no name."""
    versions = {name: _version(name) for name in LIBRARIES}
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()}, Python {platform.python_version()}",
    } | versions


def _version(name: str) -> str:
    for package in (name, f"{name}-cpu"):  # XGBoost without GPUs has a package of its own
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return "absent"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "?")


def keep(name: str, results: list) -> None:
    """Write what a benchmark has yielded."""
    RESULTS.mkdir(exist_ok=True)
    told = [{"kind": type(each).__name__, **each._asdict()} for each in results]
    data = {"machine": machine(), "commit": commit(), "results": told}
    text = json.dumps(data, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def read() -> dict[str, dict]:
    """All results by benchmark, each a dictionary with ``machine`` and ``results``."""
    found = {}
    for path in sorted(RESULTS.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        data["results"] = [KINDS[each.pop("kind")](**each) for each in data["results"]]
        found[path.stem] = data
    return found
