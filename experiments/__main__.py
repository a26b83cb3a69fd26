"""Run the experiment named on the command line; without a name, say which there are."""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    """Run ``experiments/<name>.py``."""
    known = sorted(
        path.stem.replace("_", "-") for path in HERE.glob("*.py") if not path.stem.startswith("_")
    )
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in known:
        print(f"make reproduce PAPER=…  one of: {', '.join(known)}", file=sys.stderr)
        return 2
    importlib.import_module(f"experiments.{name.replace('-', '_')}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
