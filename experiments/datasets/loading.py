"""From an entry of the catalogue to arrays: find the files, read them, check them, label them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from experiments.datasets.catalogue.fingerprints import FINGERPRINTS
from experiments.datasets.dataset import Dataset
from experiments.datasets.errors import DamagedDatasetError, DatasetNotFoundError
from experiments.datasets.home import VARIABLE, data_home_folder, find, read_bytes
from experiments.datasets.readers.raw import Raw

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments.datasets.catalogue import Entry, Part

__all__ = ["is_present", "read", "select"]


def read(
    entry: Entry,
    parts: Sequence[Part] | None = None,
    *,
    data_home: str | os.PathLike[str] | None = None,
    verify: bool = True,
    positives: Sequence[int | str] | None = None,
) -> Dataset:
    """The data set of an entry; ``parts`` in the order given, ``positives`` mark True in y."""
    folder = data_home_folder(data_home) / entry.folder
    raws = [_read_part(entry, part, folder, verify=verify) for part in parts or entry.parts]
    raw = raws[0] if len(raws) == 1 else _stacked(raws)
    return Dataset(
        name=entry.name,
        X=raw.X,
        y=np.isin(raw.y, list(positives)) if positives else raw.y,
        feature_names=raw.feature_names,
        target_names=raw.target_names,
        groups=raw.groups,
        positive=_in_words(entry, positives),
        source=entry.source,
        licence=entry.licence,
        caution=entry.caution,
    )


def _in_words(entry: Entry, positives: Sequence[int | str] | None) -> str:
    if positives and tuple(positives) != entry.positives:
        return " or ".join(entry.choices[positive] for positive in positives)
    return entry.positive if positives or not entry.choices else "none chosen: y holds classes"


def select(entry: Entry, subset: str) -> tuple[Part, ...]:
    """The parts that make up a subset of the rows."""
    if subset not in entry.subsets:
        raise ValueError(f"subset={subset!r} is not one of {list(entry.subsets)} of {entry.name}.")
    return tuple(part for part in entry.parts if subset in (part.name, "all"))


def is_present(entry: Entry, home: Path) -> bool:
    """Whether every file of the set lies in the folder (nothing is opened)."""
    folder = home / entry.folder
    return all(find(folder, names) for part in entry.parts for names in part.files)


def _read_part(entry: Entry, part: Part, folder: Path, *, verify: bool) -> Raw:
    paths = [_located(entry, part, names, folder) for names in part.files]
    shown = " and ".join(str(path) for path in paths)
    contents = [read_bytes(path) for path in paths]
    try:
        raw = entry.reader(*contents)
    except (ValueError, LookupError, EOFError, OSError, BadZipFile, zlib.error) as error:
        raise DamagedDatasetError(
            f"{shown} cannot be read as {entry.title!r} ({error}). Get the file again from "
            f"{entry.source}."
        ) from error
    if verify:
        _verify(entry, part, raw, shown)
    return raw


def _located(entry: Entry, part: Part, names: tuple[str, ...], folder: Path) -> Path:
    path = find(folder, names)
    if path is not None:
        return path
    wanted = " or ".join(names)
    everything = ", ".join(f[0] for p in entry.parts for f in p.files)
    raise DatasetNotFoundError(
        f"The data set {entry.title!r} ({part.name}) needs the file {wanted} (plain or with "
        f".gz, .bz2 or .xz), which is not in {folder}. Get it from {entry.source} and put it "
        f"there (all files of the set: {everything}); or name another folder that holds "
        f"{entry.folder}/ with data_home= or the environment variable {VARIABLE}."
    )


def _verify(entry: Entry, part: Part, raw: Raw, shown: str) -> None:
    expected = (part.rows, entry.features)
    fingerprint = FINGERPRINTS.get(f"{entry.name}/{part.name}")
    if raw.X.shape != expected or raw.y.shape[0] != part.rows:
        problem = (
            f"holds {raw.X.shape[0]} rows of {raw.X.shape[1]} features and {raw.y.shape[0]} "
            f"labels, where {expected[0]} rows of {expected[1]} are expected"
        )
    elif fingerprint is not None and raw.fingerprint() != fingerprint:
        problem = "has the right shape but not the expected values (their SHA-256 differs)"
    else:
        return
    raise DamagedDatasetError(
        f"{shown} {problem}: it is cut off, damaged or another version of {entry.title!r}. "
        f"Get it again from {entry.source}, or pass verify=False to use it as it is."
    )


def _stacked(raws: Sequence[Raw]) -> Raw:
    tables: list[Any] = [raw.X for raw in raws]
    groups: list[NDArray[np.int64]] = [raw.groups for raw in raws if raw.groups is not None]
    if isinstance(tables[0], np.ndarray):
        X = np.concatenate(tables)
    else:
        from scipy.sparse import vstack  # noqa: PLC0415 (slow to import)

        X = vstack(tables, format="csr")
    return Raw(
        X,
        np.concatenate([raw.y for raw in raws]),
        raws[0].feature_names,
        raws[0].target_names,
        np.concatenate(groups) if groups else None,
    )
