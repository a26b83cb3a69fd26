"""Run benchmarks and write docs/benchmarks.md: ``python -m benchmarks``, or with names, some.

Every benchmark is a module here with a generator ``results()``. What it yields is kept in
results/<name>.json, and the page is written from all of these; ``--page`` only writes the page.
"""

import importlib
import subprocess
import sys
import warnings

from benchmarks.page import SUITE, write_page
from benchmarks.store import keep, read


def run(name: str) -> None:
    """Run one benchmark in this process, tell and keep what it yields.

    A run that is cut leaves what it has measured, and behind it what an earlier one had.
    """
    warnings.simplefilter("ignore")
    old = {each.key: each for each in read().get(name, {}).get("results", [])}
    found = {}
    for each in importlib.import_module(f"benchmarks.{name}").results():
        found[each.key] = each
        keep(name, list((found | {key: old[key] for key in old.keys() - found}).values()))
        print(*(f"{value:.4g}" if isinstance(value, float) else value for value in each), sep=" | ")
    keep(name, list(found.values()))


def main() -> int:
    names = sys.argv[1:]
    if unknown := sorted(set(names) - {*SUITE, "--page"}):
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(SUITE)}", file=sys.stderr)
        return 2
    if not names:  # each in a fresh process, so that none finds the memory of another
        for name in SUITE:
            subprocess.run([sys.executable, "-m", "benchmarks", name], check=True)  # noqa: S603
    for name in names:
        if name != "--page":
            run(name)
    write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
