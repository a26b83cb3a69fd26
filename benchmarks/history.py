"""Ratios of former runs with their commits, and what was lost since: benchmarks/history.json.

A figure is a ratio above which more is better: the peer's time over ours, or what the memory allows
over what is taken. It is compared with the best of the last ones on the same processor, so that a
loss stays named until it is made good or forgotten.
"""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Growth, Limit, Row

HISTORY = Path(__file__).parent / "history.json"
LOST = 0.85  # of the former ratio: less than this is named
KEPT = 5  # figures per row


class Loss(NamedTuple):
    """A row whose ratio fell, and between which commits."""

    name: str
    before: float
    now: float
    since: str
    commit: str


def commit() -> str:
    """Say which commit is measured, with a plus where the sources differ from it."""
    try:
        found = _git("rev-parse", "--short", "HEAD")
        is_other = bool(_git("status", "--porcelain", "--", "src"))
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found + "+" * is_other


def _git(*words: str) -> str:
    root = Path(__file__).parents[1]
    call = ["git", "-C", str(root), *words]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


def figure(result: Row | Limit | Growth) -> float | None:
    """Give the ratio that is watched; growth has none."""
    if isinstance(result, Row):
        return result.ratio
    return 1.0 / result.slack if isinstance(result, Limit) else None


def read() -> dict[str, list[dict]]:
    """All former figures, the oldest first, by what was measured."""
    return json.loads(HISTORY.read_text(encoding="utf-8")) if HISTORY.exists() else {}


def remember(kept: dict[str, dict], former: dict[str, list[dict]]) -> dict[str, list[dict]]:
    """Former figures with those of the results that are kept; a commit has one per row."""
    history = {key: list(figures) for key, figures in former.items()}
    for name, data in kept.items():
        made = {"commit": data.get("commit", "unknown"), "on": data["machine"]["processor"]}
        for result in data["results"]:
            ratio = figure(result)
            if ratio is None:
                continue
            figures = history.setdefault(" | ".join((name, *result.key)), [])
            if figures and all(figures[-1][key] == made[key] for key in made):
                figures.pop()
            figures.append({**made, "ratio": round(ratio, 4)})
            del figures[:-KEPT]
    return dict(sorted(history.items()))


def losses(history: dict[str, list[dict]]) -> list[Loss]:
    """Rows that lost more than 15 % of their best former ratio on one processor."""
    found = []
    for name, figures in history.items():
        last = figures[-1]
        others = [each for each in figures[:-1] if each["on"] == last["on"]]
        before = max(others, key=lambda each: each["ratio"], default=last)
        if last["ratio"] < LOST * before["ratio"]:
            found.append(
                Loss(name, before["ratio"], last["ratio"], before["commit"], last["commit"])
            )
    return found


def write(history: dict[str, list[dict]]) -> None:
    """Store the figures."""
    text = json.dumps(history, ensure_ascii=False).replace("], ", "],\n")
    HISTORY.write_text(text + "\n", encoding="utf-8")
