"""What a long comparison has finished, kept in a file so that it can go on after an interrupt."""

from __future__ import annotations

import json
from collections import UserDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Journal"]


class Journal(UserDict[str, dict[str, Any]]):
    """One line of JSON for each finished fit, below a line that says what is compared.

    Parameters
    ----------
    path : Path
        The file; made anew unless ``resume``.
    fingerprint : str
        What table, rankers and settings are; a journal of others is refused.
    resume : bool
        Go on with what the file holds. A last line that was cut off is done again.
    """

    def __init__(self, path: Path, fingerprint: str, *, resume: bool) -> None:
        super().__init__()
        self.path = path
        if resume and path.exists():
            self._read(fingerprint)
        else:
            path.write_text(json.dumps({"toprank": "journal", "of": fingerprint}) + "\n")

    def _read(self, fingerprint: str) -> None:
        whole = []
        for line in self.path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]:
            try:
                whole.append(json.loads(line))
            except json.JSONDecodeError:
                break
        if not whole or not isinstance(whole[0], dict) or whole[0].get("of") != fingerprint:
            raise ValueError(
                f"{self.path.name} is the journal of another comparison; run again without "
                "--resume, with the same table and options, or with another --journal."
            )
        for record in whole[1:]:
            self.data[record["key"]] = record["value"]
        # What follows the last whole line is written again, so cut it off.
        lines = [json.dumps(record) for record in whole]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def __setitem__(self, key: str, value: dict[str, Any]) -> None:
        """Remember a finished fit, on disk before anything else happens."""
        super().__setitem__(key, value)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"key": key, "value": value}) + "\n")

    def remove(self) -> None:
        """Delete the file: the comparison is complete."""
        self.path.unlink(missing_ok=True)
