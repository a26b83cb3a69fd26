"""Files that somebody made on purpose: bombs, lies, and every type that a table may have."""

import datetime as dt
import decimal
import gzip
import json

import numpy as np
import pyarrow as pa
from files import as_parquet, as_text, columns, sealed, unsealed

ROWS = 40
T = ["yes" if row % 4 == 0 else "no" for row in range(ROWS)]


def tables():
    """Hostile and odd tables by name; large ones are functions that make them."""
    good = as_text(columns())
    header = b"size,age,job,since,member,t\n"
    found = {
        "bomb.csv.gz": lambda: gzip.compress(b"a,t\n" + b"0" * (300 << 20), 1),
        "zeros.csv.gz": lambda: gzip.compress(bytes(300 << 20), 1),
        "in gzip.csv.gz": gzip.compress(gzip.compress(good)),
        "two parts.csv.gz": gzip.compress(good) + gzip.compress(good.split(b"\n", 1)[1]),
        "one line.csv": b"x" * (80 << 20),
        "long cell.csv": good + b'"' + b"x" * (20 << 20) + b'",1,x,2020-01-01,true,no\n',
        "open quote.csv": good + b'"' + b"x,1\n" * 500_000,
        "quotes.csv": header + b'"' * 999_999 + b"\n",
        "many columns.csv": lambda: b",".join(b"c%d" % n for n in range(100_000)) + b"\n",
        "wide.csv": lambda: _wide(30_000),
        "blank lines.csv": header + b"\n" * 3_000_000,
        "one column.csv": b"t\n" + b"yes\nno\n" * 300_000,
        "carriage returns.csv": good.replace(b"\n", b"\r"),
        "mixed line ends.csv": good.replace(b"\n", b"\r\n", 20),
        "mark.csv": b"\xef\xbb\xbf" + good,
        "marks.csv": b"\xef\xbb\xbf" * 3 + good,
        "utf-16.csv": good.decode().encode("utf-16"),
        "utf-32.csv": good.decode().encode("utf-32"),
        "zero byte.csv": good * 400 + b"1,2,\0,2020-01-01,true,no\n",
        "formulas.csv": good.replace(b"clerk", b"=cmd|' /C calc'!A0"),
        "escapes.csv": good.replace(b"clerk", b"\x1b[2J\x1b]0;owned\x07").replace(
            b"job", b"\x1b[1m"
        ),
        "names.csv": good.replace(b'"job"', b'"' + b"job\n\n<b>" * 3000 + b'"'),
        "twice.csv": good.replace(b'"age"', b'"size"'),
        "large.csv": good.replace(b"true", b"1e308").replace(b"false", b"-1e308"),
        "digits.csv": good.replace(b"true", b"9" * 4000).replace(b"false", b"1"),
        "targets.csv": lambda: (
            header + b"".join(b"1,2,x,2020-01-01,true,v%d\n" % n for n in range(200_000))
        ),
        "label.libsvm": b"1e300 1:1\n-1e300 1:2\n" * 20,
        "number.libsvm": b"1 99999999999999999999999:1\n0 1:2\n" * 20,
        "spread.libsvm": b"".join(b"%d %d:1\n" % (n % 2, n * 7919) for n in range(5000)),
        "colons.libsvm": b"1 1:1:1 ::: 2:\n" * 20,
        "lists.letor": b"".join(b"%d qid:%d 1:%d\n" % (n % 2, n, n) for n in range(3000)),
        "text.parquet": good,
        "magic.parquet": b"PAR1PAR1",
        "footer.parquet": b"PAR1" + b"\xff" * 100 + b"\xff\xff\xff\x7fPAR1",
        "runs.parquet": lambda: as_parquet(
            pa.table({"size": np.zeros(5_000_000), "t": np.zeros(5_000_000)}),
            row_group_size=1 << 20,
        ),
        "no columns.parquet": as_parquet(pa.table({})),
        "no rows.parquet": as_parquet(columns().slice(0, 0)),
        "model.csv": b"toprank model 4\n" + b"0" * 64 + b"\n",
    }
    for name, values in _types().items():
        found[f"{name}.parquet"] = as_parquet(pa.table({"size": values, "t": T}))
        found[f"target {name}.parquet"] = as_parquet(pa.table({"size": range(ROWS), "t": values}))
    return found


def _wide(n_columns):
    rng = np.random.default_rng(0)
    lines = [",".join(f"c{n}" for n in range(n_columns)) + ",t"]
    lines += [",".join(map(str, rng.integers(0, 9, n_columns))) + f",{t}" for t in T[:12]]
    return "\n".join(lines).encode()


def _types():
    """A column of each type that Parquet can hold."""
    day = dt.date(2020, 1, 1)
    numbers = range(ROWS)
    return {
        "nulls": pa.nulls(ROWS),
        "half floats": pa.array(np.arange(ROWS, dtype=np.float16)),
        "decimals": pa.array([decimal.Decimal(n) / 8 for n in numbers], pa.decimal128(38, 20)),
        "large decimals": pa.array([decimal.Decimal(10) ** 60 + n for n in numbers]),
        "binary": pa.array([bytes([n, 255]) for n in numbers]),
        "times": pa.array([dt.time(n % 24) for n in numbers]),
        "durations": pa.array([dt.timedelta(days=n) for n in numbers]),
        "far dates": pa.array([day.replace(year=1 + 200 * n) for n in numbers]),
        "far times": pa.array([2**60 - n for n in numbers], pa.timestamp("ms")),
        "time zones": pa.array(list(numbers), pa.timestamp("us", tz="Mars/Olympus")),
        "lists": pa.array([[n, n] for n in numbers]),
        "structs": pa.array([{"a": n} for n in numbers]),
        "maps": pa.array([[("a", n)] for n in numbers], pa.map_(pa.string(), pa.int64())),
        "dictionary": pa.array(["a", None, "b", "c"] * (ROWS // 4)).dictionary_encode(),
        "number dictionary": pa.array([1.5, None, 2.5, 3.5] * (ROWS // 4)).dictionary_encode(),
        "infinite": pa.array([np.inf, -np.inf, np.nan, 1.0] * (ROWS // 4)),
        "unsigned": pa.array([2**64 - 1 - n for n in numbers], pa.uint64()),
        "not utf-8": pa.Array.from_buffers(
            pa.string(),
            ROWS,
            [None, pa.py_buffer(np.arange(ROWS + 1, dtype="i4")), pa.py_buffer(b"\xff" * ROWS)],
        ),
    }


def models(content):
    """Hostile model files by name, made of a whole one."""
    description, arrays = unsealed(content)
    text = json.dumps(description).encode()
    deep = 5
    for _ in range(40):
        deep = [deep]
    return {
        "empty": b"",
        "only magic": b"toprank model 4\n",
        "pickle": b"\x80\x04\x95\x0f\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system\x93.",
        "nested": sealed(b"[" * 100_000 + b"]" * 100_000),
        "deep": sealed({**description, "facts": {**description["facts"], "deep": deep}}, arrays),
        "empty lists": lambda: sealed(b"[" + b"[]," * 4_000_000 + b"[]]"),
        "empty objects": lambda: sealed(b"[" + b"{}," * 2_700_000 + b"{}]"),
        "keys": lambda: sealed(b"{" + b",".join(b'"%d":0' % n for n in range(3_000_000)) + b"}"),
        "long number": sealed(text.replace(b'"cut": ', b'"cut": ' + b"9" * 100_000)),
        "not a number": sealed(text.replace(b'"cut": ', b'"cut": NaN, "former": '), arrays),
        "two sums": sealed(text[:-1] + b', "summands": null}', arrays),
        "surrogates": sealed(text.replace(b'"job"', b'"\\ud800"'), arrays),
        "zero byte": sealed(text.replace(b'"job"', b'"\\u0000"'), arrays),
        "escapes": sealed(text.replace(b'"job"', b'"\\u001b[2J\\u001b]0;owned\\u0007"'), arrays),
        "markup": sealed(text.replace(b'"job"', b'"</script><script>alert(1)</script>"'), arrays),
        "long name": sealed(text.replace(b'"job"', b'"' + b"j" * 5_000_000 + b'"'), arrays),
        "no arrays": sealed(description),
        "long arrays": sealed(description, arrays + bytes(50 << 20)),
        "not finite": sealed(description, b"\xff" * len(arrays)),
        "huge numbers": sealed(description, np.full(len(arrays) // 8, 1e308).tobytes()),
        "later layout": content.replace(b"toprank model 4", b"toprank model 99"),
        "long layout": b"toprank model " + b"9" * 5_000_000 + b"\n\n",
    }
