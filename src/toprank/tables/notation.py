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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

KINDS = ("number", "boolean", "date", "time", "duration", "category", "empty")

SPELLINGS = frozenset(
    "|na|n/a|n.a.|n. a.|n.a|n/d|n.d.|nd|n.v.t.|n.r.|n/r|#n/a|#n/a n/a|#na|nan|-nan|1.#qnan|nat|null|"
    "#null!|nil|none|<na>|<null>|<none>|(null)|(none)|(blank)|(empty)|[null]|{null}|\\n|?|??|-|--|---|"
    "–|—|.|..|...|…|*|/|x|_|#div/0!|#value!|#ref!|#name?|#num!|#error!|#err|error|unknown|unk|"
    "not available|not applicable|not known|not specified|not provided|undefined|unspecified|missing|"
    "no data|nodata|no value|empty|blank|tbd|tba|tbc|t.b.d.|unbekannt|fehlt|fehlend|k.a.|k. a.|k.a|"
    "keine angabe|keine angaben|keine daten|nicht verfügbar|nicht bekannt|leer|offen|o.a.|inconnu|"
    "inconnue|non renseigné|non disponible|n.c.|nc|s/o|sans objet|desconocido|desconocida|sin dato|"
    "sin datos|s/d|no disponible|no aplica|vacío|sconosciuto|non disponibile|n.p.|desconhecido|"
    "não disponível|não informado|onbekend|niet beschikbaar|leeg|ukendt|okänd|ukjent|brak|"
    "brak danych|b.d.|nieznane|nieznany|neznámé|нет данных|неизвестно|н/д|不明|未知|无|なし|"
    "0000-00-00|0000-00-00 00:00:00|00.00.0000|00/00/0000".split("|")
)

_ENOUGH = 0.95  # share of the cells that must fit a kind
_MISSING_WORDS = 5  # so many different unknown words may stand for missing
_SAMPLE = 300  # texts that show whether a closer look is worth its time
_DAY = 86_400.0
_EPOCH = date(1970, 1, 1).toordinal()
_ORDERS = ("day-first", "month-first")


@dataclass(frozen=True)
class ColumnSchema:
    """How the cells of one column are read.

    ``decimal``, ``units``, ``order`` and ``missing`` are of texts: the decimal mark, what may stand
    before or behind numbers, "day-first", "month-first" or "mixed" (dates with points day first,
    others month first), and words of this column that stand for missing besides ``SPELLINGS``.
    ``codes`` are numbers that stand for missing. ``left_out`` says why a column is not used, which
    reading does not look at.
    """

    name: str
    kind: str
    decimal: str = "."
    units: tuple[str, ...] = ()
    order: str = ""
    missing: tuple[str, ...] = ()
    codes: tuple[float, ...] = ()
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

# Families of units: names with the same factor stand together. Those of time are in hours.
_FAMILIES = {
    "times": "1e3 k K Tsd thousand mille|1e6 M Mio mio mn mln MM million millions Millionen|1e9 G bn "
    "Mrd mrd billion billions Milliarden|1e12 T trn trillion|1e5 lakh lac|1e7 crore cr.",
    "%": "1 % percent pct Prozent p.c.|.1 ‰ permille",
    "mass": "1 kg kilo kilos kilogram kilograms|.001 g gr gram grams Gramm|1e-6 mg|1e-9 µg ug mcg|"
    "1e3 t tonne tonnes Tonnen|.45359237 lb lbs pound pounds|.028349523125 oz",
    "length": "1 m metre metres meter meters Meter mtr|.01 cm|.001 mm|1e-6 µm|1e3 km|.0254 in inch "
    "inches|.3048 ft feet foot|.9144 yd yards|1609.344 mi mile miles|.1 dm",
    "area": "1 m² m2 m^2 qm sqm|.09290304 sqft ft² ft2|1e4 ha|1e6 km² km2|4046.8564224 acre acres",
    "volume": "1 l L ltr litre litres liter liters Liter|.01 cl|.001 ml mL|100 hl|1e3 m³ m3",
    "bytes": "1 B byte bytes Bytes|1e3 kB KB|1e6 MB|1e9 GB|1e12 TB|1024 KiB|1048576 MiB|1073741824 GiB",
    "time": "1 h hr hrs hour hours Std Stunde Stunden heure heures hora horas|"
    "0.016666666666666666 min mins minute minutes Minute Minuten|"
    "0.0002777777777777778 s sec secs second seconds Sek Sekunde Sekunden|2.777777777777778e-07 ms|"
    "24 d day days Tag Tage Tagen jour jours día días|168 w wk week weeks Woche Wochen|"
    "730.5 month months mo Monat Monate Monaten|8766 year years yr yrs y Jahr Jahre Jahren an ans",
    "power": "1 W watt|1e3 kW|1e6 MW",
    "degrees": "1 °C|1 °F|1 °|1 K.",
}
# Different names of one currency; signs and codes alone are families of their own.
_MONEY = {
    **dict.fromkeys(("EUR", "€", "euro", "euros"), "EUR"),
    **dict.fromkeys(("USD", "$", "US$", "dollar", "dollars"), "USD"),
    **dict.fromkeys(("GBP", "£", "pound sterling"), "GBP"),
    **dict.fromkeys(("CHF", "Fr", "SFr"), "CHF"),
    **dict.fromkeys(("INR", "₹", "Rs", "Rs."), "INR"),
    **dict.fromkeys(("PLN", "zł", "zl"), "PLN"),
    **dict.fromkeys(("BRL", "R$"), "BRL"),
    **dict.fromkeys(("kr", "SEK", "NOK", "DKK", "ISK", ":-"), "kr"),
    **dict.fromkeys(("CZK", "Kč"), "CZK"),
    **dict.fromkeys(("JPY", "CNY", "RMB", "¥", "元", "円"), "¥"),
    **{
        name: name for name in "₽ ₩ ₺ ₴ ₪ ₫ ฿ ₦ ₱ ₡ ¢ ct cent cents p Ft lei лв руб R RM Rp".split()
    },
    **{
        name: name
        for name in "AED ARS AUD BGN CAD CLP COP EGP HKD HUF IDR ILS KRW MXN MYR NGN NZD PEN PHP "
        "RON RUB SAR SGD THB TRY TWD UAH VND ZAR A$ C$ AU$ CA$ NZ$ HK$ S$ MX$".split()
    },
}
_NUMBERING = {name: "number" for name in ("#", "№", "No", "Nr", "no", "nr", "n°", "N°", "Nº")}
_UNITS: dict[str, tuple[str, float]] = {
    name: (family, float(names[0]))
    for family, groups in _FAMILIES.items()
    for names in (group.split() for group in groups.split("|"))
    for name in names[1:]
} | {name: (family, 1.0) for name, family in (_MONEY | _NUMBERING).items()}
_FOLDED = {name.casefold(): name for name in reversed(_UNITS)}
_MAGNITUDE = re.compile(
    r"([Mm]io\.?|[Mm]rd\.?|bn|mn|mln|Tsd\.?|million|billion|MM|k|K|M|G|T)\s*(\D+)"
)
# With thousands (k) beside them, these are millions and billions rather than metres and bytes.
_BESIDE_K = {"m": 1e6, "B": 1e9, "b": 1e9, "t": 1e12}


def _unit(text: str) -> str:
    """The name by which a unit is known, or its folded text.

    Examples
    --------
    >>> _unit("KG"), _unit("M"), _unit("m"), _unit("Pcs.")
    ('kg', 'M', 'm', 'pc')
    """
    text = text.strip().rstrip(".,;").rstrip()
    if text in _UNITS:
        return text
    folded = text.casefold()
    return _FOLDED.get(folded) or (folded[:-1] if len(folded) > 2 and folded[-1] == "s" else folded)


def _units_behind(text: str) -> tuple[str, ...]:
    """The units behind a number: one, or a magnitude and what it is of, as in ``Mio. EUR``."""
    unit = _unit(text)
    if unit not in _UNITS:
        found = _MAGNITUDE.fullmatch(text.strip())
        if found and _unit(found[2]) in _UNITS:
            return _unit(found[1]), _unit(found[2])
    return (unit,)


def _factors(units: Sequence[str]) -> dict[str, float]:
    """What a number with each unit is multiplied by: the first unit of a family counts 1."""
    factors: dict[str, float] = {}
    firsts: dict[str, float] = {"times": 1.0}
    for given in units:
        unit = _unit(given)
        family, size = _UNITS.get(unit, (unit, 1.0))
        factors[unit] = size / firsts.setdefault(family, size)
    if factors.keys() & {"k", "K", "M"}:
        factors |= {unit: size for unit, size in _BESIDE_K.items() if unit in factors}
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
    part: int = 0


_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.(\d+))?")
_ABOUT = (
    r"[<>≤≥~≈∼±⩽⩾]=?|=|(?:ca|circa|approx|approximately|about|around|over|under|above|below|up to|"
    r"at least|at most|more than|less than|etwa|rund|über|unter|ab|bis|bis zu|mehr als|weniger als|"
    r"mind|max|min|environ)\b\.?"
)
_NUMBER = re.compile(
    rf"(?P<about>{_ABOUT})?\s*(?P<sign>[-+])?\s*"
    r"(?P<before>[^\d\s.,'+\-()<>=/:_\[\]*\"][^\d+\-()<>=/:\[\]*\"]{0,11}?)??(?P<gap>\s*)(?P<inner>[-+])?\s*"
    r"(?P<core>\d+(?:[.,' _]\d+)*|[.,]\d+)"
    r"(?:[eE](?P<power>[-+]?\d{1,3})|\s?[x×*·]\s?10(?:\^|\*\*)?(?P<ten>[-+]?\d{1,3}))?"
    r"(?:[.,](?:-{1,2})?)?(?P<tail>[-+])?\s*"
    r"(?P<after>[^\d\s.,'+\-()<>=:\[\]*†‡§¹²³⁴⁵⁶⁷⁸⁹⁰\"][^\d+\-()<>=:\[\]*†‡§\"]{0,19}(?:(?<=[a-z])\^?[23])?)?"
    r"\s*(?:[*†‡§¹²³⁴⁵⁶⁷⁸⁹⁰]+|\[\w{1,3}\]|\(\D{1,15}\))*",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"(\D{0,6}?)\(([^()]*\d[^()]*)\)(\D{0,12})")
_GROUPS = re.compile(r"[1-9]\d{0,2}([.,' _])\d{3}(?:\1\d{3})*|[1-9]\d?(?:,\d\d)+,\d{3}")
_STARS = re.compile(r"([★⭐]\ufe0f?)+☆*")
_RANGE = re.compile(
    r"(.*?\d.*?)\s*(?:-|\bto\b|\bbis\b|\bà\b|\ba\b|\.{2,3}|\band\b|\bund\b)\s*(\D{0,4}\d.*)"
)
_FRACTION = re.compile(r"([-+])?(?:(\d+)\s+)?(\d+)\s*(?:/|of|out of|von|sur)\s*(\d+)")
_FEET = re.compile(r"""(\d)\s*(?:'|ft\.?|feet)\s*(\d{1,2}(?:\.\d+)?)\s*(?:"|''|in\.?|inches)?""")


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
    units: tuple[str, ...] = ()
    if before:
        unit = _unit(before)
        if unit not in _UNITS or not (found["gap"] or _stands_before(unit)):
            return None  # C123 and INV-00012 are codes
        units = () if _UNITS[unit][0] == "number" else (unit,)
    is_negative = "-" in ((found["sign"] or "") + (found["inner"] or "") + (found["tail"] or ""))
    if after:
        folded = after.strip(" .").casefold()
        if folded in {"cr", "dr"}:
            is_negative ^= folded == "cr"
        elif not (folded in {"st", "nd", "rd", "th", "º", "ª"} and core.isdigit()):
            units += _units_behind(after)
    if found["sign"] == "+" and core.count(" ") > 1:  # the number of a telephone
        return None
    digits = _digits(core, found["power"] or found["ten"] or "")
    if digits is None:
        return None
    value, other, mark = digits
    remark = "bound" if found["about"] not in {None, "="} or found["tail"] == "+" else ""
    if is_negative:
        value, other = -value, -other
    return _Cell(value, other, mark, units, remark)


def _stands_before(unit: str) -> bool:
    """Whether a unit may stand before a number without a blank: a currency or ``#``."""
    family = _UNITS.get(unit, ("", 0.0))[0]
    return family not in _FAMILIES and family != "" and unit not in {"R", "p", "ct", "Fr"}


def _digits(core: str, power: str) -> tuple[float, float, str] | None:
    """The number of digits and marks under a decimal point and a decimal comma, and the evidence."""
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
        value = int(found[2] or 0) + int(found[3]) / int(found[4])
        value = -value if found[1] == "-" else value
        return _Cell(value, value, remark="fraction", part=int(found[4]))
    found = _FEET.fullmatch(text)
    if found:
        value = int(found[1]) + float(found[2]) / 12
        return _Cell(value, value, units=("ft",))
    if _STARS.fullmatch(text):
        return _Cell(*[float(text.count("★") + text.count("⭐"))] * 2)
    found = _RANGE.fullmatch(text)
    if not found:
        return None
    ends = [_NUMBER.fullmatch(part) for part in found.groups()]
    low, high = (_whole(end) if end else None for end in ends)
    if low is None or high is None or low.value >= high.value or low.other >= high.other:
        return None  # 3-2 is a result, not a range
    if low.units and low.units != high.units and high.units:
        return None
    marks = {low.mark, high.mark} - {"", "0"}
    mark = marks.pop() if len(marks) == 1 else ""
    middle, other = (low.value + high.value) / 2, (low.other + high.other) / 2
    return _Cell(middle, other, mark, high.units or low.units, "range")


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
    quick = re.compile(
        rf"(-?)(?:(?:{before}) ?)?(\d+|[1-9]\d{{0,2}}(?:{between}\d{{3}})+)(?:{mark}(\d+))?(?: ?(?:{unit}))?"
    ).fullmatch
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
_MONTHS = {
    name: place + 1 for place, names in enumerate(_MONTH_NAMES.split("|")) for name in names.split()
}
_MON = "(?P<mon>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAYNAME = r"(?:[^\W\d_]{2,10}\.?,?\s+)?"
_YEAR = r"'?(?P<y>\d{4}|\d{2})"
_D = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|º)?"
_REST = r"(?P<rest>(?:[T,\s]+(?:at|um|à)?\s*|(?<=\d)T)\d.*)?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_DAYNAME}(?P<y>\d{{4}})([-/.])(?P<m>\d{{1,2}})\2(?P<d>\d{{1,2}})-?\s?{_REST}",
        rf"{_DAYNAME}(?P<a>\d{{1,2}})\s?(?P<sep>[-/.])\s?(?P<b>\d{{1,2}})\s?(?P=sep)\s?{_YEAR}{_REST}",
        rf"{_DAYNAME}{_D}[-\s./]*(?:de\s+|of\s+)?{_MON}[-\s./,]*(?:del?\s+)?{_YEAR}{_REST}",
        rf"{_DAYNAME}{_MON}[-\s./]*{_D},?[-\s/]+(?P<y>\d{{4}}){_REST}",
        rf"(?P<y>\d{{4}})[-\s./]*{_MON}(?:[-\s./]*{_D}{_REST})?",
        rf"{_MON}[-\s./,]*(?:del?\s+)?{_YEAR}",
        r"(?P<y>\d{4})[-/](?P<m>\d{1,2})-?",
        r"(?P<m>\d{1,2})[-/.](?P<y>\d{4})",
        r"(?:Q|T)(?P<q>[1-4])[-\s/.]*'?(?P<y>\d{4}|\d{2})|(?P<q2>[1-4])Q[-\s/.]*'?(?P<y2>\d{4}|\d{2})",
        r"(?P<y>\d{4})[-\s/.]*[QT](?P<q>[1-4])",
        r"(?P<y>\d{4})[-\s/]*(?:W|KW\s*)(?P<w>\d{1,2})(?:-?(?P<wd>[1-7]))?",
        r"(?:W|KW)\s*(?P<w>\d{1,2})[-\s/]+(?P<y>\d{4})",
        r"(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?P<rest>T?\d{4,6}(?:Z|[-+]\d{4})?)?",
        rf"[a-z]{{3}}\s+{_MON}\s+{_D}(?P<rest>\s\d\d:\d\d:\d\d)\s(?:[A-Z]{{3,4}}\s)?(?P<y>\d{{4}})",
    )
)
_TIME_OF_DAY = re.compile(
    r"[T,\s]*(?:at|um|à)?\s*(\d{1,2})(?:[:.h]?(\d{2})(?:[:.]?(\d{2})(?:[.,:](\d{1,9}))?)?)?"
    r"\s*(?:([ap])\.?m\.?)?\s*(?:uhr|h)?\s*(Z|UTC|GMT|[A-Z]{3,4}|(?:UTC|GMT)?\s?[-+]\d\d:?(?:\d\d)?)?"
    r"(?:\[[\w/+-]+\]|\s\([\w\s]+\))?",
    re.IGNORECASE,
)


class _Day(NamedTuple):
    """Days since 1970 with the day first and with the month first; NaN where there is no such."""

    day_first: float
    month_first: float
    mark: str = ""  # between day and month, where their order is open
    parts: tuple[int, int] = (0, 0)


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
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            return _as_day({key: part for key, part in found.groupdict().items() if part})
    return None


_START = datetime(1970, 1, 1, tzinfo=UTC)


def _as_day(parts: dict[str, str]) -> _Day | None:
    """The date of its parts: a year with month and day, quarter, week, or two numbers in between."""
    written = parts.get("y") or parts["y2"]
    year = int(written)
    if len(written) == 2:
        year += 2000 if year < 69 else 1900  # as in C and Python
    seconds = _seconds(parts["rest"]) if "rest" in parts else 0.0
    if seconds is None:
        return None
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        ways = [_days(year, second, first), _days(year, first, second)]
        if all(map(math.isnan, ways)):
            return None
        return _Day(*(way + seconds / _DAY for way in ways), parts["sep"], (first, second))
    if "w" in parts:
        try:
            days = float(
                date.fromisocalendar(year, int(parts["w"]), int(parts.get("wd", 1))).toordinal()
            )
        except ValueError:
            return None
        return _Day(days - _EPOCH, days - _EPOCH)
    quarter = parts.get("q") or parts.get("q2")
    month = _MONTHS[parts["mon"].casefold()] if "mon" in parts else int(parts.get("m", 1))
    days = _days(year, 3 * int(quarter) - 2 if quarter else month, int(parts.get("d", 1)))
    return None if math.isnan(days) else _Day(days + seconds / _DAY, days + seconds / _DAY)


def _days(year: int, month: int, day: int) -> float:
    """Days since 1970, NaN where there is no such date."""
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


# Times of day and durations ---------------------------------------------------------------

_CLOCK = re.compile(
    r"(?P<sign>[-+])?\s*(?:(?P<days>\d+)\s*(?:d|days?|Tage?)?[,.\s]+)?"
    r"(?P<h>\d+)(?::(?P<m>\d\d))(?::(?P<s>\d\d))?(?:[.,](?P<f>\d+))?\s*(?:(?P<half>[ap])\.?\s?m\.?)?"
    r"\s*(?P<uhr>uhr|h|hrs|Z)?",
    re.IGNORECASE,
)
_OTHER_CLOCK = re.compile(
    r"(?P<h>\d{1,2})(?:[h.](?P<m>\d\d))?\s*(?:(?P<half>[ap])\.?\s?m\.?|(?P<uhr>uhr)|(?<=h\d\d))",
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
        if family != "time" or hours > 200:
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
    read_cell = _reader(how)
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


def _reader(how: ColumnSchema) -> Callable[[str], float | None]:
    if how.kind == "number":
        return _number_reader(how)
    if how.kind == "boolean":
        return lambda text: {"true": 1.0, "false": 0.0}.get(text.strip().casefold())
    if how.kind == "date":
        return lambda text: _ordered(_date(text), how.order)
    is_time = how.kind == "time"

    def read_clock(text: str) -> float | None:
        found = _clock(text)
        return None if found is None or (is_time and not found[1]) else found[0]

    return read_clock


def _ordered(day: _Day | None, order: str) -> float | None:
    """The day that a date is in the order of its column."""
    if day is None:
        return None
    is_day_first = order == "day-first" or (order == "mixed" and day.mark == ".")
    value = day.day_first if is_day_first else day.month_first
    return None if math.isnan(value) else value


# Inference --------------------------------------------------------------------------------


class _Guess(NamedTuple):
    """A column of some kind, before anybody knows how many of its cells fit."""

    column: ColumnSchema
    is_unclear: bool = False
    notes: tuple[str, ...] = ()


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
    near: list[tuple[float, str, str]] = []
    kinds = [hints.kind] if hints.kind else list(_GUESSES)
    for kind in kinds if given or hints.kind else []:
        guess = _GUESSES[kind](name, given, counts[known], hints) if kind in _GUESSES else None
        if guess is None:
            continue
        if isinstance(guess, str):
            return _as_category(name, texts, counts, (guess,))
        settled = _settle(guess, texts, counts, known, is_forced=hints.kind is not None)
        if isinstance(settled, Inferred):
            return settled
        near.append(settled)
    notes = []
    if near and max(near)[0] >= 0.5:
        share, kind, other = max(near)
        notes.append(
            f"{name}: {share:.0%} of the cells are {_PLURALS[kind]}, the others (such as {other!r})"
            f" are not; read as categories; --type {name}={kind} reads {_PLURALS[kind]}."
        )
    return _as_category(name, texts, counts, tuple(notes))


_PLURALS = {
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
    "time": "times",
    "duration": "durations",
}


def _as_category(
    name: str, texts: Sequence[str], counts: NDArray[np.int64], notes: tuple[str, ...]
) -> Inferred:
    is_missing = np.array([is_missing_word(text) for text in texts], dtype=bool)
    kind = "empty" if is_missing.all() else "category"
    return Inferred(ColumnSchema(name, kind), int(counts[is_missing].sum()), 0, "", False, notes)


def _settle(
    guess: _Guess,
    texts: Sequence[str],
    counts: NDArray[np.int64],
    known: NDArray[np.bool_],
    *,
    is_forced: bool,
) -> Inferred | tuple[float, str, str]:
    """The column with its missing words and codes, if enough cells fit, else the share that do."""
    column, notes = guess.column, list(guess.notes)
    values, misread = read(texts, column)
    fits = known & ~misread
    others = [texts[place] for place in np.flatnonzero(misread)]
    share = counts[fits].sum() / max(counts[known].sum(), 1)
    if not is_forced and share < _ENOUGH:
        are_words = len(others) <= _MISSING_WORDS and not any(map(_has_digit, others))
        n_values = np.unique(values[fits]).size
        if share < 0.5 or not are_words or n_values <= min(20, 10 * len(others)):
            return float(share), column.kind, others[0] if others else ""
        column = replace(column, missing=tuple(others))
        words = ", ".join(
            f"{texts[place]!r} ({counts[place]:,})" for place in np.flatnonzero(misread)
        )
        notes.append(
            f"{column.name}: words among {_PLURALS[column.kind]} count as missing: {words}."
        )
        misread = np.zeros_like(misread)
    if column.kind == "number":
        codes = infer_codes(values, counts)
        if codes:
            column = replace(column, codes=codes)
            is_code = np.isin(values, codes)
            named = ", ".join(f"{code:g}" for code in codes)
            notes.append(
                f"{column.name}: {named} (in {counts[is_code].sum():,} cells) is far from all other "
                "values and counts as missing; take it out of the codes of a schema to keep it."
            )
            values[is_code] = np.nan
    n_misread = int(counts[misread].sum())
    n_missing = int(counts[np.isnan(values)].sum()) - n_misread
    first = texts[int(np.argmax(misread))] if n_misread else ""
    return Inferred(column, n_missing, n_misread, first, guess.is_unclear, tuple(notes))


_has_digit = re.compile(r"\d").search


def _looks_like(parse: Callable[[str], Any], texts: Sequence[str]) -> bool:
    """Whether a fifth of some texts can be parsed, so that all are worth the time."""
    some = texts[:: max(1, len(texts) // _SAMPLE)]
    return 5 * sum(parse(text) is not None for text in some) >= len(some)


def _guess_boolean(
    name: str,
    texts: list[str],
    counts: NDArray[np.int64],
    hints: Hints,  # noqa: ARG001
) -> _Guess | None:
    words = {text.strip().casefold() for text in texts[: 10 * _SAMPLE]}
    return (
        _Guess(ColumnSchema(name, "boolean")) if words & {"true", "false"} or hints.kind else None
    )


def _guess_date(
    name: str, texts: list[str], counts: NDArray[np.int64], hints: Hints
) -> _Guess | None:
    """Dates, if some are; the order of day and month is decided from all cells."""
    if not hints.kind:
        if not _looks_like(_date, texts):
            return None
        digits = [text for text in texts if text.strip().isdigit()]
        if digits and not all(map(_date, digits)):
            return None  # numbers, some of which could be dates
    days = [_date(text) for text in texts]
    order, is_unclear, notes = hints.order or "", False, ()
    open_days = [
        (day, int(count)) for day, count in zip(days, counts, strict=True) if day and day.mark
    ]
    if open_days and not order:
        order, is_unclear, notes = _decide_order(name, open_days)
    never = tuple(text for text, day in zip(texts, days, strict=True) if day and day[0] in _NEVER)
    return _Guess(ColumnSchema(name, "date", order=order, missing=never), is_unclear, notes)


# The last and the first days of calendars stand for a date that is not known.
_NEVER = {_days(9999, 12, 31), _days(1, 1, 1)}


def _decide_order(name: str, days: list[tuple[_Day, int]]) -> tuple[str, bool, tuple[str, ...]]:
    """The order of day and month, whether it is assumed, and a note."""
    sizes: Counter[tuple[bool, str]] = Counter()  # cells that leave no choice, by their mark
    for day, count in days:
        if math.isnan(day.day_first) or math.isnan(day.month_first):
            sizes[day.mark == ".", _ORDERS[math.isnan(day.day_first)]] += count
    points, others = (
        sizes[is_point, "day-first"] - sizes[is_point, "month-first"] for is_point in (True, False)
    )
    marks = {day.mark == "." for day, _ in days}
    of_points = "month-first" if points < 0 else "day-first"
    if False not in marks:
        return of_points, False, ()
    if others:
        order = "day-first" if others > 0 else "month-first"
        is_mixed = True in marks and (of_points, order) == ("day-first", "month-first")
        both = sizes[False, "day-first"] and sizes[False, "month-first"]
        note = f"{name}: some dates have the day first, others the month; read {order}."
        return "mixed" if is_mixed else order, False, (note,) if both else ()
    firsts, seconds = (len({day.parts[place] for day, _ in days}) for place in (0, 1))
    # one month of days: the number that changes is the day
    order = "day-first" if True in marks or firsts >= 3 * seconds else "month-first"
    other = _ORDERS[order == "day-first"]
    note = f"{name}: day and month can be either way; read {order} (--dates {other} reverses)."
    return order, True, (note,)


def _guess_clock(
    name: str, texts: list[str], counts: NDArray[np.int64], hints: Hints
) -> _Guess | None:
    """Times of day, or durations where most cells can be no time of day."""
    if hints.kind:
        return _Guess(ColumnSchema(name, hints.kind))
    if not _looks_like(_clock, texts):
        return None
    found = [_clock(text) for text in texts]
    n_cells = sum(int(n) for n, each in zip(counts, found, strict=True) if each)
    n_times = sum(int(n) for n, each in zip(counts, found, strict=True) if each and each[1])
    return _Guess(ColumnSchema(name, "time" if n_times >= _ENOUGH * n_cells else "duration"))


def _guess_number(
    name: str, texts: list[str], counts: NDArray[np.int64], hints: Hints
) -> _Guess | str | None:
    """Numbers, if some are; the decimal mark and the units are decided from all cells.

    Returns a note where digits are codes rather than numbers.
    """
    if not hints.kind:
        if not _looks_like(_number, texts):
            return None
        if _are_codes(texts, counts):
            return f"{name}: digits with leading zeros or more than 15 are codes; kept as texts."
    cells = [_number(text) for text in texts]
    parsed = [(cell, int(n)) for cell, n in zip(cells, counts, strict=True) if cell]
    if not hints.kind and _are_pairs(parsed):
        return None
    units = _accepted_units(parsed, texts)
    mark, is_unclear, notes = _decide_mark(name, parsed, hints.decimal)
    column = ColumnSchema(name, "number", decimal=mark, units=units)
    return _Guess(column, is_unclear, (*notes, *_remarks(name, texts, cells, counts, units)))


def _are_codes(texts: list[str], counts: NDArray[np.int64]) -> bool:
    """Whether cells are digits alone, of which some have leading zeros or no float holds all."""
    stripped = [text.strip().lstrip("'") for text in texts]
    are_digits = np.array([text.isdigit() for text in stripped], dtype=bool)
    if counts[are_digits].sum() < _ENOUGH * counts.sum():
        return False
    digits = [text for text in stripped if text.isdigit()]
    sizes = np.array([len(text) for text in digits])
    has_zero = np.array([text[0] == "0" for text in digits], dtype=bool) & (sizes > 1)
    n_zero = counts[are_digits][has_zero].sum()
    is_even = sizes.min() == sizes.max() and bool(n_zero)
    return bool(sizes.max() > 15 or is_even or (n_zero and n_zero >= 0.005 * counts.sum()))


def _are_pairs(parsed: list[tuple[_Cell, int]]) -> bool:
    """Whether what looks like ranges or fractions are other pairs, such as 120/80 or 555-1234."""
    total = sum(count for _, count in parsed)
    fractions = [(cell.part, n) for cell, n in parsed if cell.remark == "fraction"]
    ranges = [cell.value for cell, _ in parsed if cell.remark == "range"]
    parts = {part for part, _ in fractions}
    if sum(n for _, n in fractions) > 0.05 * total and len(parts) > 1 and not parts <= _PARTS:
        return True
    return len(set(ranges)) > 60 and len(ranges) > 0.5 * len(parsed)


_PARTS = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64, 100, 1000}


def _accepted_units(parsed: list[tuple[_Cell, int]], texts: list[str]) -> tuple[str, ...]:
    """The units of a column, the most frequent first.

    A rare letter behind digits (12,5o) is no unit; currencies, percent signs and magnitudes may be
    rare.
    """
    sizes: Counter[str] = Counter()
    different: Counter[str] = Counter()
    for cell, count in parsed:
        for unit in cell.units:
            sizes[unit] += count
            different[unit] += 1
    total = sum(count for _, count in parsed)
    n_unknown, accepted = 0, []
    for unit, size in sizes.most_common():
        family = _UNITS.get(unit, ("", 0.0))[0]
        is_common = size >= 0.02 * total and (different[unit] > 1 or len(texts) < 3)
        if not family:
            n_unknown += 1
            is_common = is_common and n_unknown <= 3 and (len(unit) > 1 or 2 * size >= total)
        elif family in {"%", "times"} or family not in _FAMILIES:
            is_common = True
        elif unit in _BESIDE_K and sizes.keys() & {"k", "K", "M"}:
            is_common = True
        if is_common or family in {_UNITS.get(other, ("",))[0] or None for other in accepted}:
            accepted.append(unit)
    return tuple(accepted)


def _decide_mark(
    name: str, parsed: list[tuple[_Cell, int]], given: str | None
) -> tuple[str, bool, tuple[str, ...]]:
    """The decimal mark of a column, whether it is assumed, and notes."""
    sizes: Counter[str] = Counter()
    for cell, count in parsed:
        sizes[cell.mark] += count
    mark = "," if sizes[","] > sizes["."] else "."
    if given:
        return given, False, ()
    if sizes[","] or sizes["."]:
        note = f"{name}: some cells have a decimal comma, others a decimal point."
        return mark, False, (note,) if sizes[","] and sizes["."] else ()
    # 1.250 beside 300 and 980, but never beside 1300 or 1.25: points between thousands
    n_open = sum(cell.mark in {".?", ",?"} for cell, _ in parsed)
    are_thousands = n_open >= 20 and bool(sizes[""]) and not sizes["0"]
    if sizes[".?"] and not sizes[",?"]:
        if not are_thousands:
            return ".", False, ()
        return ",", True, (f"{name}: points are read as marks between thousands.",)
    if not sizes[",?"]:
        return ".", False, ()
    mark = "," if sizes["0"] else "."
    example, other = ("1.234", ".") if mark == "," else ("1234", ",")
    note = f"{name}: 1,234 is read as {example} (--decimal {name}={other} reverses)."
    return mark, not are_thousands, (note,)


def _remarks(
    name: str,
    texts: list[str],
    cells: list[_Cell | None],
    counts: NDArray[np.int64],
    units: tuple[str, ...],
) -> list[str]:
    """Notes on bounds, ranges and different units."""
    notes = []
    for remark, meaning in (("bound", "their number"), ("range", "their middle")):
        places = [k for k, cell in enumerate(cells) if cell and cell.remark == remark]
        if places:
            n_cells = int(counts[places].sum())
            notes.append(
                f"{name}: {n_cells:,} cells such as {texts[places[0]]!r} count as {meaning}."
            )
    families = Counter(_UNITS.get(unit, (unit, 0.0))[0] for unit in units)
    families.pop("times", 0)
    if len(families) > 1:
        notes.append(
            f"{name}: numbers with {', '.join(units)} are read alike, without their units."
        )
    elif families and len({factor for factor in _factors(units).values()}) > 1:
        notes.append(f"{name}: numbers with {', '.join(units)} are converted to {units[0]}.")
    return notes


_GUESSES: dict[str, Callable[..., _Guess | str | None]] = {
    "boolean": _guess_boolean,
    "date": _guess_date,
    "time": _guess_clock,
    "duration": _guess_clock,
    "number": _guess_number,
}

_NINES = frozenset(float("9" * n) for n in range(1, 10))
_LARGEST = frozenset({2147483647.0, 32767.0, 4294967295.0, 9223372036854775807.0})


def infer_codes(
    values: NDArray[np.float64], counts: NDArray[np.int64] | None = None
) -> tuple[float, ...]:
    """Numbers at the edge that stand for missing, such as -999.

    They are made of nines, occur at least five times and in 0.5 % of the cells, and are three times
    as far from zero as all others, or below zero where no other is. Also -1 where all others count
    something and it is far more frequent than they are.

    Examples
    --------
    >>> infer_codes(np.array([3.0, 12.0, 7.0, -999.0]), np.array([40, 30, 20, 10]))
    (-999.0,)
    >>> infer_codes(np.array([35.0, 62.0, 90.0, 99.0]), np.array([40, 30, 20, 10]))
    ()
    """
    counts = np.ones(values.size, dtype=np.int64) if counts is None else counts
    is_there = np.isfinite(values)
    numbers, places = np.unique(values[is_there], return_inverse=True)
    sizes = np.bincount(places, weights=counts[is_there], minlength=numbers.size)
    least = max(5.0, 0.005 * sizes.sum())
    found: list[float] = []
    while numbers.size > 2:
        edges = [
            k for k in (0, numbers.size - 1) if sizes[k] >= least and _is_code(float(numbers[k]))
        ]
        rest = np.delete(numbers, edges)
        edges = [k for k in edges if _stands_apart(float(numbers[k]), rest, sizes[k], sizes)]
        if not edges:
            break
        found += [float(numbers[k]) for k in edges]
        numbers, sizes = np.delete(numbers, edges), np.delete(sizes, edges)
    return tuple(found)


def _is_code(value: float) -> bool:
    return abs(value) in _NINES or value in _LARGEST or value == -1


def _stands_apart(
    value: float, rest: NDArray[np.float64], size: float, sizes: NDArray[np.float64]
) -> bool:
    """Whether a code is no plausible number beside the rest."""
    if rest.size < 2:
        return False
    if value == -1:
        are_counts = bool(rest[0] >= 0 and rest[-1] >= 20 and (rest % 1 == 0).all())
        return are_counts and size >= 3 * float(sizes.max(initial=0, where=sizes != size))
    reach = max(abs(float(rest[0])), abs(float(rest[-1])))
    return abs(value) >= 3 * reach or (value < 0 <= rest[0])


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
