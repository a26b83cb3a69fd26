"""Fits on a file of three times the memory that their process may use.

``python -m benchmarks.larger_than_memory`` needs Linux, root (it makes a control group) and a disk
of eight times MEMORY (bytes, by default 2 GiB) in FOLDER. It takes half an hour and writes a table
of docs/how_big.md. Each fit runs in a process of its own inside of the group, which the kernel ends
where it needs more. Its passes over the spool are counted and compared with plain reads of a file
of that size in the same group, and its time per row with a fit on rows that stay in memory.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.between import machine_text, table, write_between
from toprank import PNormPush, TopRanker, TreeRanker
from toprank.rankers import supervised
from toprank.tables import ParquetBlocks
from toprank.weak_rankers.features import FeatureDesign

MEMORY = int(float(os.environ.get("MEMORY", "2147483648")))
FOLDER = os.environ.get("FOLDER", tempfile.gettempdir())
FEATURES, GROUP, PIECE = 320, 1 << 15, 1 << 24
ROWS = 3 * MEMORY // (4 * FEATURES)
NAMES = [f"x{j}" for j in range(FEATURES)]
FITS = {
    "`PNormPush()`, by passes": (PNormPush(), "y", None),
    '`PNormPush(loss="logistic")`, spooled': (PNormPush(loss="logistic"), "y", None),
    "`PNormPush()`, graded lists of 100 rows, spooled": (PNormPush(), "grade", "list"),
    "`TreeRanker(n_trees=20)`": (TreeRanker(n_trees=20, random_state=0), "y", None),
    "`TopRanker(1000, time_limit=300)`": (
        TopRanker(1000, time_limit=300, random_state=0),
        "y",
        None,
    ),
}


def write(path, n_rows):
    """Rows of three grades in lists of 100; the highest grade are the positives."""
    rng = np.random.default_rng(0)
    coef = rng.normal(size=FEATURES).astype(np.float32) / np.sqrt(FEATURES)
    kinds = dict.fromkeys(NAMES, pa.float32()) | {"y": pa.int8(), "grade": pa.int8()}
    schema = pa.schema([*kinds.items(), ("list", pa.int32())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, n_rows, GROUP):
            X = rng.standard_normal((FEATURES, min(GROUP, n_rows - start)), dtype=np.float32)
            signal = 2 * coef @ X + rng.logistic(size=X.shape[1])
            grade = (signal > 2).astype(np.int8) + (signal > 5)
            lists = (np.arange(start, start + X.shape[1]) // 100).astype(np.int32)
            columns = [*X, (grade == 2).astype(np.int8), grade, lists]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=GROUP)


# In the group -------------------------------------------------------------------------------------


def fit_here(name, path, n_rows):
    """Fit one model on a file; seconds, and for a spooled one what its passes took."""
    model, target, lists = FITS[name]
    blocks = ParquetBlocks(path, target=target, group=lists, features=NAMES, scratch=FOLDER)
    passes, begun = [], []
    _count_passes(passes, begun)
    start = time.perf_counter()
    if isinstance(model, PNormPush):
        model.fit_blocks(blocks, grades=target == "grade")
    else:
        model.fit_blocks(blocks)
    end = time.perf_counter()
    found = {"seconds": end - start, "passes": len(passes), "rows": n_rows}
    if begun:
        found["solving"] = end - begun[0]
        found["reading"] = _read_seconds(n_rows * FEATURES * 4)
    return found


def _count_passes(passes, begun):
    """Note each time that a design reads its table, and when a spool is written."""
    for method in ("_products", "correlate"):
        original = getattr(FeatureDesign, method)

        def counted(*arguments, original=original):
            passes.append(1)
            return original(*arguments)

        setattr(FeatureDesign, method, counted)
    write_spool = supervised.spooled

    @contextmanager
    def noted(*arguments):
        with write_spool(*arguments) as rows:
            begun.append(time.perf_counter())
            yield rows

    supervised.spooled = noted


def _read_seconds(n_bytes):
    """Seconds of a plain read of a file of this size, which has just been written."""
    with tempfile.TemporaryFile(dir=FOLDER, buffering=0) as file:
        piece = np.random.default_rng(0).bytes(PIECE)
        for _ in range(n_bytes // PIECE):
            file.write(piece)
        os.fsync(file.fileno())
        file.seek(0)
        buffer, start = bytearray(PIECE), time.perf_counter()
        while file.readinto(buffer):
            pass
        return time.perf_counter() - start


# Outside of the group -----------------------------------------------------------------------------


@contextmanager
def control_group():
    """A control group of limited memory: the file to write a process id into."""
    for root, limit in ((Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
                        (Path("/sys/fs/cgroup"), "memory.max")):  # fmt: skip
        folder = root / f"toprank-{os.getpid()}"
        with suppress(OSError):
            folder.mkdir()
            (folder / limit).write_text(str(MEMORY))
            with suppress(OSError):
                (folder / "memory.swap.max").write_text("0")
            try:
                yield folder / "cgroup.procs"
            finally:
                folder.rmdir()
            return
    raise SystemExit("no control group can be made: this needs Linux and root.")


def in_group(group, name, path, n_rows):
    """Run a fit in the group, and look at its memory and its scratch files meanwhile."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.larger_than_memory"]
    child = subprocess.Popen(  # noqa: S603
        [*command, name, str(path), str(n_rows)],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: group.write_text(str(os.getpid())),  # noqa: PLW1509
    )
    memory = scratch = 0
    while child.poll() is None:
        with suppress(OSError, psutil.Error):
            memory = max(memory, _own_memory(child.pid))
            scratch = max(scratch, _deleted_bytes(child.pid))
        time.sleep(0.02)
    if child.returncode:
        raise SystemExit(f"{name} ended with {child.returncode}.")
    return json.loads(child.stdout.read()) | {"memory": memory, "scratch": scratch}


def _own_memory(pid):
    """Bytes of memory that are no pages of files, which the system may drop."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def _deleted_bytes(pid):
    """Bytes of files without a name that a process holds."""
    held = {}
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            if str(link.readlink()).startswith(FOLDER) and str(link.readlink()).endswith(
                "(deleted)"
            ):
                held[link.stat().st_ino] = link.stat().st_size
    return sum(held.values())


def main():
    rows = []
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder, control_group() as group:
        large, small = Path(folder) / "large.parquet", Path(folder) / "small.parquet"
        write(large, ROWS)
        write(small, ROWS // 12)
        for name in FITS:
            found = in_group(group, name, large, ROWS)
            print(name, found, flush=True)
            cells = [f"{found['memory'] / 1e9:.2f}", f"{found['scratch'] / 1e9:.1f}"]
            cells.append(f"{found['seconds']:.0f}")
            if "solving" in found:
                inside = in_group(group, name, small, ROWS // 12)
                print("the same on rows that stay in memory", inside, flush=True)
                per_pass = [
                    each["solving"] / each["passes"] / each["rows"] for each in (found, inside)
                ]
                cells += [
                    str(found["passes"]),
                    f"{found['solving'] / (found['passes'] * found['reading']):.2f}",
                    f"{per_pass[0] / per_pass[1]:.2f}",
                ]
            rows.append([name, *cells, *[""] * (6 - len(cells))])
    head = [
        "fit", "memory, GB", "scratch, GB", "seconds", "passes over the spool",
        "time / reading it as often", "time per row and pass / in memory",
    ]  # fmt: skip
    text = (
        f"{ROWS:,} rows of {FEATURES} float32 features ({3 * MEMORY / 1e9:.1f} GB), in a process "
        f"that may use {MEMORY / 1e9:.1f} GB. {machine_text()}.\n\n{table(head, rows)}"
    )
    write_between("how_big.md", "larger than memory", text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(fit_here(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))
    else:
        main()
