"""Whole tables of every format and models of several rankers, and seeded damage to them."""

import contextlib
import datetime as dt
import gzip
import io
import json
import sqlite3
import struct
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

# Pieces that readers have stumbled over.
NASTY = [
    *(b"", b"\0", b'"', b'""', b"\n", b"\r", b"\r\n", b",", b";", b"\t", b" ", b"'", b"\\", b"#"),
    *(b"nan", b"inf", b"-inf", b"1e308", b"-1e308", b"1e999", b"1e-320", b"-0", b"0x10", b"1_0"),
    *(b"9007199254740993", b"18446744073709551616", b"9" * 400, b"1" + b"0" * 310, b".", b"-"),
    *(b"=1+1", b"@SUM(A1)", b"\x1b[31m", b"\x1b]0;x\x07", b"\xe2\x80\xae", b"\xff", b"\xc3"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"NA", b"?", b"true", b"2020-02-30", b"9999-12-31", b"0000"),
    *(b"1:1", b"qid:", b"qid:1", b":", b"1:nan", b"-1:1", b"99999999999999999999:1", b"PAR1"),
    *(b"x" * 5000, b"a,b,c,d,e,f,g,h\n", b"t", b"yes", b"{}", b"[]", b"null", b"<script>"),
]

NUMBERS = [b"", b"NA", b"?", b"nan", b"-0", b"1e-320", b"1e30", b"1e308", b"-7", b"9" * 30, b"0.5"]


def columns(n_rows=60, seed=0):
    """Numbers, texts, dates and booleans with gaps, and a target that they say something of."""
    rng = np.random.default_rng(seed)
    size, age = rng.normal(size=n_rows), rng.integers(18, 90, n_rows)
    job = rng.choice(["clerk", "smith, jr", 'the "nurse"', "çırak"], n_rows)
    is_positive = size + 0.03 * age + rng.normal(size=n_rows) > 2.2
    gaps = rng.random(n_rows) < 0.1
    return pa.table(
        {
            "size": size.round(4),
            "age": pa.array(age, mask=gaps),
            "job": job,
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, n_rows),
            "member": rng.random(n_rows) < 0.5,
            "t": np.where(is_positive, "yes", "no"),
        }
    )


def as_text(table, delimiter=","):
    sink = io.BytesIO()
    csv.write_csv(table, sink, csv.WriteOptions(delimiter=delimiter))
    return sink.getvalue()


def as_parquet(table, row_group_size=25, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=row_group_size, **options)
    return sink.getvalue()


def as_arrow(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def as_database(table):
    """SQLite, which numbers and texts alike may be in."""
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.execute("create table rows (size, age, job, since, member, t)")
        rows = [
            [str(v) if isinstance(v, dt.date) else v for v in row.values()]
            for row in table.to_pylist()
        ]
        base.executemany("insert into rows values (?, ?, ?, ?, ?, ?)", rows)
        base.commit()
        return base.serialize()


def as_sparse(table, lists=None):
    lines = []
    for place, row in enumerate(table.to_pylist()):
        group = f" qid:{place // lists}" if lists else ""
        lines.append(f"{int(row['t'] == 'yes')}{group} 1:{row['size']} 3:{row['age'] or 0}\n")
    return "".join(lines).encode()


def tables():
    """Whole files by name."""
    table = columns()
    return {
        "table.csv": as_text(table),
        "semicolons.csv": as_text(table, ";"),
        "table.tsv": as_text(table, "\t"),
        "table.csv.gz": gzip.compress(as_text(table), mtime=0),
        "table.parquet": as_parquet(table),
        "other.parquet": as_parquet(table, compression="zstd", use_dictionary=False),
        "table.arrow": as_arrow(table),
        "table.json": json.dumps(table.to_pylist(), default=str).encode(),
        "table.jsonl": b"".join(
            json.dumps(row, default=str).encode() + b"\n" for row in table.to_pylist()
        ),
        "table.db": as_database(table),
        "rows.libsvm": as_sparse(table),
        "lists.letor": as_sparse(table, lists=10),
    }


def damaged(content, rng, other=b""):
    """A copy with one to four changes."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        start = int(rng.integers(0, len(content) + 1))
        end = start + int(rng.geometric(0.05))
        kind = rng.integers(0, 9)
        if kind == 0:
            content[start:end] = b""
        elif kind == 1:
            content[start:start] = content[start:end]
        elif kind == 2:
            content[start:end] = rng.bytes(len(content[start:end]))
        elif kind == 3 and content:
            content[min(start, len(content) - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 4:
            del content[start:]
        elif kind == 5 and other:
            cut = int(rng.integers(0, len(other)))
            content[start:] = other[cut:]
        elif kind == 6:
            lines = bytes(content).split(b"\n")
            order = rng.permutation(len(lines))
            content[:] = b"\n".join(lines[place] for place in order)
        else:
            content[start : start + int(rng.integers(0, 6))] = NASTY[rng.integers(len(NASTY))]
    return bytes(content)


def with_other_cells(content, delimiter, rng):
    """A copy of a text whose lines stay as many and as long, but for some odd cells."""
    lines = content.split(b"\n")
    for _ in range(rng.integers(1, 9)):
        place = int(rng.integers(len(lines) > 1, len(lines)))
        cells = lines[place].split(delimiter)
        choices = NASTY if rng.random() < 0.3 else NUMBERS
        odd = choices[rng.integers(len(choices))]
        cells[rng.integers(len(cells))] = odd.replace(delimiter, b"").replace(b"\n", b"")
        lines[place] = delimiter.join(cells)
    return b"\n".join(lines)


def with_another_column(table, rng):
    """A copy of a table with a column of another type, with gaps, extremes or few values."""
    place = int(rng.integers(0, table.num_columns))
    size = table.num_rows
    others = [
        pa.array(rng.normal(size=size) * 10.0 ** rng.integers(-300, 300)),
        pa.array(rng.integers(-(2**62), 2**62, size)),
        pa.array(rng.normal(size=size), mask=rng.random(size) < 0.9),
        pa.array(rng.normal(size=size).astype(np.float16)),
        pa.array([bytes(rng.bytes(3)) for _ in range(size)]),
        pa.array([NASTY[rng.integers(len(NASTY))].decode(errors="replace") for _ in range(size)]),
        pa.array(rng.integers(0, 2**40, size), pa.timestamp(["s", "ms", "us"][rng.integers(3)])),
        pa.array(rng.random(size) < 0.5),
        pa.nulls(size),
        pa.array([[1.0]] * size),
        table.column(int(rng.integers(0, table.num_columns))),
    ]
    changed = table.set_column(place, table.column_names[place], others[rng.integers(len(others))])
    return changed.take(pa.array(rng.integers(0, size, int(rng.integers(1, 2 * size)))))


def damaged_table(whole, name, rng):
    """The content of a table of this name with seeded damage, also behind its compression."""
    content = whole[name]
    other = whole[list(whole)[rng.integers(len(whole))]]
    delimiters = {"table.csv": b",", "semicolons.csv": b";", "table.tsv": b"\t"}
    delimiters |= {"table.json": b",", "table.jsonl": b","}
    if rng.random() < 0.5:
        if "parquet" in name:
            return as_parquet(with_another_column(columns(), rng))
        if name.endswith(".gz"):
            return gzip.compress(with_other_cells(gzip.decompress(content), b",", rng), mtime=0)
        return with_other_cells(content, delimiters.get(name, b" "), rng)
    if name.endswith(".gz") and rng.random() < 0.7:
        return gzip.compress(damaged(gzip.decompress(content), rng, other), mtime=0)
    if "parquet" in name and rng.random() < 0.5:  # most of what is read first is in the footer
        cut = max(0, len(content) - 1500)
        return content[:cut] + damaged(content[cut:], rng)
    return damaged(content, rng, other)


def sealed(description, arrays=b""):
    """A model file with a right SHA-256 around any content."""
    if not isinstance(description, bytes):
        description = json.dumps(description).encode()
    payload = struct.pack("<Q", len(description)) + description + arrays
    return b"toprank model 4\n" + sha256(payload).hexdigest().encode() + b"\n" + payload


def unsealed(content):
    payload = content.split(b"\n", 2)[2]
    (length,) = struct.unpack_from("<Q", payload)
    return json.loads(payload[8 : 8 + length]), payload[8 + length :]


_VALUES = [
    *(None, True, -1, 0, 1, 2**62, 2**70, 0.5, -1.0, 1e308, float("nan"), float("inf")),
    *("", "x", "\x1b[31m", "<script>", [], [[]], {}, [0] * 50, {"$array": ["<f8", 3]}),
    *({"$array": ["<f8", 1 << 40]}, {"$array": ["O", 1]}, {"$array": ["<f8"]}),
    *("date", "category", "number", "lookup", "missing", "weights", "steps", "oblivious", "binary"),
]


def damaged_model(content, rng):
    """A model file with other bytes, or with another description or arrays and a right digest."""
    kind = rng.integers(0, 5)
    if kind == 0:
        return damaged(content, rng)
    description, arrays = unsealed(content)
    if kind == 1:
        return sealed(description, damaged(arrays, rng))
    if kind == 4:  # as many bytes, other numbers
        changed = bytearray(arrays)
        for place in rng.integers(0, len(changed), rng.integers(1, 20)):
            changed[place] = int(rng.integers(256))
        return sealed(description, bytes(changed))
    if kind == 2:
        return sealed(damaged(json.dumps(description).encode(), rng), arrays)
    for _ in range(rng.integers(1, 4)):
        _change_somewhere(description, rng)
    return sealed(description, arrays)


def _change_somewhere(inside, rng):
    """Change, remove or double one entry at a random depth."""
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        below = inside[key]
        if isinstance(below, (dict, list)) and below and rng.random() < 0.8:
            inside = below
            continue
        kind = rng.integers(0, 4)
        if kind == 0:
            del inside[key]
        elif kind == 1 and isinstance(inside, list):
            inside.append(below)
        elif kind == 2 and isinstance(below, (int, float)):
            inside[key] = type(below)(below + rng.integers(-2, 3))
        else:
            inside[key] = _VALUES[rng.integers(len(_VALUES))]
        return
