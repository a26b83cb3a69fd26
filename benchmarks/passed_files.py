"""The files of src/ whose functions a call runs: ``python -m benchmarks.passed_files``.

It fits a made-up table with ``toprank fit``, with one ranker and by default, and counts the files
that a newcomer would pass who followed the call. Imports do not count.
"""

import inspect
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import polars as pl
from typer.testing import CliRunner

import toprank
from toprank.app.cli import app

PACKAGE = Path(toprank.__file__).parent


def files_passed(call):
    """The files of the package whose functions a call executes."""
    seen = set()

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function's body
            seen.add(frame.f_code.co_filename)

    former = sys.getprofile()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(former)
        threading.setprofile(None)
    inside = [Path(name) for name in seen if name.startswith(str(PACKAGE))]
    return {path.relative_to(PACKAGE).as_posix() for path in inside}


def fit(folder, *options):
    """Fit a small table of numbers, words and labels; a second time, when all is imported."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5)).round(4)
    cells = {f"x{at}": X[:, at] for at in range(5)} | {"job": rng.choice(["clerk", "smith"], 1500)}
    cells["bought"] = np.where(X[:, 0] + rng.normal(size=1500) > 1.5, "yes", "no")
    pl.DataFrame(cells).write_csv(folder / "table.csv")
    words = ("fit", folder / "table.csv", "--target", "bought", "-o", folder / "m.toprank")

    def call():
        done = CliRunner().invoke(app, [*map(str, words), *options])
        if done.exit_code:
            raise RuntimeError(done.output)

    call()
    return files_passed(call)


def main():
    with tempfile.TemporaryDirectory() as name:
        for options in (("--ranker", "logistic"), ()):
            found = sorted(fit(Path(name), *options))
            words = " ".join(("toprank fit", *options))
            sys.stdout.write(f"{words}: {len(found)} files\n  {', '.join(found)}\n")


if __name__ == "__main__":
    main()
