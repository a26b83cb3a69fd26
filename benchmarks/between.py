"""Tables that benchmarks write into pages written by hand, between two comments."""

from pathlib import Path

from benchmarks.store import machine

DOCS = Path(__file__).parents[1] / "docs"


def write_between(page: str, name: str, text: str) -> None:
    """Replace what stands between the two comments of this name on a page, and print it."""
    print(f"{page}, {name}:\n\n{text}\n")
    path = DOCS / page
    path.write_text(replaced(path.read_text(encoding="utf-8"), name, text), encoding="utf-8")


def replaced(page: str, name: str, text: str) -> str:
    """The page with another text between ``<!-- name -->`` and ``<!-- end of name -->``."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"the page has no {begin} … {end} to write the table into.")
    return f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; the first column is text, the others are numbers."""
    marks = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, marks, *rows])


def machine_text() -> str:
    """On what the figures were measured, in one line."""
    found = machine()
    return f"{found['processor']}, {found['memory']} of memory, {found['system']}"
