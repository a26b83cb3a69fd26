"""What a long comparison has finished, kept in a file so that it can go on after an interrupt."""

from __future__ import annotations

import hashlib
import json
import os
from collections import UserDict
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Self

from toprank.models.writing import try_lock


class Journal(UserDict[str, dict[str, Any]]):
    """One line of JSON for each finished fit, below a line that says what is compared.

    Every line has a digest of itself and of what is compared, so that no line of another
    comparison and no damaged one is taken. While it is open, no other process can write to it.

    ``path`` is a new file, an empty one or a journal of the same comparison, which ``fingerprint``
    tells; one of another comparison is refused. ``resume`` goes on with what the file holds, else
    it begins anew. A last line that was cut off is done again.
    """

    def __init__(self, path: Path, fingerprint: str, *, resume: bool) -> None:
        super().__init__()
        self.path, self._fingerprint = path, fingerprint
        self._guard = Lock()  # fits end in threads
        self._stream = _opened(path)
        try:
            head = self._line({"toprank": "journal", "of": fingerprint})
            content = self._stream.read()
            # the first line as a kill may have left it
            end = 0 if head.startswith(content) else self._read(content, resume=resume)
            self._stream.truncate(end)
            if not end:
                self._append(head)
        except BaseException:
            self._stream.close()
            raise

    def _read(self, content: bytes, *, resume: bool) -> int:
        """Take the finished fits of a journal; gives where its last whole line ends."""
        lines = content.split(b"\n")[:-1]
        head = _parsed(lines[0]) if lines else {}
        name = self.path.name
        if head.get("toprank") != "journal":
            raise ValueError(
                f"{name} exists and is not the journal of a comparison, which would replace it; "
                "give another --journal."
            )
        if head.get("of") != self._fingerprint:
            raise ValueError(
                f"{name} is the journal of another comparison; give the table and options that it "
                "was begun with, delete it, or give another --journal."
            )
        if not resume:
            return 0
        for number, line in enumerate(lines[1:], start=2):
            record = _parsed(line)
            if self._line({key: record.get(key) for key in ("key", "value")}) != line + b"\n":
                raise ValueError(
                    f"{name} is damaged in line {number}; run again without --resume, or delete "
                    "the lines from there on."
                )
            self.data[record["key"]] = record["value"]
        return sum(len(line) + 1 for line in lines)

    def _line(self, record: dict[str, Any]) -> bytes:
        """A record with its digest."""
        text = json.dumps(record)
        digest = hashlib.sha256(f"{self._fingerprint} {text}".encode()).hexdigest()[:16]
        return f'{text[:-1]}, "digest": "{digest}"}}\n'.encode()

    def _append(self, line: bytes) -> None:
        with self._guard:
            self._stream.write(line)
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def __setitem__(self, key: str, value: dict[str, Any]) -> None:
        """Remember a finished fit, on disk before anything else happens."""
        super().__setitem__(key, value)
        self._append(self._line({"key": key, "value": value}))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let other processes write; a journal without any finished fit is deleted."""
        self._stream.close()
        if not self.data:
            self.remove()

    def remove(self) -> None:
        """Delete the file: the comparison is complete."""
        self._stream.close()
        self.path.unlink(missing_ok=True)


def _opened(path: Path) -> BinaryIO:
    """Open a journal for one process."""
    if path.exists() and not path.is_file():
        raise ValueError(f"--journal {str(path)!r} is not a regular file; give another one.")
    stream = path.open("a+b")
    if not try_lock(stream.fileno()):
        stream.close()
        raise ValueError(
            f"another comparison is writing to {path.name}; wait for it, or give another --journal."
        )
    stream.seek(0)
    return stream


def _parsed(line: bytes) -> dict[str, Any]:
    """The record of a line; an empty one where there is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
