"""The loader of Mulan's multi-label sets: one ranking task for each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.datasets.catalogue import CATALOGUE
from experiments.datasets.loading import read, select

if TYPE_CHECKING:
    from experiments.datasets.dataset import Dataset
    from experiments.datasets.loaders import Home, Subset

__all__ = ["load_mulan"]

_PREFIX = "mulan_"


def load_mulan(
    name: str,
    *,
    subset: Subset = "all",
    data_home: Home = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    verify: bool = True,
) -> Dataset | tuple[Any, Any]:
    """A multi-label set of the Mulan collection: any number of labels may apply to a row.

    ======================  ======  ========  ======  ==================================
    name                      rows  features  labels  rows are
    ======================  ======  ========  ======  ==================================
    ``yeast``                2,417       103      14  genes and their functions
    ``scene``                2,407       294       6  photographs and what they show
    ``emotions``               593        72       6  pieces of music and their moods
    ``enron``                1,702     1,001      53  e-mails and their subjects
    ``bibtex``               7,395     1,836     159  entries in BibSonomy and their tags
    ``delicious``           16,105       500     983  web pages and their tags
    ``medical``                978     1,449      45  radiology reports and diagnosis codes
    ``tmc2007-500``         28,596       500      22  flight reports and problems
    ``mediamill_small``      2,500       120     101  video frames and concepts
    ======================  ======  ========  ======  ==================================

    ``y`` is an indicator matrix whose columns stand in the order of the file; ``target_names``
    names them. X is sparse for enron, bibtex, delicious, medical and tmc2007-500. The ninth
    label of yeast is the set that imbalanced-learn calls ``yeast_ml8``.

    Source: Mulan, multi-label data sets.

    Licence: not verified; read the publisher's terms before passing the data on.

    Caution: mediamill_small is somebody's 2,500 rows of the 43,907 of mediamill; how they were
    drawn is not documented. Some labels have no positive row in a part (medical), so that no
    ranking can be judged there.

    Parameters
    ----------
    name : str
        A name of the table above.
    subset : {'train', 'test', 'all'}, default 'all'
        Which of the publisher's parts to read; 'all' is one after the other, which is not the
        row order of the publisher's undivided file. mediamill_small has no parts.
    data_home : path-like, optional
        The folder that holds ``ml_<name>/``; by default the environment variable
        ``TOPRANK_DATA`` or else toprank's folder in the user's cache.
    return_X_y : bool, default False
        Return ``(X, y)`` instead of a :class:`Dataset`.
    as_frame : bool, default False
        Fill ``frame`` (or, with ``return_X_y``, return X and y as pandas objects).
    verify : bool, default True
        Compare counts and SHA-256 of the values with those expected.
    """
    entry = CATALOGUE.get(_PREFIX + name)
    if entry is None:
        known = [key.removeprefix(_PREFIX) for key in CATALOGUE if key.startswith(_PREFIX)]
        raise ValueError(f"name={name!r} is not a Mulan set that can be read; known are {known}.")
    data = read(entry, select(entry, subset), data_home=data_home, verify=verify)
    return data.in_form(return_X_y=return_X_y, as_frame=as_frame)
