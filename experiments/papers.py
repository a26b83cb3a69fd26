"""Where each statement of the five papers is: a page made from what files cite.

``python -m experiments papers`` writes docs/theory/papers.md. A file belongs to the papers that
``PLACES`` gives it to; a citation in it, such as "Theorem 7", "Lemmas 5, 6 and 9" or a test named
``test_corollary_13_...``, is one of that paper. Cells that stay empty have their reason in
``REASONS``.
"""

import re
from pathlib import Path

from experiments.cited import PAPERS, PLACES, REASONS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "theory" / "papers.md"
KINDS = {
    "theorem": "Theorem", "lemma": "Lemma", "corollary": "Corollary", "claim": "Claim",
    "definition": "Definition", "equation": "Equation", "algorithm": "Algorithm", "op": "OP",
    "table": "Table", "figure": "Figure",
}  # fmt: skip
NUMBER = r"\(?\d+\)?"
CITED = re.compile(
    r"\b(theorem|lemma|corollar(?:y|ie)|claim|definition|equation|algorithm|op|table|figure)s?"
    rf"\s+({NUMBER}(?:(?:\s*,\s*|\s+and\s+|\s+to\s+|\s+or\s+|/|\s*,\s+and\s+){NUMBER})*)",
    re.IGNORECASE,
)
COLUMNS = ("code", "test", "page")
HEAD = """# What the papers say and where it is

Every algorithm, equation, theorem, table and figure of the five papers, with the code, the test
and the page that cite it. `python -m experiments papers` makes the lists from these citations, and
a test keeps them true. What is not here has its reason in its cell.
"""


def citations(text):
    """All statements that a text cites, as (kind, number)."""
    plain = text.replace("_", " ")
    found = set()
    if "in parentheses are the paper's" in plain:
        found |= {("equation", int(number)) for number in re.findall(r"\((\d+)\)", plain)}
    for match in CITED.finditer(plain):
        kind = "corollary" if match[1].lower().startswith("corollar") else match[1].lower()
        listed = [int(number) for number in re.findall(r"\d+", match[2])]
        for first, word, last in re.findall(r"(\d+)\)?\s+(to)\s+\(?(\d+)", match[2]):
            del word
            listed += range(int(first), int(last) + 1)
        found |= {(kind, number) for number in listed}
    return found


def files(patterns):
    """Files of the repository that match, in a fixed order."""
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    return sorted(found)


def cited_in(paper):
    """Column → statement → files that cite it, for one paper."""
    found = {column: {} for column in COLUMNS}
    for column in COLUMNS:
        for path in files(PLACES[paper][column]):
            for statement in citations(path.read_text(encoding="utf-8")):
                found[column].setdefault(statement, []).append(path)
    return found


def statement_of(name):
    """("theorem", 7) of "Theorem 7"."""
    kind, number = name.split()
    return kind.lower(), int(number)


def link(path):
    """A file as the page names it: pages by a link, code by its path."""
    place = path.relative_to(ROOT)
    if place.parts[0] == "docs":
        return f"{{doc}}`/{place.relative_to('docs').with_suffix('')}`"
    return f"`{place}`"


def cell(paths, reason):
    """Up to two files, or the reason why there is none."""
    return ", ".join(link(path) for path in paths[:2]) if paths else reason


def rows(paper):
    """One row per statement: its name, what it says, and three cells."""
    found = cited_in(paper)
    for name, meaning in PAPERS[paper].statements.items():
        reasons = REASONS[paper].get(name, {})
        cells = [
            cell(found[column].get(statement_of(name), []), reasons.get(column, ""))
            for column in COLUMNS
        ]
        yield [name, meaning, *cells]


def page():
    """All of the page."""
    parts = [HEAD]
    for number, paper in PAPERS.items():
        parts.append(f"\n## {paper.title}\n\n| | what it says | code | test | page |")
        parts.append("|---|---|---|---|---|")
        parts += ["| " + " | ".join(row) + " |" for row in rows(number)]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    empty = [
        (number, row[0], column)
        for number in PAPERS
        for row in rows(number)
        for column, text in zip(COLUMNS, row[2:], strict=True)
        if not text
    ]
    print(f"wrote {PAGE.relative_to(ROOT)}; empty cells: {len(empty)}", *empty, sep="\n")
