"""Public data sets of the papers and of the benchmarks, read from files that you have.

Every ``load_*`` returns a :class:`Dataset`. Files are looked for in the folder ``data_home``, else
in the folder that the environment variable ``TOPRANK_DATA`` names, else in toprank's folder in the
user's cache. A missing file is an error that says what to get and where.
"""

from experiments.datasets.catalogue import CATALOGUE
from experiments.datasets.errors import DamagedDatasetError, DatasetNotFoundError
from experiments.datasets.loaders import choosing_loader, plain_loader, subset_loader
from experiments.datasets.multilabel import load_mulan
from experiments.datasets.ranked_lists import load_mq2008, load_mslr_sample, load_ohsumed

__all__ = [
    "CATALOGUE",
    "DamagedDatasetError",
    "DatasetNotFoundError",
    "load_a9a",
    "load_abalone",
    "load_ada",
    "load_adult",
    "load_ann_thyroid",
    "load_australian",
    "load_bank_marketing",
    "load_cod_rna",
    "load_colon_cancer",
    "load_covtype",
    "load_donors",
    "load_duke",
    "load_hiva",
    "load_housing",
    "load_hypothyroid",
    "load_ijcnn1",
    "load_ionosphere",
    "load_letter",
    "load_leukemia",
    "load_magic",
    "load_mq2008",
    "load_mslr_sample",
    "load_mulan",
    "load_ohsumed",
    "load_optdigits",
    "load_page_blocks",
    "load_pendigits",
    "load_sick",
    "load_sick_euthyroid",
    "load_spambase",
    "load_sylva",
]

# Nothing to choose.
load_ada = plain_loader("ada")
load_australian = plain_loader("australian")
load_bank_marketing = plain_loader("bank_marketing")
load_colon_cancer = plain_loader("colon_cancer")
load_donors = plain_loader("donors")
load_duke = plain_loader("duke")
load_hiva = plain_loader("hiva")
load_housing = plain_loader("housing")
load_hypothyroid = plain_loader("hypothyroid")
load_leukemia = plain_loader("leukemia")
load_magic = plain_loader("magic")
load_page_blocks = plain_loader("page_blocks")
load_sick = plain_loader("sick")
load_sick_euthyroid = plain_loader("sick_euthyroid")
load_spambase = plain_loader("spambase")
load_sylva = plain_loader("sylva")

# Divided by the publisher: subset="train", "test" or "all".
load_a9a = subset_loader("a9a")
load_adult = subset_loader("adult")
load_ann_thyroid = subset_loader("ann_thyroid")
load_cod_rna = subset_loader("cod_rna")
load_ijcnn1 = subset_loader("ijcnn1")

# Several classes: positive= says which one is to come first.
load_abalone = choosing_loader("abalone")
load_covtype = choosing_loader("covtype")
load_ionosphere = choosing_loader("ionosphere")
load_letter = choosing_loader("letter")
load_optdigits = choosing_loader("optdigits")
load_pendigits = choosing_loader("pendigits")
