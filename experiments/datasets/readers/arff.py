"""ARFF, the format of Weka, OpenML and Mulan, with dense or sparse rows."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.datasets.readers.delimited import Columns, parse_table, read_numbers
from experiments.datasets.readers.raw import Raw

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["Arff", "MultilabelArff"]

_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:\\.|[^'])*)'|"((?:\\.|[^"])*)"|(\S+))\s+(.+)""", re.IGNORECASE
)


@dataclass(frozen=True)
class Arff:
    """Dense ARFF with numeric and nominal attributes, one of which is the label."""

    label: str

    def __call__(self, text: bytes) -> Raw:
        """Features (nominal ones as one-hot blocks) and label."""
        columns, rows = _split(text)
        return parse_table(rows, columns, self.label)


@dataclass(frozen=True)
class MultilabelArff:
    """ARFF as Mulan uses it: 0/1 labels are attributes, a second file (XML) names them.

    Without a second file the last ``n_labels`` attributes are the labels.
    """

    n_labels: int

    def __call__(self, text: bytes, xml: bytes | None = None) -> Raw:
        """Features and the indicator matrix, its columns in the order of the attributes."""
        columns, rows = _split(text)
        names = list(columns)
        labels = set(names[-self.n_labels :] if xml is None else _label_names(xml))
        is_label = np.array([name in labels for name in names])
        if is_label.sum() != self.n_labels:
            raise ValueError(f"{is_label.sum()} attributes are labels, {self.n_labels} expected")
        table: NDArray[np.float64] | csr_array[np.float64]
        if rows.lstrip().startswith(b"{"):
            table = _sparse(rows, len(names))
            y = table[:, is_label].toarray()
        else:
            table = read_numbers(rows, names, delimiter=",")
            y = table[:, is_label]
        return Raw(
            table[:, ~is_label],
            y.astype(bool),
            tuple(name for name in names if name not in labels),
            tuple(name for name in names if name in labels),
        )


def _split(text: bytes) -> tuple[Columns, bytes]:
    """The attributes with their levels (None for numeric ones), and the rows as text."""
    start = re.search(rb"(?im)^\s*@data\s*$", text)
    if start is None:
        raise ValueError("it has no @data line")
    columns: Columns = {}
    for line in text[: start.start()].decode("utf-8", "replace").splitlines():
        if match := _ATTRIBUTE.match(line.strip()):
            single, double, bare, kind = match.groups()
            name = bare or re.sub(r"\\(.)", r"\1", single or double)
            if name in columns:
                raise ValueError(f"the attribute {name!r} appears twice")
            columns[name] = _levels(kind)
    return columns, re.sub(rb"(?m)^%.*\n?", b"", text[start.end() :])


def _levels(kind: str) -> tuple[str, ...] | None:
    if not kind.startswith("{"):
        return None
    return tuple(level.strip(" '\"") for level in kind.strip("{} \t").split(","))


def _label_names(xml: bytes) -> list[str]:
    # A pattern, not an XML parser: the file is a flat list, and a parser would have to be
    # defended against hostile input.
    names = re.findall(r'<label\s+name="([^"]*)"', xml.decode("utf-8", "replace"))
    return [html.unescape(name) for name in names]


def _sparse(rows: bytes, n_columns: int) -> csr_array[np.float64]:
    """Rows of the form ``{column value,column value}``, columns counted from 0."""
    from scipy.sparse import csr_array  # noqa: PLC0415 (slow to import)

    lines = [line for line in rows.split(b"\n") if line.strip()]
    lengths = [line.count(b",") + 1 if line.strip(b"{} \r") else 0 for line in lines]
    numbers = b" ".join(lines).translate(bytes.maketrans(b"{},", b"   "))
    pairs = np.fromstring(numbers, sep=" ").reshape(-1, 2)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return csr_array(
        (pairs[:, 1].copy(), pairs[:, 0].astype(np.int64), indptr), shape=(len(lines), n_columns)
    )
