"""``python -m toprank`` is the command ``toprank``."""

import sys


def main() -> None:
    """Run the program; Ctrl-C while it is imported ends it without a traceback."""
    try:
        from toprank.app.cli import main as run  # noqa: PLC0415 (it may be interrupted)
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
