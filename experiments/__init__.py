"""Each paper's tables and figures, regenerated: ``make reproduce PAPER=p-norm-push``."""

from pathlib import Path

# Where the pages and their pictures are written.
DOCS = Path(__file__).parents[1] / "docs" / "experiments"
IMAGES = DOCS / "images"
