"""Run all benchmarks, or those named on the command line: ``python -m benchmarks push``."""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    """Run ``benchmarks/<name>.py`` for every name."""
    known = sorted(
        path.stem
        for path in HERE.glob("*.py")
        if not path.stem.startswith("_") and path.stem != "timing"
    )
    names = sys.argv[1:] or known
    unknown = sorted(set(names) - set(known))
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in names:
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
