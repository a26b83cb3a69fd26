"""Where the files of data sets lie: an argument, an environment variable or the user's cache."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.datasets.errors import DamagedDatasetError, DatasetNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["VARIABLE", "data_home_folder", "find", "read_bytes"]

VARIABLE = "TOPRANK_DATA"

_OPENERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}


def data_home_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """The folder that is searched for data sets.

    The first of these that is given: the argument ``data_home``, the environment variable
    ``TOPRANK_DATA``, the user's cache folder of toprank. A folder that was named but is not
    there is an error; the cache folder may be missing.
    """
    if data_home is not None:
        return _named_folder(Path(data_home), "data_home")
    if variable := os.environ.get(VARIABLE):
        return _named_folder(Path(variable), f"the environment variable {VARIABLE}")
    import platformdirs  # noqa: PLC0415 (only needed when nothing was named)

    return Path(platformdirs.user_cache_dir("toprank", appauthor=False))


def _named_folder(folder: Path, named_by: str) -> Path:
    folder = folder.expanduser()
    if folder.is_dir():
        return folder
    problem = "is a file, not a folder" if folder.exists() else "does not exist"
    raise DatasetNotFoundError(
        f"{named_by} is {str(folder)!r}, which {problem}; "
        "name the folder that holds one sub-folder for each data set."
    )


def find(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first of the files ``names`` that lies in ``folder``, plain or compressed."""
    for name in names:
        for suffix in _OPENERS:
            path = folder / (name + suffix)
            if path.is_file():
                return path
    return None


def read_bytes(path: Path) -> bytes:
    """The file's content, decompressed by its suffix."""
    opener = _OPENERS.get(path.suffix, bytes)
    content = path.read_bytes()
    try:
        return opener(content)
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise DamagedDatasetError(
            f"{path} cannot be decompressed ({error}): it is cut off or damaged. Get it again."
        ) from error
