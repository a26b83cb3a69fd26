"""A fitted ranker with all it needs to rank a table: as an object, and as a file without pickle."""

from toprank.models.allowed import ALLOWED_TYPES
from toprank.models.drivers import Driver, contributions
from toprank.models.file import load_model, save_model
from toprank.models.fitting import fit_model
from toprank.models.model import Model
from toprank.models.names import RANKERS, make_ranker, parse_settings

__all__ = [
    "ALLOWED_TYPES",
    "RANKERS",
    "Driver",
    "Model",
    "contributions",
    "fit_model",
    "load_model",
    "make_ranker",
    "parse_settings",
    "save_model",
]
