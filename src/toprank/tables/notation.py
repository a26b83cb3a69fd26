"""How the cells of a column of text are written, and what they say.

    texts, counts ──► infer ──► ColumnSchema ──► read ──► values, which texts were misread

A column is decided from all its different texts and how often each occurs. Each cell is read by
functions that know one cell (:func:`_number`, :func:`_date`, :func:`_clock`) and give what it would
mean under either decimal mark or either order of day and month; the schema of the column says
which of the two is meant. ``infer`` and ``read`` use the same functions, so a file of next week is
read by the rule of the training.

This module loads numpy alone, because the command that scores a file reads cells, too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

KINDS = ("number", "boolean", "date", "time", "duration", "category", "empty")

# How tables write that a cell is missing, without capitals.
_SPELLINGS = (
    "|na|n/a|n.a.|n. a.|n.a|n/d|n.d.|nd|n.v.t.|n.r.|n/r|#n/a|#n/a n/a|#na|nan|-nan|1.#qnan|nat|"
    "null|nil|none|<na>|<null>|<none>|(null)|(none)|(blank)|(empty)|[null]|{null}|\\n|?|??|-|--|"
    "---|–|—|.|..|...|…|*|**|/|x|_|#div/0!|#value!|#ref!|#name?|#num!|#null!|#error!|#err|error|"
    "unknown|unk|missing|not available|not applicable|not known|not specified|not provided|"
    "undefined|unspecified|"
    "no data|nodata|no value|empty|blank|tbd|tba|tbc|t.b.d.|unbekannt|fehlt|fehlend|k.a.|k. a.|k.a|"
    "keine angabe|keine angaben|keine daten|nicht verfügbar|nicht bekannt|leer|offen|o.a.|inconnu|"
    "inconnue|non renseigné|non disponible|n.c.|nc|s/o|sans objet|desconocido|desconocida|sin dato|"
    "sin datos|s/d|no disponible|no aplica|vacío|sconosciuto|non disponibile|n.p.|desconhecido|"
    "não disponível|não informado|onbekend|niet beschikbaar|leeg|ukendt|okänd|ukjent|brak|b.d.|"
    "brak danych|nieznane|nieznany|neznámé|нет данных|неизвестно|н/д|不明|未知|无|なし|"
    "0000-00-00|0000-00-00 00:00:00|00.00.0000|00/00/0000"
)
SPELLINGS = frozenset(_SPELLINGS.split("|"))

_ENOUGH = 0.95  # share of the cells that must fit a kind
_MISSING_WORDS = 5  # so many different unknown words may stand for missing
_SAMPLE = 400  # texts that show whether a closer look is worth its time
_MANY = 100_000  # different texts that decide on a notation
_LONGEST = 80  # characters of a number or a date; patterns would take long over more
_DAY = 86_400.0
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class ColumnSchema:
    """How the cells of one column are read.

    ``decimal``, ``units``, ``order`` and ``missing`` are of texts: the decimal mark, what may stand
    before or behind numbers, "day-first", "month-first", "year-first" (24-03-31) or "mixed" (dates
    with points day first, others month first), and words of this column that stand for missing
    besides ``SPELLINGS``. ``codes`` are numbers that stand for missing; ``first_year`` is the least
    that two digits mean. ``left_out`` says why a
    column is not used, which reading does not look at.
    """

    name: str
    kind: str
    decimal: str = "."
    units: tuple[str, ...] = ()
    order: str = ""
    missing: tuple[str, ...] = ()
    codes: tuple[float, ...] = ()
    first_year: int = 1969
    left_out: str = ""


@dataclass(frozen=True)
class Hints:
    """What the user says of a column or of its file; None is to be found out."""

    kind: str | None = None
    decimal: str | None = None
    order: str | None = None


class Inferred(NamedTuple):
    """A column, what of its cells is missing or misread, and what to tell the user.

    ``misread`` is the first text that does not fit. ``is_unclear`` says that the decimal mark or
    the order of day and month was assumed, so that the other columns of a file may overrule it.
    """

    column: ColumnSchema
    n_missing: int
    n_misread: int
    misread: str
    is_unclear: bool
    notes: tuple[str, ...]


def is_missing_word(text: str) -> bool:
    """Whether a text is missing among categories, where ``NA`` and ``none`` are values.

    Examples
    --------
    >>> is_missing_word(" "), is_missing_word("?"), is_missing_word("NA")
    (True, True, False)
    """
    return text.strip() in {"", "?"}


# Typography -------------------------------------------------------------------------------

_PLAINLY = str.maketrans(
    dict.fromkeys(
        "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
    )
    | dict.fromkeys("\u200b\u200e\u200f\u2060\ufeff", "")
    | dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d", "-")
    | dict.fromkeys("’‘ʼ′´ˈ＇", "'")
    | dict.fromkeys("“”″„«»", '"')
    | dict.fromkeys("⁄∕／", "/")
    | {"．": ".", "，": ",", "％": "%", "＋": "+", "：": ":", "＄": "$", "（": "(", "）": ")"}
    | {"٫": ".", "٬": "'", "٪": "%", "μ": "µ", "年": "-", "月": "-", "日": " "}
    | {"년": "-", "월": "-", "일": " "}
    | {"▲": "+", "↑": "+", "▼": "-", "↓": "-"}
    | {"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3", "⅕": " 1/5"}
    | {"⅛": " 1/8", "⅜": " 3/8", "⅝": " 5/8", "⅞": " 7/8"}
)
# What spreadsheets leave: ="12.5", '12.5, "12.5".
_WRAPPED = re.compile(r"""=?"(.*)"|'(.*?)'?|=(.*)""", re.DOTALL)


def _clean(text: str) -> str:
    """The text with plain blanks, dashes, quotes and digits, without what spreadsheets leave.

    Examples
    --------
    >>> _clean('="１２–15" '), _clean("'-3½")
    ('12-15', '-3 1/2')
    """
    if not text.isascii():
        text = text.translate(_PLAINLY)
        if not text.isascii():
            text = "".join(str(int(c)) if c.isdecimal() else c for c in text)
    text = text.strip()
    if text and text[0] in "=\"'":
        found = _WRAPPED.fullmatch(text)
        if found:
            text = next(part for part in found.groups() if part is not None).strip()
    return text


# Units ------------------------------------------------------------------------------------

# Families of units: the names of one size stand together, times are in hours.
_FAMILIES = {
    "times": "1e3 k tsd thousand mille|1e6 M mio mn mln million millionen|1e9 bn mrd billion G "
    "milliarden|1e12 T trn trillion|1e5 lakh lac|1e7 crore",
    "%": "1 % percent pct prozent p.c|.1 ‰ permille",
    "mass": "1e3 kilo kilogram|1 gr gram gramm|1e-6 ug mcg|1e6 t tonne|453.59237 lb pound|"
    "28.349523 oz",
    "length": "1 metre meter mtr|.0254 in inch inches|.3048 ft feet foot|.9144 yd yard|"
    "1609.344 mi mile",
    "area": "1 m² m2 m^2 qm sqm|.09290304 sqft ft² ft2|1e4 ha|1e6 km² km2|4046.8564 acre",
    "volume": "1 litre liter ltr|1e3 m³ m3|3.785411784 gal gallon",
    "bytes": "1 B byte|1e3 KB|1e6 MB|1e9 GB|1e12 TB|1024 KiB|1048576 MiB|1073741824 GiB",
    "time": "1 h hr hour std stunde heure hora|.016666666666666667 min minute|24 d day tag tage "
    "jour día|.0002777777777777778 s sec second sek sekunde|2.777777777777778e-07 ms|168 w wk week "
    "woche|730.5 month monat monate mo mois|8766 y yr year jahr jahre an année año",
    "degrees": "1 °C|1 °F|1 °",
}
# Units that take the prefixes of the metric system, and the powers of ten of these.
_METRIC = "m g l Hz W Wh V A J Pa bar cal mol Bq N"
_POWERS = {"": 0, "k": 3, "m": -3, "M": 6, "G": 9, "µ": -6, "n": -9, "c": -2, "d": -1, "h": 2}
_MONEY = (  # the names of one currency stand together
    "EUR € euro|USD $ US$ dollar|GBP £ quid|CHF Fr SFr|INR ₹ Rs|PLN zł zl|BRL R$|ct ¢ cent|p|"
    "kr SEK NOK DKK ISK|CZK Kč|JPY ¥ 円|CNY RMB 元|RUB ₽ руб|TRY ₺ TL|KRW ₩|UAH ₴|ILS ₪|VND ₫|"
    "THB ฿|NGN ₦|PHP ₱|HUF Ft|RON lei|BGN лв|ZAR R|MYR RM|IDR Rp|AUD A$ AU$|CAD C$ CA$|NZD NZ$|"
    "HKD HK$|SGD S$|MXN MX$|₡|AED|ARS|CLP|COP|EGP|PEN|SAR|TWD"
)
_CURRENCIES = {group.split()[0] for group in _MONEY.split("|")}
_UNITS: dict[str, tuple[str, float]] = {
    prefix + unit: ({"m": "length", "g": "mass", "l": "volume"}.get(unit, unit), 10.0**power)
    for unit in _METRIC.split()
    for prefix, power in _POWERS.items()
}
_UNITS |= {
    name: (family, float(group.split()[0]))
    for family, groups in _FAMILIES.items()
    for group in groups.split("|")
    for name in group.split()[1:]
}
_UNITS |= {name: (group.split()[0], 1.0) for group in _MONEY.split("|") for name in group.split()}
_UNITS |= dict.fromkeys(("#", "№", "no", "nr", "n°", "nº"), ("number", 1.0))
_UNITS |= {"S": ("time", 1 / 3600), "H": ("time", 1.0)}  # Soll and Haben, if both are there
_FOLDED = {name.casefold(): name for name in reversed(_UNITS)}
_MAGNITUDE = re.compile(
    r"(mio\.?|mrd\.?|bn|mn|mln|tsd\.?|[mb]illion|[kmgt])\s*(\D+)", re.IGNORECASE
)
# With thousands (k) beside them, these are millions and billions rather than metres and bytes.
_THOUSANDS = {"k", "M"}
# What stands behind negative numbers, and its opposite behind positive ones.
_OPPOSITES = [
    pair.split("/") for pair in ("H/S", "haben/soll", "credit/debit", "S/N", "°s/°n", "°w/°e")
]
_BESIDE_THOUSANDS = {"m": 1e6, "B": 1e9, "b": 1e9, "t": 1e12}


@lru_cache(1 << 12)
def _unit(text: str) -> str:
    """The name by which a unit is known, or its folded text.

    Examples
    --------
    >>> _unit("KG"), _unit("M"), _unit("m"), _unit("Hours"), _unit("Pcs."), _unit("US $")
    ('kg', 'M', 'm', 'hour', 'pc', 'US$')
    """
    text = text.strip().rstrip(".,;").replace(" ", "")
    folded = text.casefold()
    endings = ("", "s", "n", "en")[: 1 if len(text) < 3 else 2 if len(text) < 6 else 4]
    for stem in (text, *(folded.removesuffix(ending) for ending in endings)):
        if stem in _UNITS:
            return stem
        if stem in _FOLDED:
            return _FOLDED[stem]
    return folded[:-1] if len(folded) > 2 and folded[-1] == "s" else folded


def _units_behind(text: str) -> tuple[str, ...]:
    """The units behind a number: one, or a magnitude and what it is of, as in ``Mio. EUR``."""
    unit = _unit(text)
    found = None if unit in _UNITS else _MAGNITUDE.fullmatch(text.strip())
    if found and _unit(found[2]) in _UNITS:  # T€ are thousands
        return "k" if found[1] == "T" else _unit(found[1]), _unit(found[2])
    return (unit,)


def _factors(units: Sequence[str]) -> dict[str, float]:
    """What a number with each unit is multiplied by: the first unit of a family counts 1."""
    factors: dict[str, float] = {}
    firsts: dict[str, float] = {"times": 1.0}
    for given in units:
        unit = _unit(given)
        family, size = _UNITS.get(unit, (unit, 1.0))
        factors[unit] = size / firsts.setdefault(family, size)
    for negative, positive in _OPPOSITES:
        if {negative, positive} <= factors.keys():
            factors |= {negative: -1.0, positive: 1.0}
    if factors.keys() & _THOUSANDS:
        factors |= {unit: size for unit, size in _BESIDE_THOUSANDS.items() if unit in factors}
    return factors


# Numbers ----------------------------------------------------------------------------------


class _Cell(NamedTuple):
    """What one cell says: its number with a decimal point and with a decimal comma.

    ``mark`` is the evidence for the column's decimal mark: "." or "," where the cell leaves no
    choice, ".?" or ",?" where it does (1,234), "0" for thousands without a mark, else "".
    """

    value: float
    other: float
    mark: str = ""
    units: tuple[str, ...] = ()
    remark: str = ""
    part: int = 0  # the whole of a fraction
    width: float = 0.0  # of a range


_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.(\d+))?")
_ABOUT = (
    r"[<>≤≥~≈∼±⩽⩾]=?|=|(?:ca|circa|approx|approximately|about|around|over|under|above|below|up to|"
    r"at least|at most|more than|less than|etwa|rund|über|unter|ab|bis|bis zu|mehr als|weniger als|"
    r"mind|max|min|environ)\b\.?"
)
_NUMBER = re.compile(
    rf"[*†‡]?\s*(?P<about>{_ABOUT})?\s*(?P<sign>[-+])?\s*"
    r"(?P<before>[^\d\s.,'+\-()<>=/:_\[\]*\"][^\d+\-()<>=/:\[\]*\"]{0,11}?)??(?P<gap>\s*[:=]?\s*)(?P<inner>[-+])?\s*"
    r"(?P<core>\d+(?:[.,' _]\d+)*|(?<![^\W\d_])[.,]\d+)"
    r"(?:[ed](?P<power>[-+]?\d{1,3})|\s?[x×*·]\s?10(?:\^|\*\*)?(?P<ten>[-+]?\d{1,3}))?"
    r"(?:[.,](?:-{1,2})?|/-|:-)?(?P<tail>[-+])?\s*"
    r"(?P<after>[^\d\s.,'+\-()<>=:\[\]*†‡§¹²³⁴⁵⁶⁷⁸⁹⁰\"][^\d+\-()<>=:\[\]*†‡§\"]{0,19}(?:(?<=[a-z])\^?[23])?)?"
    r"\s*(?:[*†‡§¹²³⁴⁵⁶⁷⁸⁹⁰]|\[\w{1,3}\]|\(\D{1,15}\)|(?<=\s)\([^()]{1,30}\)|\+|(?:±|\+/?-)\s?[\d.,]+)*",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"(\D{0,6}?)\(([^()]*\d[^()]*)\)(\D{0,12})")
_GROUPS = re.compile(r"[1-9]\d{0,2}([.,' _])\d{3}(?:\1\d{3})*|[1-9]\d?(?:,\d\d)+,\d{3}")
_STARS = re.compile(r"([★⭐]\ufe0f?)+☆*")
_RANGE = re.compile(
    r"(.*?\d.*?)\s*(?:-|\bto\b|\bbis\b|\bà\b|\ba\b|\.{2,3}|\band\b|\bund\b)\s*(\D{0,4}\d.*)"
)
_FRACTION = re.compile(
    r"([-+])?(?:(\d+)\s+)?(\d+(?:[.,]\d+)?)\s*(?:/|of|out of|von|sur)\s*(\d+)"
    r"(?:\s(?:stars?|points?|Sterne|Punkte))?"
)
_BETWEEN = re.compile(r"(?:between|from|zwischen|von|entre|de)\s+(?=\d)", re.IGNORECASE)
_INTERVAL = re.compile(
    r"(?:\[(?!.*\]$)|\((?!.*\)$)|\[(?=.*\d,\s))\s*(.+?)\s*(?:;|,|(?<=\d)-)\s*([^,;]+?)\s*[\])]"
)
_FEET = re.compile(
    r"""(\d{1,2})\s*(?:'|ft\.?|feet)\s*(1[01]|\d(?:\.\d+)?)\s*(?:"|''|in\.?|inches)?"""
)


def _number(text: str) -> _Cell | None:
    """What a cell says as a number, or None.

    ``(12)``, ``12-`` and ``12 CR`` are negative, ``12 DR`` is positive; a bound such as ``>250`` is
    its number, a range its middle, ``4/5`` and ``4 of 5`` a share, stars are counted.

    Examples
    --------
    >>> _number("1.250,5 EUR").value, _number("1,234")[:3], _number("(45.76)").value
    (1250.5, (1234.0, 1.234, ',?'), -45.76)
    >>> _number("10-20").value, _number("INV-00012"), _number("1.2.3")
    (15.0, None, None)
    """
    plain = _PLAIN.fullmatch(text)
    if plain:
        value, decimals = float(text), plain[1]
        if decimals is None:
            return _Cell(value, value, "0" if abs(value) >= 1000 else "")
        if len(decimals) != 3 or not 1 <= abs(value) < 1000:
            return _Cell(value, value, ".")
        return _Cell(value, float(text.replace(".", "")), ".?")
    text = _clean(text)
    if len(text) > _LONGEST:
        return None
    is_negative = False
    if "(" in text:
        found = _IN_BRACKETS.fullmatch(text)
        if found:
            is_negative, text = True, found[1] + found[2] + found[3]
    found = _NUMBER.fullmatch(text)
    cell = _whole(found) if found else None
    if cell is None:
        cell = _composed(text)
    if cell is None or not is_negative:
        return cell
    return cell._replace(value=-cell.value, other=-cell.other)


def _whole(found: re.Match[str]) -> _Cell | None:
    """The number of a cell that holds one number, its signs and its units."""
    before, after, core = found["before"], found["after"], found["core"]
    units = _units_before(before, is_apart=bool(found["gap"])) if before else ()
    is_negative = "-" in ((found["sign"] or "") + (found["inner"] or "") + (found["tail"] or ""))
    if after:
        folded = after.strip(" .").casefold()
        if folded in {"cr", "dr"}:
            is_negative ^= folded == "cr"
        elif not (folded in {"st", "nd", "rd", "th", "º", "ª"} and core.isdigit()):
            units = None if units is None else units + _units_behind(after)
    is_phone = found["sign"] == "+" and (core.count(" ") > 1 or (core + " ").find(" ") > 8)
    if is_phone or (found["tail"] and (found["sign"] or found["inner"])):  # -1-
        return None
    digits = _digits(core, found["power"] or found["ten"] or "")
    if digits is None or units is None:
        return None
    value, other, mark = digits
    remark = "bound" if found["about"] not in {None, "="} or found[0][-1] == "+" else ""
    if is_negative:
        value, other = -value, -other
    return _Cell(value, other, mark, units, remark)


def _units_before(text: str, *, is_apart: bool) -> tuple[str, ...] | None:
    """The unit before a number, as far as it is one."""
    unit = _unit(text)
    if _stands_before(unit, is_apart=is_apart):
        return () if _UNITS[unit][0] == "number" else (unit,)
    # a word before numbers, as in score: 12.5, but C123 and INV-00012 are codes
    return (f"{text.casefold()}:",) if is_apart else None


def _stands_before(unit: str, *, is_apart: bool = False) -> bool:
    """Whether a unit stands before numbers: percent, ``#`` or a currency; letters only apart."""
    is_letter = unit in {"R", "p", "ct", "Fr", "TL", "no", "nr"}
    family = _UNITS.get(unit, ("", 0.0))[0]
    return (family in _CURRENCIES | {"%", "number"}) and (is_apart or not is_letter)


def _digits(core: str, power: str) -> tuple[float, float, str] | None:
    """The number of digits and marks with a decimal point and with a comma, and the evidence."""
    last = max(core.rfind("."), core.rfind(","))
    mark = core[last] if last >= 0 else ""
    head, decimals = (core[:last], core[last + 1 :]) if mark else (core, "")
    if head.isdigit() or not head:  # at most one mark
        value = float(f"{head or 0}.{decimals or 0}e{power or 0}")
        if not mark:
            return value, value, "0" if len(core) > 3 else ""
        if len(decimals) != 3 or len(head) not in {1, 2, 3} or head[0] == "0" or power:
            return value, value, mark
        whole = float(head + decimals)
        return (value, whole, ".?") if mark == "." else (whole, value, ",?")
    groups = _GROUPS.fullmatch(core)
    if groups:  # all marks stand between thousands
        value = float("".join(filter(str.isdigit, core)) + f"e{power or 0}")
        return value, value, {".": ",", ",": "."}.get(mark, "")
    if not _GROUPS.fullmatch(head) or mark in head or not decimals.isdigit():
        return None
    value = float("".join(filter(str.isdigit, head)) + f".{decimals}e{power or 0}")
    return value, value, mark


def _composed(text: str) -> _Cell | None:
    """The number of a range, a fraction, a length in feet and inches, or of stars."""
    found = _FRACTION.fullmatch(text)
    if found and int(found[4]):
        value = int(found[2] or 0) + float(found[3].replace(",", ".")) / int(found[4])
        value = -value if found[1] == "-" else value
        return _Cell(value, value, remark="fraction", part=int(found[4]))
    found = _FEET.fullmatch(text)
    if found:
        value = int(found[1]) + float(found[2]) / 12
        return _Cell(value, value, units=("ft",))
    if _STARS.fullmatch(text):
        value = float(text.count("★") + text.count("⭐"))
        return _Cell(value, value)
    found = _INTERVAL.fullmatch(text) or _RANGE.fullmatch(_BETWEEN.sub("", text))
    return _range(found) if found else None


def _range(found: re.Match[str]) -> _Cell | None:
    """The middle of two numbers, of which the second is the larger."""
    ends = [_NUMBER.fullmatch(part) for part in found.groups()]
    low, high = (_whole(end) if end else None for end in ends)
    if low is None or high is None or low.value >= high.value or low.other >= high.other:
        return None  # 3-2 is a result, not a range
    if low.units and low.units != high.units and high.units:
        return None
    marks = {low.mark, high.mark} - {"", "0"}
    mark = marks.pop() if len(marks) == 1 else ""
    middle, other = (low.value + high.value) / 2, (low.other + high.other) / 2
    return _Cell(
        middle, other, mark, high.units or low.units, "range", width=2 * (high.value - middle)
    )


def _number_reader(how: ColumnSchema) -> Callable[[str], float | None]:
    """What reads one cell of a column of numbers; None is misread."""
    factors = _factors(how.units)
    has_point = how.decimal == "."
    plain = re.compile(r"-?\d+(?:\.\d+)?" if has_point else r"-?\d+").fullmatch
    # Most cells of most columns: a number with one unit that is not converted.
    between, mark = (",", r"\.") if has_point else (r"\.", ",")
    behind = [name for name in how.units if factors[_unit(name)] == 1]
    before, unit = (
        "|".join(map(re.escape, names)) or "(?!)"
        for names in ([name for name in behind if _stands_before(_unit(name))], behind)
    )
    digits = rf"(\d+|[1-9]\d{{0,2}}(?:{between}\d{{3}})+)(?:{mark}(\d+))?"
    quick = re.compile(rf"(-?)(?:(?:{before}) ?)?{digits}(?: ?(?:{unit}))?").fullmatch
    drop = "," if has_point else "."

    def read_cell(text: str) -> float | None:
        if plain(text):
            return float(text)
        found = quick(text)
        if found:
            return float(f"{found[1]}{found[2].replace(drop, '')}.{found[3] or 0}")
        cell = _number(text)
        if cell is None:
            return None
        value = cell.value if has_point else cell.other
        for name in cell.units:
            if name not in factors:
                return None
            value *= factors[name]
        return value

    return read_cell


# Dates ------------------------------------------------------------------------------------

_MONTH_NAMES = (
    "january januar jänner janvier enero gennaio janeiro januari jan ene gen janv|"
    "february februar février febrero febbraio fevereiro februari feb févr fev fevr fevrier|"
    "march märz mars marzo março maart mar mär mrz mrt marco maerz|"
    "april avril abril aprile apr avr abr|may mai mayo maggio maio mei mag|"
    "june juni juin junio giugno junho jun giu|july juli juillet julio luglio julho jul juil lug|"
    "august août agosto augustus aug aou ago aout|"
    "september septembre septiembre settembre setembro sep sept set|"
    "october oktober octobre octubre ottobre outubro oct okt ott out|"
    "november novembre noviembre novembro nov|"
    "december dezember décembre diciembre dicembre dezembro dec dez déc dic decembre"
)
_MORE_MONTH_NAMES = (
    "ocak sty stycznia января янв|şubat lut lutego февраля фев|mart marts marca марта мар|"
    "nisan kwi kwietnia апреля апр|maj mayıs maja мая|haziran cze czerwca июня июн|"
    "temmuz lip lipca июля июл|augusti ağustos sie sierpnia августа авг|"
    "eylül wrz września сентября сен|ekim paź października октября окт|"
    "kasım lis listopada ноября ноя|aralık gru grudnia декабря дек"
)
_MONTHS = {
    name: place + 1
    for months in (_MONTH_NAMES, _MORE_MONTH_NAMES)
    for place, names in enumerate(months.split("|"))
    for name in names.split()
}
_MON = "(?P<mon>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")(?![^\W\d_])\.?"
_DAYNAME = r"(?:[^\W\d_]{2,10}\.?,?\s+)?"
_YEAR = r"'?(?P<y>\d{4}|\d{2})"
_D = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|º)?"
_REST = r"(?P<rest>[T,:\s]+(?:at|um|à)?\s*\d.*)?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        (
            rf"{_DAYNAME}(?P<y>\d{{4}})([-/._]\s?)"
            rf"(?P<m>\d{{1,2}})\2(?P<d>\d{{1,2}})[-.]?\s?{_REST}"
        ),
        (
            rf"{_DAYNAME}(?P<a>\d{{1,2}})\s?(?P<sep>[-/.])\s?"
            rf"(?P<b>\d{{1,2}})\s?(?P=sep)\s?{_YEAR}\.?{_REST}"
        ),
        rf"{_DAYNAME}{_D}[-\s./]*(?:de\s+|of\s+)?{_MON}[-\s./,]*(?:del?\s+)?{_YEAR}{_REST}",
        rf"{_DAYNAME}{_MON}[-\s./]*{_D},?[-\s/]+(?P<y>\d{{4}}){_REST}",
        rf"(?P<y>\d{{4}})[-\s./]*{_MON}(?:[-\s./]*{_D}{_REST})?",
        rf"{_MON}[-\s./,]*(?:del?\s+)?{_YEAR}",
        r"(?P<y>\d{4})[-/M](?P<m>\d{1,2})-?",
        r"(?P<y>\d{4})-(?P<yd>[0-3]\d\d)",
        r"(?P<m>\d{1,2})[-/.](?P<y>\d{4})|(?P<m2>0[1-9]|1[0-2])[-/](?P<y2>\d\d)",
        r"FY\s?'?(?P<y>\d{4}|\d{2})(?:[-/]\d{2,4})?",
        r"(?P<y>\d{4})[-\s/.]*H(?P<h>[12])|H(?P<h2>[12])[-\s/.]*(?P<y2>\d{4})",
        (
            rf"(?:Q|T)(?P<q>[1-4])(?!\d\d$)[-\s/.]*{_YEAR}|"
            r"(?P<q2>[1-4])(?:Q|\.\s?Quartal)[-\s/.]*'?(?P<y2>\d{4}|\d{2})"
        ),
        r"(?P<y>\d{4})[-\s/.]*[QT](?P<q>[1-4])",
        r"(?P<y>\d{4})[-\s/]*(?:W|KW\s*)(?P<w>\d{1,2})(?:-?(?P<wd>[1-7]))?",
        r"(?:W|KW|CW|Week|Woche)\s*(?P<w>\d{1,2})[-\s/,]+(?P<y>\d{4})",
        r"(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?P<rest>T?\d{4,6}(?:Z|[-+]\d{4})?)?",
        (
            rf"[a-z]{{3}}\s+{_MON}\s+{_D}(?P<rest>\s\d\d:\d\d:\d\d)\s"
            rf"(?:(?:[A-Z]{{3,4}}|[-+]\d{{4}})\s)?(?P<y>\d{{4}})"
        ),
    )
)
_TIME_FIRST = re.compile(
    r"(\d\d?:\d\d(?::\d\d)?(?:\s?[ap]m)?)[,\s]+(\D{0,12}\d[^:]*)", re.IGNORECASE
)
_DAY_BEHIND = re.compile(r"(.*\d.*?)\s*\([^\W\d_]{2,12}\.?\)")
_TIME_OF_DAY = re.compile(
    r"[T,:\s]*(?:at|um|à)?\s*(\d{1,2})(?:[:.h]?(\d{2})(?:[:.]?(\d{2})(?:[.,:](\d{1,9}))?)?)?"
    r"\s*(?:([ap])\.?m\.?)?\s*(?:uhr|h)?\s*(Z|UTC|GMT|[A-Z]{3,4}|[A-Z]\w+/\w+|(?:UTC|GMT)?\s?[-+]\d\d:?(?:\d\d)?)?"
    r"(?:\[[\w/+-]+\]|\s\([\w\s]+\))?",
    re.IGNORECASE,
)


class _Day(NamedTuple):
    """Days since 1970 with the day first and with the month first; NaN where there is no such."""

    day_first: float
    month_first: float
    mark: str = ""  # between day and month, where their order is open
    parts: tuple[int, int, int] = (0, 0, 0)
    is_short: bool = False  # of two digits of the year


def _date(text: str) -> _Day | None:
    """What a cell says as a date, or None.

    Examples
    --------
    >>> _date("1970-01-02 12:00").day_first, _date("2 Jan 1970").day_first, _date("Q1 1970")[0]
    (1.5, 1.0, 0.0)
    >>> _date("3/1/1970")[:3], _date("31.02.1970"), _date("soon")
    ((2.0, 59.0, '/'), None, None)
    """
    if text[4:5] == "-" and text[5:6] != "W" and len(text) > 9:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            since = moment.replace(tzinfo=moment.tzinfo or UTC) - _START
            days = since / timedelta(days=1)
            return _Day(days, days)
    text = _clean(text)
    if len(text) > _LONGEST:
        return None
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            parts = {key: part for key, part in found.groupdict().items() if part}
            day = _as_day(parts)
            return day and day._replace(is_short=len(parts.get("y") or parts["y2"]) == 2)
    found = _TIME_FIRST.fullmatch(text)
    if found:
        return _date(f"{found[2]} {found[1]}")
    found = _DAY_BEHIND.fullmatch(text)
    return _date(found[1]) if found else None


_START = datetime(1970, 1, 1, tzinfo=UTC)


def _as_day(parts: dict[str, str]) -> _Day | None:
    """The date of its parts: year, month and day, quarter, week, or numbers in either order."""
    written = parts.get("y") or parts["y2"]
    year = int(written)
    seconds = _seconds(parts["rest"]) if "rest" in parts else 0.0
    if seconds is None:
        return None
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        day_first, month_first = _days(year, second, first), _days(year, first, second)
        last = int(written) if len(written) == 2 else 99
        if all(map(math.isnan, (day_first, month_first, _days(first, second, last)))):
            return None
        share = seconds / _DAY
        return _Day(day_first + share, month_first + share, parts["sep"], (first, second, last))
    quarter = parts.get("q") or parts.get("q2")
    half = parts.get("h") or parts.get("h2")
    month = int(parts.get("m") or parts.get("m2") or 1)
    if "mon" in parts:
        month = _MONTHS[parts["mon"].casefold()]
    elif quarter or half:
        month = 3 * int(quarter) - 2 if quarter else 6 * int(half or 1) - 5
    days = _days(year, month, int(parts.get("d", 1))) + seconds / _DAY
    if "yd" in parts:
        days += int(parts["yd"]) - 1 if 1 <= int(parts["yd"]) <= 366 else math.nan
    if "w" in parts:  # the first week of a year is the one that holds 4 January
        monday = 7 * int(parts["w"]) - 5 - (days + 6) % 7
        days += monday + int(parts.get("wd", 1)) if 1 <= int(parts["w"]) <= 53 else math.nan
    return None if math.isnan(days) else _Day(days, days)


def _days(year: int, month: int, day: int) -> float:
    """Days since 1970, NaN where there is no such date."""
    if year < 100:  # two digits, as in C and Python
        year += 2000 if year < 69 else 1900
    try:
        return float(date(year, month, day).toordinal() - _EPOCH)
    except ValueError:
        return math.nan


def _seconds(text: str) -> float | None:
    """Seconds since midnight in UTC of a time of day, None where it is none."""
    found = _TIME_OF_DAY.fullmatch(text)
    if not found:
        return None
    hour, minute, second, fraction, half, zone = found.groups()
    if half and int(hour) > 12:
        return None
    hours = int(hour) % 12 + (12 if half in "pP" else 0) if half else int(hour)
    if hours > 24 or int(minute or 0) > 59 or int(second or 0) > 60:
        return None
    total = 3600.0 * hours + 60 * int(minute or 0) + int(second or 0) + float(f".{fraction or 0}")
    offset = re.search(r"([-+])(\d\d):?(\d\d)?", zone or "")
    if offset:
        shift = 3600 * int(offset[2]) + 60 * int(offset[3] or 0)
        total -= shift if offset[1] == "+" else -shift
    return total


# The last and the first days of calendars stand for a date that is not known.
_NEVER = {_days(9999, 12, 31), 1.0 - _EPOCH}

# Times of day and durations ---------------------------------------------------------------

_CLOCK = re.compile(
    r"(?P<sign>[-+])?\s*(?:kl\.?\s?|T)?(?:(?P<days>\d+)\s*(?:d|days?|Tage?)?[,.\s]+)?"
    r"(?P<h>\d+)(?::(?P<m>\d\d))(?::(?P<s>\d\d))?(?:[.,](?P<f>\d+))?\s*(?:(?P<half>[ap])\.?\s?m\.?)?"
    r"\s*(?P<uhr>uhr|h|hrs|Z|[-+]\s?\d\d:\d\d)?",
    re.IGNORECASE,
)
_OTHER_CLOCK = re.compile(
    r"(?P<h>\d{1,2})(?:(?:\s?h\s?|\.)(?P<m>\d\d))?\s*(?:(?P<half>[ap])\.?\s?m\.?|(?P<uhr>uhr)|(?<=h\d\d)|"
    r"(?<=h \d\d))",
    re.IGNORECASE,
)
_LENGTHS = re.compile(r"(\d+(?:[.,]\d+)?)\s*([^\W\d_]+)\.?[,\s]*(?:and\s|und\s)?")
_SPAN = re.compile(rf"(?P<sign>[-+])?\s*P?T?(?P<lengths>(?:{_LENGTHS.pattern}T?)+)", re.IGNORECASE)


def _clock(text: str) -> tuple[float, bool] | None:
    """Hours of a time of day or a duration and whether it can be a time of day; or None.

    Examples
    --------
    >>> _clock("2:30 PM"), _clock("1h 10m")[1], _clock("125:10")[1], _clock("-00:06:00")
    ((14.5, True), False, False, (-0.1, False))
    """
    text = _clean(text)
    if len(text) > _LONGEST:
        return None
    found = _CLOCK.fullmatch(text) or _OTHER_CLOCK.fullmatch(text)
    if not found:
        return _span(text)
    parts = found.groupdict()
    fraction = float(f".{parts.get('f') or 0}")
    hours, minutes, seconds = (float(parts.get(key) or 0) for key in "hms")
    if parts.get("f") and not parts["s"]:  # minutes and seconds of a race
        hours, minutes, seconds = 0.0, hours, minutes
    if (hours and minutes > 59) or seconds > 60:
        return None
    if parts["half"]:
        if hours > 12:
            return None
        hours = hours % 12 + (12 if parts["half"] in "pP" else 0)
    total = 24 * float(parts.get("days") or 0) + hours + minutes / 60 + (seconds + fraction) / 3600
    is_time = total <= 24 and not parts.get("sign") and not parts.get("days")
    if (parts["half"] or parts["uhr"]) and not is_time:
        return None
    return (-total if parts.get("sign") == "-" else total), is_time


def _span(text: str) -> tuple[float, bool] | None:
    """Hours of a duration with units, such as ``1h 10m`` or ``PT1H10M``."""
    found = _SPAN.fullmatch(text)
    if not found:
        return None
    total, is_iso = 0.0, "P" in text[:2]
    lengths = _LENGTHS.findall(found["lengths"].replace("T", " ") if is_iso else found["lengths"])
    for amount, name in lengths:
        is_minute = name in {"m", "M"} and (len(lengths) > 1 or is_iso)
        family, hours = _UNITS.get("min" if is_minute else _unit(name), ("", 0.0))
        if family != "time" or (hours > 200 and len(lengths) == 1):
            return None
        total += float(amount.replace(",", ".")) * hours
    return (-total if found["sign"] == "-" else total), False


# Reading ----------------------------------------------------------------------------------


def read(texts: Sequence[str], how: ColumnSchema) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values of texts, NaN where missing, and which texts were misread, which are missing, too.

    Booleans are 1 and 0; dates days since 1970 with the time of day as a fraction, in UTC where an
    offset is given; times of day and durations hours.

    Examples
    --------
    >>> how = ColumnSchema("price", "number", decimal=",", units=("EUR",))
    >>> values, misread = read(["1.250,5 EUR", "n/a", "12,5o"], how)
    >>> values.tolist(), misread.tolist()
    ([1250.5, nan, nan], [False, False, True])
    """
    read_cell = _reader(_as_written(texts[:_SAMPLE], how))
    missing = SPELLINGS.union(_clean(word).casefold() for word in how.missing)
    values = np.full(len(texts), np.nan)
    misread = np.zeros(len(texts), dtype=bool)
    if how.kind in {"category", "empty"}:
        return values, misread
    for place, text in enumerate(texts):
        value = read_cell(text)
        if (
            value is not None
            and -math.inf < value < math.inf
            and not (how.missing and _clean(text).casefold() in missing)
        ):
            values[place] = value
        elif _clean(text).casefold() not in missing:
            misread[place] = True
    if how.codes:
        values[np.isin(values, how.codes)] = np.nan
    return values, misread


def _as_written(texts: Sequence[str], how: ColumnSchema) -> ColumnSchema:
    """The column as it is written here: with another mark in all decimals, or in another form.

    A later file may have 12,5 and 1,234 in place of 12.5 and 1.234, or 3/31/2024 for 31/3/2024.
    """
    if how.kind == "number":
        other = "," if how.decimal == "." else "."
        sizes = Counter(cell.mark for cell in map(_number, texts) if cell)
        return replace(how, decimal=other) if sizes[other] > 9 and not sizes[how.decimal] else how
    if how.kind == "date" and how.order in {"", "day-first", "month-first"}:
        days = [_date(text) for text in texts]
        sizes = Counter((_only_order(day) or "").removeprefix(".") for day in days)
        other = {"day-first": "month-first", "month-first": "day-first"}.get(how.order, "")
        if sizes[other] > 9 and not sizes[how.order] and other:
            return replace(how, order=other)
        if not how.order and any(day and day.mark for day in days):
            cells = _Cells(how.name, list(texts), np.ones(len(texts), dtype=np.int64), Hints())
            return replace(how, order=_decide_order(cells, days)[0])
    return how


def _reader(how: ColumnSchema) -> Callable[[str], float | None]:
    if how.kind == "number":
        return _number_reader(how)
    if how.kind == "boolean":
        return lambda text: {"true": 1.0, "false": 0.0}.get(text.strip().casefold())
    if how.kind == "date":
        return lambda text: _ordered(_date(text), how.order, how.first_year)
    is_time = how.kind == "time"

    def read_clock(text: str) -> float | None:
        found = _clock(text)
        return None if found is None or (is_time and not found[1]) else found[0]

    return read_clock


def _ordered(day: _Day | None, order: str, first_year: int = 1969) -> float | None:
    """The day that a date is in the order of its column, and in the century."""
    if day is None:
        return None
    is_day_first = order == "day-first" or (order == "mixed" and day.mark == ".")
    value = day.day_first if is_day_first else day.month_first
    if day.mark and order == "year-first":
        value = _days(*day.parts)
    if math.isnan(value):
        return None
    if day.is_short and first_year != 1969:
        begin = _days(first_year, 1, 1)
        value += _CENTURY * ((value < begin) - (value >= begin + _CENTURY))
    return value


_CENTURY = 36_525  # days, from any of the years that two digits mean


# Inference --------------------------------------------------------------------------------


class _Cells(NamedTuple):
    """The different texts of a column that are not missing, and how often each occurs."""

    name: str
    texts: list[str]
    counts: NDArray[np.int64]
    hints: Hints

    def some(self, size: int) -> _Cells:
        """About so many texts: the most frequent and some of all the others."""
        if len(self.texts) <= size:
            return self
        first = np.argsort(-self.counts, kind="stable")[: size // 2]
        places = np.union1d(first, np.arange(0, len(self.texts), -(-2 * len(self.texts) // size)))
        return self._replace(texts=[self.texts[k] for k in places], counts=self.counts[places])

    def look_like(self, parse: Callable[[str], Any]) -> bool:
        """Whether a tenth of some texts can be parsed, so that all are worth the time."""
        texts = self.some(_SAMPLE).texts
        return 10 * sum(parse(text) is not None for text in texts) >= len(texts)

    def tally(self, keys: Iterable[Any]) -> Counter[Any]:
        """How many cells have each key; one of None is not counted."""
        sizes: Counter[Any] = Counter()
        for key, size in zip(keys, self.counts.tolist(), strict=True):
            if key is not None:
                sizes[key] += size
        return sizes


class _Guess(NamedTuple):
    """A column of some kind, before it is known how many of its cells fit."""

    column: ColumnSchema
    is_unclear: bool = False
    notes: tuple[str, ...] = ()
    least: float = _ENOUGH  # share of the cells that must fit


def infer(
    name: str,
    texts: Sequence[str],
    counts: NDArray[np.int64],
    hints: Hints = Hints(),  # noqa: B008
) -> Inferred:
    """Find out how the cells of a column are written.

    ``texts`` are the different cells in the order of their first appearance, ``counts`` says how
    often each occurs. Where at least 95 % of the cells that are not missing fit a kind, the column
    is of that kind; also where at least half do and all others are at most five words, which are
    then words for missing.

    Examples
    --------
    >>> found = infer("price", ["$1,250.00", "12%", "12,5o"], np.array([99, 99, 2]))
    >>> found.column.kind, found.column.units, found.n_misread, found.misread
    ('number', ('$', '%'), 2, '12,5o')
    """
    counts = np.asarray(counts, dtype=np.int64)
    known = np.array([_clean(text).casefold() not in SPELLINGS for text in texts], dtype=bool)
    given = [text for text, is_known in zip(texts, known, strict=True) if is_known]
    cells = _Cells(name, given, counts[known], hints)
    notes: tuple[str, ...] = ()
    nearest = 0.5
    for kind in [hints.kind] if hints.kind else list(_GUESSES) if given else []:
        guess = _GUESSES[kind](cells) if kind in _GUESSES else None
        if guess and guess.column.kind == "category":
            notes = guess.notes
        elif guess:
            found, share = _settle(guess, texts, counts, known, is_forced=hints.kind is not None)
            if found.column.kind != "category":
                return found
            if share >= nearest:
                nearest, notes = share, found.notes
    is_missing = np.array([is_missing_word(text) for text in texts], dtype=bool)
    column = ColumnSchema(name, "empty" if is_missing.all() else "category")
    return Inferred(column, int(counts[is_missing].sum()), 0, "", False, notes)


def _settle(
    guess: _Guess,
    texts: Sequence[str],
    counts: NDArray[np.int64],
    known: NDArray[np.bool_],
    *,
    is_forced: bool,
) -> tuple[Inferred, float]:
    """The column, a category where too few cells fit, and the share that do."""
    column, notes = guess.column, list(guess.notes)
    name, plural = column.name, column.kind.replace("y", "ie") + "s"
    values, misread = read(texts, column)
    places: list[int] = np.flatnonzero(misread).tolist()
    fits = known & ~misread
    share = float(counts[fits].sum() / max(counts[known].sum(), 1))
    if not is_forced and share < guess.least:
        words = [texts[place] for place in places]
        are_words = len(words) <= _MISSING_WORDS and all(map(_WORD.match, words))
        n_values = np.unique(values[fits]).size
        if share < 0.5 or not are_words or n_values <= min(20, 10 * len(words)):
            note = (
                f"{name}: {math.floor(100 * share)} % of the cells are {plural}, the others (such "
                f"as {words[0]!r}) are not; read as categories (--type {name}={column.kind} reads "
                f"{plural})."
            )
            column = replace(column, kind="category")
            return Inferred(column, 0, 0, "", False, (note,)), share
        column = replace(column, missing=(*column.missing, *words))
        named = ", ".join(f"{texts[place]!r} ({counts[place]:,} cells)" for place in places)
        notes.append(f"{name}: words among {plural} count as missing: {named}.")
        misread = np.zeros_like(misread)
    codes = infer_codes(values, counts) if column.kind == "number" else ()
    if codes:
        column = replace(column, codes=codes)
        is_code = np.isin(values, codes)
        values[is_code] = np.nan
        notes.append(note_on_codes(name, codes, int(counts[is_code].sum())))
    n_misread = int(counts[misread].sum())
    n_missing = int(counts[np.isnan(values)].sum()) - n_misread
    first = texts[places[0]] if n_misread else ""
    return Inferred(column, n_missing, n_misread, first, guess.is_unclear, tuple(notes)), share


_WORD = re.compile(r"\D*$|[^\W\d_]{3}")


def _guess_boolean(cells: _Cells) -> _Guess | None:
    words = {text.strip().casefold() for text in cells.some(_SAMPLE).texts}
    is_one = words & {"true", "false"} or cells.hints.kind
    return _Guess(ColumnSchema(cells.name, "boolean")) if is_one else None


def _guess_date(cells: _Cells) -> _Guess | None:
    """Dates, if some are; the order of day and month is decided from all cells."""
    name, hints = cells.name, cells.hints
    if not hints.kind and not cells.look_like(_date):
        return None
    cells = cells.some(_MANY)
    days = [_date(text) for text in cells.texts]
    if not hints.kind and any(
        day is None and text.strip().isdigit() for text, day in zip(cells.texts, days, strict=True)
    ):
        return None  # numbers, some of which could be dates
    never = {text for text, day in zip(cells.texts, days, strict=True) if day and day[0] in _NEVER}
    column = ColumnSchema(name, "date", order=hints.order or "", missing=tuple(never))
    notes = [f"{name}: {text!r} stands for no date and counts as missing." for text in never]
    first = _first_year(days)
    if first != 1969:
        column = replace(column, first_year=first)
        notes.append(f"{name}: years of two digits are those from {first} to {first + 99}.")
    if hints.order or not any(day and day.mark for day in days):
        return _Guess(column, notes=tuple(notes))
    order, is_unclear, more = _decide_order(cells, days)
    # dates all right, if in two orders, are worth more as dates than as words
    is_date = [bool(day) for day in days]
    least = 0.5 if cells.counts[is_date].sum() >= _ENOUGH * cells.counts.sum() else _ENOUGH
    return _Guess(replace(column, order=order), is_unclear, (*notes, *more), least)


def _first_year(days: list[_Day | None]) -> int:
    """The first year of two digits: behind the widest gap, where 1969 would part them.

    Examples
    --------
    >>> _first_year([_date(f"5 Aug {year % 100:02d}") for year in range(1939, 2014)])
    1939
    """
    short = (day for day in days if day and day.is_short)
    years = sorted({_year(day) % 100 for day in short})
    is_parted = max((year for year in years if year < 69), default=0) >= 36
    if len(years) < 5 or not is_parted or years[-1] < 69:
        return 1969
    nexts = [*years[1:], years[0] + 100]
    gap, first = max((after - year, after) for year, after in zip(years, nexts, strict=True))
    return 1900 + first % 100 if gap > 5 and first % 100 < 69 else 1969


def _year(day: _Day) -> int:
    known = day.month_first if math.isnan(day.day_first) else day.day_first
    return day.parts[2] if math.isnan(known) else date.fromordinal(int(known) + _EPOCH).year


def _decide_order(cells: _Cells, days: list[_Day | None]) -> tuple[str, bool, tuple[str, ...]]:
    """The order of day, month and year, whether it is assumed, and a note."""
    sizes = cells.tally(_only_order(day) for day in days)  # of cells that leave no choice
    points = sizes[".day-first"] - sizes[".month-first"]
    others = sizes["day-first"] - sizes["month-first"]
    parts = [day.parts for day in days if day and day.mark]
    has_points = any(day and day.mark == "." for day in days)
    firsts, seconds, lasts = (len({part[place] for part in parts}) for place in range(3))
    can_be_years = not any(math.isnan(_days(*part)) for part in parts)
    # 99-12-31, or few years before many days
    if can_be_years and (sizes["year-first"] or (lasts >= 3 * firsts and lasts > 9)):
        return "year-first", False, ()
    of_points = "month-first" if points < 0 else "day-first"
    if all(day.mark == "." for day in days if day and day.mark):
        return of_points, False, ()
    if others:
        order = "day-first" if others > 0 else "month-first"
        note = f"{cells.name}: some dates have the day first, others the month; read {order}."
        are_both = sizes["day-first"] and sizes["month-first"]
        is_mixed = has_points and of_points == "day-first" != order
        return "mixed" if is_mixed else order, False, (note,) if are_both else ()
    # one month of days: the number that changes is the day
    order = "day-first" if has_points or firsts >= 3 * seconds else "month-first"
    other = "month-first" if order == "day-first" else "day-first"
    note = (
        f"{cells.name}: day and month can be either way; read {order} (--dates {other} reverses)."
    )
    return order, True, (note,)


def _only_order(day: _Day | None) -> str | None:
    """The order of a date that can have but one, after a point if points are in it."""
    if day is None or not day.mark or not (math.isnan(day[0]) or math.isnan(day[1])):
        return None
    if math.isnan(day[0]) and math.isnan(day[1]):
        return "year-first"
    return day.mark.strip("-/ ") + ("month-first" if math.isnan(day[0]) else "day-first")


def _guess_clock(cells: _Cells) -> _Guess | None:
    """Times of day, or durations where most cells can be no time of day."""
    name, kind = cells.name, cells.hints.kind
    if kind or not cells.look_like(_clock):
        return _Guess(ColumnSchema(name, kind)) if kind else None
    cells = cells.some(_MANY)
    sizes = cells.tally(found and found[1] for found in map(_clock, cells.texts))
    is_time = sizes[True] >= _ENOUGH * sizes.total()
    return _Guess(ColumnSchema(name, "time" if is_time else "duration"))


def _guess_number(cells: _Cells) -> _Guess | None:
    """Numbers, if some are; the decimal mark and the units are decided from all cells."""
    name, hints = cells.name, cells.hints
    if not hints.kind:
        if not cells.look_like(_number):
            return None
        if _are_codes(cells):
            note = f"{name}: digits with leading zeros, or more than 15, are codes, not numbers."
            return _Guess(ColumnSchema(name, "category"), notes=(note,))
    cells = cells.some(_MANY)
    numbers = [_number(text) for text in cells.texts]
    if not hints.kind and _are_pairs(cells, numbers):
        return None
    units = _accepted_units(cells, numbers)
    mark, is_unclear, notes = _decide_mark(cells, numbers)
    column = ColumnSchema(name, "number", decimal=mark, units=units)
    return _Guess(column, is_unclear, (*notes, *_remarks(cells, numbers, units)))


def _are_codes(cells: _Cells) -> bool:
    """Whether cells are digits alone, of which some have leading zeros or no float holds all."""
    digits = [text.strip().lstrip("'") for text in cells.texts]
    are_parts = [_PART.fullmatch(text) is not None for text in digits]
    if 2 * cells.counts[are_parts].sum() > cells.counts.sum():
        return True
    lengths = np.array([len(text) if text.isdigit() else 0 for text in digits])
    has_zero = np.array([text[:1] == "0" for text in digits], dtype=bool) & (lengths > 1)
    n_cells, n_zero = cells.counts.sum(), cells.counts[has_zero].sum()
    if not lengths.size or cells.counts[lengths > 0].sum() < _ENOUGH * n_cells:
        return False
    is_even = bool(n_zero) and lengths[lengths > 0].min() == lengths.max()
    # as long as the numbers of books, goods and telephones, but no milliseconds since 1970
    is_even |= lengths.min() == lengths.max() >= 12 and digits[0][:1] not in {"1", "2"}
    return bool(lengths.max() > 15 or is_even or n_zero > 0.005 * n_cells)


_PART = re.compile(r"\d+[ED]\d+")  # 12E4 is no number that a program writes


def _are_pairs(cells: _Cells, numbers: list[_Cell | None]) -> bool:
    """Whether what looks like ranges, fractions or bounds are other pairs, or two classes.

    Such as 555-1234, 120/80, or <=50K beside >50K.
    """
    bounds = [cell.value for cell in numbers if cell and cell.remark == "bound"]
    if 2 * len(bounds) >= len(numbers) and len(set(bounds)) < len(bounds):
        return True
    sizes = cells.tally(cell and cell.remark for cell in numbers)
    parts = {cell.part for cell in numbers if cell and cell.part}
    ranges = {cell.value for cell in numbers if cell and cell.remark == "range"}
    if sizes["fraction"] > 0.05 * sizes.total() and len(parts) > 1 and not parts <= _PARTS:
        return True
    widths = {round(cell.width, 6) for cell in numbers if cell and cell.remark == "range"}
    is_regular = len(widths) <= max(6, len(ranges) // 10)  # bins, such as 0-49, 50-99, …
    return len(ranges) > 60 and not is_regular and sizes["range"] > 0.5 * sizes.total()


_PARTS = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64, 100, 1000}


def _accepted_units(cells: _Cells, numbers: list[_Cell | None]) -> tuple[str, ...]:
    """The units of a column, the most frequent first.

    A rare letter behind digits (12,5o) is no unit; currencies, percent signs and magnitudes may be
    rare.
    """
    sizes: Counter[str] = Counter()
    different: Counter[str] = Counter()
    for cell, size in zip(numbers, cells.counts.tolist(), strict=True):
        for unit in cell.units if cell else ():
            sizes[unit] += size
            different[unit] += 1
    total = sum(size for cell, size in zip(numbers, cells.counts.tolist(), strict=True) if cell)
    n_unknown, accepted, families = 0, [], {""}
    for unit, size in sizes.most_common():
        family = _UNITS.get(unit, ("", 0.0))[0]
        is_common = size >= 0.02 * total and (different[unit] > 1 or len(numbers) < 3)
        if not family:
            n_unknown += 1
            is_common &= n_unknown <= 3 and (len(unit) > 1 or 2 * size >= total)
            if unit[-1] == ":":  # Store 12 is a code
                is_common = size >= _ENOUGH * total and _has_decimals(numbers)
        elif family in _CURRENCIES | {"%", "times"} | (families - {""}) or (
            unit in _BESIDE_THOUSANDS and sizes.keys() & _THOUSANDS
        ):
            is_common = True
        if is_common:
            accepted.append(unit)
            families.add(family)
    return tuple(accepted)


def _has_decimals(numbers: list[_Cell | None]) -> bool:
    return any(cell.mark not in {"", "0"} for cell in numbers if cell)


def _decide_mark(cells: _Cells, numbers: list[_Cell | None]) -> tuple[str, bool, tuple[str, ...]]:
    """The decimal mark of a column, whether it is assumed, and notes."""
    name, given = cells.name, cells.hints.decimal
    sizes = cells.tally(cell and cell.mark for cell in numbers)
    if given:
        return given, False, ()
    if sizes[","] or sizes["."]:
        note = f"{name}: some cells have a decimal comma, others a decimal point; each is heeded."
        are_both = sizes[","] and sizes["."]
        return "," if sizes[","] > sizes["."] else ".", False, (note,) if are_both else ()
    # 1.250 beside 300 and 980, but never beside 1300 or 1.25: points between thousands
    n_open = sum(cell.mark in {".?", ",?"} for cell in numbers if cell)
    are_thousands = n_open >= 20 and bool(sizes[""]) and not sizes["0"]
    if not sizes[",?"]:
        if not sizes[".?"] or not are_thousands:
            return ".", False, ()
        note = f"{name}: 1.234 is read as 1234 (--decimal {name}=. reads a decimal point)."
        return ",", True, (note,)
    if sizes["0"]:  # 1234 without a mark, so that of 1,234 is none between thousands
        note = f"{name}: 1,234 is read as 1.234 (--decimal {name}=. reads thousands)."
        return ",", True, (note,)
    note = f"{name}: 1,234 is read as 1234 (--decimal {name}=, reads a decimal comma)."
    return ".", True, (note,)


def _remarks(cells: _Cells, numbers: list[_Cell | None], units: tuple[str, ...]) -> list[str]:
    """Notes on bounds, ranges and different units."""
    notes = []
    for remark, meaning in (("bound", "their number"), ("range", "their middle")):
        places = [k for k, cell in enumerate(numbers) if cell and cell.remark == remark]
        if places:
            example, size = cells.texts[places[0]], int(cells.counts[places].sum())
            many = "cells such as" if size > 1 else "cell, as"
            notes.append(f"{cells.name}: {size:,} {many} {example!r}, read as {meaning}.")
    factors, listed = _factors(units), ", ".join(units)
    families = {_UNITS.get(unit, (unit,))[0] for unit in units} - {"times"}
    negative = [unit for unit, factor in factors.items() if factor < 0]
    if negative:
        notes.append(f"{cells.name}: numbers with {', '.join(negative)} count as negative.")
    elif len(families) > 1:
        notes.append(f"{cells.name}: numbers with {listed} are read alike, whatever their unit.")
    elif families - {"%"} and len(set(factors.values())) > 1:
        notes.append(f"{cells.name}: numbers with {listed} are converted.")
    return notes


_GUESSES: dict[str, Callable[[_Cells], _Guess | None]] = {
    "boolean": _guess_boolean,
    "date": _guess_date,
    "time": _guess_clock,
    "duration": _guess_clock,
    "number": _guess_number,
}

# Codes for missing ------------------------------------------------------------------------

_CODES = {float("9" * n) for n in range(1, 10)} | {float(2**n - 1) for n in (15, 31, 32, 63)}
# Those below zero alone.
_LOW_CODES = {2.0**n for n in (15, 31, 63)} | {99.9, 999.9, 9999.9, 99.99, 77, 777, 88, 888}


def note_on_codes(name: str, codes: Sequence[float], n_coded: int) -> str:
    """Say that numbers count as missing, and how to keep them."""
    words = ", ".join(f"{code:g}" for code in codes)
    what = "cell that stands" if n_coded == 1 else "cells that stand"
    return (
        f"{name}: {words} is read as a code for missing ({n_coded:,} {what} apart); take it out of "
        "the codes of a schema to keep it as a number."
    )


def infer_codes(
    values: NDArray[np.float64], counts: NDArray[np.int64] | None = None
) -> tuple[float, ...]:
    """Numbers at the edge that stand for missing, such as -999.

    They are made of nines (or the largest of a type of integers), occur at least five times and in
    0.5 % of the cells, and are three times as far from zero as all others, or below zero where no
    other is. Also -1 where all others are counts and it is far more frequent than they are.

    Examples
    --------
    >>> infer_codes(np.array([3.0, 12.0, 7.0, -999.0]), np.array([40, 30, 20, 10]))
    (-999.0,)
    >>> infer_codes(np.array([35.0, 62.0, 90.0, 99.0]), np.array([40, 30, 20, 10]))
    ()
    """
    counts = np.ones(values.size, dtype=np.int64) if counts is None else counts
    is_there = np.isfinite(values)
    numbers, owners = np.unique(values[is_there], return_inverse=True)
    sizes = np.bincount(owners, weights=counts[is_there], minlength=numbers.size)
    is_often = sizes >= max(5.0, 0.005 * sizes.sum())
    is_edge = np.zeros(numbers.size, dtype=bool)
    for places in (range(numbers.size), reversed(range(numbers.size))):
        for k in places:  # from either end up to the first that is no code
            if not is_often[k] or not (
                abs(numbers[k]) in _CODES or -numbers[k] in _LOW_CODES or numbers[k] == -1
            ):
                break
            is_edge[k] = True
    rest = numbers[~is_edge]
    if rest.size < 2:
        return ()
    low, high = float(rest[0]), float(rest[-1])
    reach, most = max(abs(low), abs(high)), sizes[~is_edge].max()
    are_counts = low >= 0 and high >= 20 and bool((rest % 1 == 0).all())
    codes = []
    for code, size in zip(numbers[is_edge].tolist(), sizes[is_edge].tolist(), strict=True):
        is_apart = abs(code) >= 3 * reach or code < 0 <= low
        if (are_counts and size >= 3 * most) if code == -1 else is_apart:
            codes.append(code)
    return tuple(codes)


def describe(column: ColumnSchema) -> str:
    """The notation of a column in few words.

    Examples
    --------
    >>> describe(ColumnSchema("price", "number", decimal=",", units=("EUR",), codes=(-999.0,)))
    'decimal comma, EUR, missing: -999'
    """
    words = ["decimal comma"] if column.decimal == "," else []
    words += [{"%": "percent"}.get(unit, unit) for unit in column.units]
    if column.order:
        mixed = "day first with points, else month first"
        words.append(mixed if column.order == "mixed" else column.order.replace("-", " "))
    missing = [f"{code:g}" for code in column.codes] + list(column.missing)
    return ", ".join([*words, *([f"missing: {' '.join(missing)}"] if missing else [])])
