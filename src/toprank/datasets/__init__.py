"""A small data set to try things on; it comes with scikit-learn and needs no files."""

from toprank.datasets.dataset import Dataset
from toprank.datasets.digits import load_digits_eights

__all__ = ["Dataset", "load_digits_eights"]
