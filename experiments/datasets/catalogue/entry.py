"""What is known about a data set before any of its files is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from experiments.datasets.readers import Raw

__all__ = ["NOT_VERIFIED", "Entry", "Part"]

NOT_VERIFIED = "not verified; read the publisher's terms before passing the data on"


@dataclass(frozen=True, kw_only=True)
class Part:
    """Files that make up one part (train, test, a fifth) of a data set.

    Each element of ``files`` lists the names under which copies of one file are known, the
    publisher's own first. ``positives`` counts the rows of the default positive class; for
    multi-label and ranked sets it is None.
    """

    files: tuple[tuple[str, ...], ...]
    rows: int
    positives: int | None = None
    name: str = "all"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row of the catalogue of data sets.

    ``features`` counts the columns of X after categorical columns became one-hot blocks,
    ``columns`` those of the publisher's table. ``positives`` are the default positive classes
    as the reader spells them, ``positive`` says in words what they mean; ``choices`` has such
    words for every class, where the loader lets the user choose one. ``labels`` counts those of
    a multi-label set.
    """

    name: str
    title: str
    about: str
    folder: str
    source: str
    features: int
    parts: tuple[Part, ...]
    reader: Callable[..., Raw]
    positive: str
    positives: tuple[int | str, ...] = ()
    choices: Mapping[int | str, str] = field(default_factory=dict)
    columns: int | None = None
    labels: int | None = None
    paper: str = ""
    licence: str = NOT_VERIFIED
    caution: str = ""

    @property
    def loader(self) -> str:
        """The call that reads the set."""
        collection, _, name = self.name.partition("_")
        return f'load_mulan("{name}")' if collection == "mulan" else f"load_{self.name}()"

    @property
    def rows(self) -> int:
        """Rows of all parts together."""
        return sum(part.rows for part in self.parts)

    @property
    def n_positives(self) -> int | None:
        """Rows of the default positive class, or None for multi-label and ranked sets."""
        counts = [part.positives for part in self.parts if part.positives is not None]
        return sum(counts) if counts else None

    @property
    def subsets(self) -> tuple[str, ...]:
        """The names of the parts, where there is more than one, and "all"."""
        return tuple(dict.fromkeys([*(part.name for part in self.parts), "all"]))

    @property
    def size_in_words(self) -> str:
        """Rows, features and positives, for people."""
        size = f"{self.rows:,} rows of {self.features:,} features"
        if self.labels is not None:
            return f"{size}, {self.labels:,} labels"
        return size if self.n_positives is None else f"{size}, {self.n_positives:,} positives"
