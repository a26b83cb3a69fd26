"""Each paper's tables and figures, regenerated: ``make reproduce PAPER=p-norm-push``."""
