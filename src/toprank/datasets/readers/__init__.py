"""File formats: each reader turns the bytes of one part of a data set into arrays."""

from toprank.datasets.readers.arff import Arff, MultilabelArff
from toprank.datasets.readers.challenge import Challenge, Npz
from toprank.datasets.readers.delimited import Columns, Delimited, numeric, words
from toprank.datasets.readers.libsvm import Libsvm
from toprank.datasets.readers.raw import Raw

__all__ = [
    "Arff",
    "Challenge",
    "Columns",
    "Delimited",
    "Libsvm",
    "MultilabelArff",
    "Npz",
    "Raw",
    "numeric",
    "words",
]
