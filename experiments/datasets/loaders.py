"""Kinds of loaders: with nothing to choose, by part, by positive class."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from experiments.datasets.catalogue import CATALOGUE
from experiments.datasets.loading import read, select

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from experiments.datasets.catalogue import Entry
    from experiments.datasets.dataset import Dataset

__all__ = [
    "Home",
    "Subset",
    "choosing_loader",
    "documented",
    "plain_loader",
    "subset_loader",
]

Home = str | os.PathLike[str] | None
Subset = Literal["train", "test", "all"]
Loader = TypeVar("Loader", bound="Callable[..., Any]")

_PARAMETERS = {
    "positive": "positive : {choices} or None, default {default!r}\n"
    "    The class that is True in ``y``; None leaves the classes as they are.",
    "fold": "fold : {{1, 2, 3, 4, 5}} or None, default None\n"
    "    Which fold ``subset`` is of; None reads all parts, S1 first.",
    "subset": "subset : {subsets}, default 'all'\n"
    "    Which of the publisher's parts to read; 'all' is one after the other.",
    "data_home": "data_home : path-like, optional\n"
    "    The folder that holds ``{folder}/``; by default the environment variable\n"
    "    ``TOPRANK_DATA`` or else toprank's folder in the user's cache.",
    "return_X_y": "return_X_y : bool, default False\n"
    "    Return ``(X, y)`` instead of a :class:`Dataset`.",
    "as_frame": "as_frame : bool, default False\n"
    "    Fill ``frame`` (where ``return_X_y`` is asked for, return pandas objects).",
    "verify": "verify : bool, default True\n"
    "    Compare counts and SHA-256 of the values with those expected.",
}


def plain_loader(name: str) -> Callable[..., Any]:
    """The loader of an entry without parts or choices."""
    entry = CATALOGUE[name]

    def load(
        *,
        data_home: Home = None,
        return_X_y: bool = False,
        as_frame: bool = False,
        verify: bool = True,
    ) -> Dataset | tuple[Any, Any]:
        data = read(entry, data_home=data_home, verify=verify, positives=entry.positives)
        return data.in_form(return_X_y=return_X_y, as_frame=as_frame)

    return documented(name)(load)


def subset_loader(name: str) -> Callable[..., Any]:
    """The loader of an entry whose parts are train and test."""
    entry = CATALOGUE[name]

    def load(
        *,
        subset: Subset = "all",
        data_home: Home = None,
        return_X_y: bool = False,
        as_frame: bool = False,
        verify: bool = True,
    ) -> Dataset | tuple[Any, Any]:
        parts = select(entry, subset)
        data = read(entry, parts, data_home=data_home, verify=verify, positives=entry.positives)
        return data.in_form(return_X_y=return_X_y, as_frame=as_frame)

    return documented(name)(load)


def choosing_loader(name: str) -> Callable[..., Any]:
    """The loader of an entry whose user may choose the positive class."""
    entry = CATALOGUE[name]

    def load(
        *,
        positive: int | str | None = entry.positives[0],
        data_home: Home = None,
        return_X_y: bool = False,
        as_frame: bool = False,
        verify: bool = True,
    ) -> Dataset | tuple[Any, Any]:
        if positive is not None and positive not in entry.choices:
            raise ValueError(
                f"positive={positive!r} is not a class of {entry.name}; "
                f"choose one of {list(entry.choices)} or None."
            )
        chosen = None if positive is None else (positive,)
        data = read(entry, data_home=data_home, verify=verify, positives=chosen)
        return data.in_form(return_X_y=return_X_y, as_frame=as_frame)

    return documented(name)(load)


def documented(name: str) -> Callable[[Loader], Loader]:
    """Decorator that gives a loader its name and, after its summary, what the entry knows."""

    def decorate(load: Loader) -> Loader:
        load.__name__ = load.__qualname__ = f"load_{name}"
        load.__module__ = "experiments.datasets"
        entry = CATALOGUE[name]
        summary = (load.__doc__ or entry.title).rstrip(".")
        load.__doc__ = docstring(entry, summary, load.__annotations__)
        return load

    return decorate


def docstring(entry: Entry, summary: str, parameters: Container[str]) -> str:
    """A numpydoc docstring of what the catalogue knows about a set."""
    notes = {
        "Positive class": entry.positive,
        "Used by": entry.paper,
        "Source": entry.source,
        "Licence": entry.licence,
        "Caution": entry.caution,
    }
    subsets = ("train", "vali", "test", "all") if "fold" in parameters else entry.subsets
    values = {
        "choices": "{" + ", ".join(repr(choice) for choice in entry.choices) + "}",
        "default": entry.positives[0] if entry.positives else None,
        "subsets": "{" + ", ".join(repr(subset) for subset in subsets) + "}",
        "folder": entry.folder,
    }
    described = [text.format(**values) for key, text in _PARAMETERS.items() if key in parameters]
    paragraphs = [
        f"{summary}: {entry.size_in_words}.",
        entry.about,
        *(f"{key}: {value.rstrip('.')}." for key, value in notes.items() if value),
    ]
    wrapped = "\n\n".join(textwrap.fill(paragraph, 88) for paragraph in paragraphs)
    return f"{wrapped}\n\nParameters\n----------\n" + "\n".join(described) + "\n"
