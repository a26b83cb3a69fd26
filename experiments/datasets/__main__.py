"""List the data sets, or write one as a table: ``python -m experiments.datasets --help``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

import experiments.datasets as loaders
from experiments.datasets.catalogue import CATALOGUE
from experiments.datasets.home import data_home_folder
from experiments.datasets.loading import is_present

if TYPE_CHECKING:
    from experiments.datasets.dataset import Dataset


def main(arguments: list[str] | None = None) -> None:
    """List all data sets, or write the one that is named."""
    parser = argparse.ArgumentParser(prog="python -m experiments.datasets", description=__doc__)
    parser.add_argument("name", nargs="?", help="data set to write as a table")
    parser.add_argument("-o", "--output", type=Path, help="file to write: .csv or .parquet")
    parser.add_argument("--data-home", type=Path, help="folder with one folder per data set")
    given = parser.parse_args(arguments)
    if (given.name is None) != (given.output is None):
        parser.error("to write a data set, give both its name and --output.")
    try:
        if given.name is None:
            print_list(given.data_home)
        else:
            write_dataset(given.name, given.output, given.data_home)
    except (ValueError, OSError) as error:
        parser.error(str(error))


def print_list(data_home: Path | None) -> None:
    """Print rows, features, positives and whether the files are there, one line per set."""
    home = data_home_folder(data_home)
    print(f"{'name':22} {'rows':>8} {'features':>8} {'positives':>9}  present")
    for entry in CATALOGUE.values():
        positives = "" if entry.n_positives is None else f"{entry.n_positives:,}"
        present = "yes" if is_present(entry, home) else "no"
        print(f"{entry.name:22} {entry.rows:8,} {entry.features:8,} {positives:>9}  {present}")


def write_dataset(name: str, output: Path, data_home: Path | None) -> None:
    """Load a data set by its name and write it as a table."""
    loader = getattr(loaders, f"load_{name}", None)
    if name not in CATALOGUE or loader is None:
        known = ", ".join(each for each in CATALOGUE if hasattr(loaders, f"load_{each}"))
        raise ValueError(f"name={name!r} is not a data set with one target; known are {known}.")
    if output.suffix not in (".csv", ".parquet"):
        raise ValueError(f"--output={str(output)!r} must end in .csv or .parquet.")
    data = loader(data_home=data_home)
    write_table(data, output)
    print(f"{data.y.size:,} rows of {CATALOGUE[name].title}: {output}")


def write_table(data: Dataset, output: Path) -> None:
    """Write features, ``target`` and, where there are lists, ``list`` as columns."""
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    columns = dict(zip(data.feature_names, X.T, strict=True))
    columns["target"] = data.y
    if data.groups is not None:
        columns["list"] = data.groups
    write = pa_csv.write_csv if output.suffix == ".csv" else pq.write_table
    write(pa.table(columns), output)


if __name__ == "__main__":
    main()
