"""File formats: each reader turns the bytes of one part of a data set into arrays."""

from experiments.datasets.readers.arff import Arff, MultilabelArff
from experiments.datasets.readers.challenge import Challenge, Npz
from experiments.datasets.readers.delimited import Columns, Delimited, numeric, words
from experiments.datasets.readers.libsvm import Libsvm
from experiments.datasets.readers.raw import Raw

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
