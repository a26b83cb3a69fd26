"""The parts of ``make reproduce PAPER=p-norm-push``."""
