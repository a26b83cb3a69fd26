"""The parts of ``make reproduce PAPER=predtron``."""
