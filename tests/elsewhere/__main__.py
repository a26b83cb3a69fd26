"""Run the tests as on other machines: ``python tests/elsewhere``, or with ``--quick`` a part."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from machines import MACHINES

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
QUICK = ["src/toprank", "--ignore=src/toprank/integrations"]


def run(machine, arguments):
    """Run pytest as on a machine and give its exit code."""
    settings = MACHINES[machine]()
    changes = {name: value for each in settings.values() for name, value in each.variables.items()}
    print(f"As on the machine {machine!r}: {changes}", flush=True)  # noqa: T201
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory() as cache:
        if "numba" in settings:
            changes["NUMBA_CACHE_DIR"] = cache
        tests = start(
            [*arguments, "-q", "-p", "machines"],
            changes | {"TOPRANK_ELSEWHERE": machine, "PYTHONPATH": path},
            ignore_interrupts="interrupts" in settings,
        )
        try:
            return tests.wait()
        finally:
            tests.kill()


def start(arguments, changes, *, ignore_interrupts):
    """Start pytest; a process that is started while interrupts are ignored ignores them too."""
    former = signal.getsignal(signal.SIGINT)
    if ignore_interrupts:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=os.environ | changes
        )
    finally:
        signal.signal(signal.SIGINT, former)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="The rest is for pytest.")
    parser.add_argument("--quick", action="store_true", help="run the doctests alone")
    parser.add_argument("--machine", choices=MACHINES, action="append", help="default: all")
    ours, arguments = parser.parse_known_args()
    if ours.quick:
        arguments += QUICK
    failed = [machine for machine in ours.machine or MACHINES if run(machine, arguments)]
    sys.exit(f"Failed as on: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
