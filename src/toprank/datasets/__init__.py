"""Public data sets, read from files that you have; one of them needs none.

Every ``load_*`` returns a :class:`Dataset`. Files are looked for in the folder ``data_home``,
else in the folder that the environment variable ``TOPRANK_DATA`` names, else in toprank's
folder in the user's cache. A missing file is an error that says what to get and where.
"""

from toprank.datasets.dataset import Dataset
from toprank.datasets.delivery import choosing_loader, plain_loader
from toprank.datasets.embedded import load_digits_eights
from toprank.datasets.errors import DamagedDatasetError, DatasetNotFoundError

__all__ = [
    "DamagedDatasetError",
    "Dataset",
    "DatasetNotFoundError",
    "load_australian",
    "load_colon_cancer",
    "load_digits_eights",
    "load_duke",
    "load_housing",
    "load_hypothyroid",
    "load_ionosphere",
    "load_leukemia",
    "load_magic",
    "load_sick_euthyroid",
]

load_australian = plain_loader("australian")
load_colon_cancer = plain_loader("colon_cancer")
load_duke = plain_loader("duke")
load_housing = plain_loader("housing")
load_hypothyroid = plain_loader("hypothyroid")
load_ionosphere = choosing_loader("ionosphere")
load_leukemia = plain_loader("leukemia")
load_magic = plain_loader("magic")
load_sick_euthyroid = plain_loader("sick_euthyroid")
