"""What one cell of text says: as a number, as a date, as a time of day or a duration.

A cell gives what it would mean under either decimal mark or either order of day and month; the
schema of its column (:mod:`toprank.tables.notation`) says which of the two is meant. Exported files
carry the source of this module, which therefore needs Python 3.9 and its standard library alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from toprank.tables.notation import ColumnSchema

# Limits and origins -----------------------------------------------------------------------

_LONGEST = 80  # characters of a number or a date; patterns would take long over more
_DAY = 86_400.0
EPOCH = date(1970, 1, 1).toordinal()
_START = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017 (Python 3.9 has no UTC)

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


def clean(text: str) -> str:
    """The text with plain blanks, dashes, quotes and digits, without what spreadsheets leave.

    Examples
    --------
    >>> clean('="１２–15" '), clean("'-3½")
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
CURRENCIES = {group.split()[0] for group in _MONEY.split("|")}
UNITS: dict[str, tuple[str, float]] = {
    prefix + unit: ({"m": "length", "g": "mass", "l": "volume"}.get(unit, unit), 10.0**power)
    for unit in _METRIC.split()
    for prefix, power in _POWERS.items()
}
UNITS |= {
    name: (family, float(group.split()[0]))
    for family, groups in _FAMILIES.items()
    for group in groups.split("|")
    for name in group.split()[1:]
}
UNITS |= {name: (group.split()[0], 1.0) for group in _MONEY.split("|") for name in group.split()}
UNITS |= dict.fromkeys(("#", "№", "no", "nr", "n°", "nº"), ("number", 1.0))
UNITS |= {"S": ("time", 1 / 3600), "H": ("time", 1.0)}  # Soll and Haben, if both are there
_FOLDED = {name.casefold(): name for name in reversed(UNITS)}
_MAGNITUDE = re.compile(
    r"(mio\.?|mrd\.?|bn|mn|mln|tsd\.?|[mb]illion|[kmgt])\s*(\D+)", re.IGNORECASE
)
# With thousands (k) beside them, these are millions and billions rather than metres and bytes.
THOUSANDS = {"k", "M"}
# What stands behind negative numbers, and its opposite behind positive ones.
_OPPOSITES = [
    pair.split("/") for pair in ("H/S", "haben/soll", "credit/debit", "S/N", "°s/°n", "°w/°e")
]
BESIDE_THOUSANDS = {"m": 1e6, "B": 1e9, "b": 1e9, "t": 1e12}


@lru_cache(1 << 12)
def unit_name(text: str) -> str:
    """The name by which a unit is known, or its folded text.

    Examples
    --------
    >>> [unit_name(text) for text in ("KG", "M", "m", "Hours", "Pcs.", "US $")]
    ['kg', 'M', 'm', 'hour', 'pc', 'US$']
    """
    text = text.strip().rstrip(".,;").replace(" ", "")
    folded = text.casefold()
    endings = ("", "s", "n", "en")[: 1 if len(text) < 3 else 2 if len(text) < 6 else 4]
    for stem in (text, *(folded.removesuffix(ending) for ending in endings)):
        if stem in UNITS:
            return stem
        if stem in _FOLDED:
            return _FOLDED[stem]
    return folded[:-1] if len(folded) > 2 and folded[-1] == "s" else folded


def _units_behind(text: str) -> tuple[str, ...]:
    """The units behind a number: one, or a magnitude and what it is of, as in ``Mio. EUR``."""
    unit = unit_name(text)
    found = None if unit in UNITS else _MAGNITUDE.fullmatch(text.strip())
    if found and unit_name(found[2]) in UNITS:  # T€ are thousands
        return "k" if found[1] == "T" else unit_name(found[1]), unit_name(found[2])
    return (unit,)


def unit_factors(units: Sequence[str]) -> dict[str, float]:
    """What a number with each unit is multiplied by: the first unit of a family counts 1."""
    factors: dict[str, float] = {}
    firsts: dict[str, float] = {"times": 1.0}
    for given in units:
        unit = unit_name(given)
        family, size = UNITS.get(unit, (unit, 1.0))
        factors[unit] = size / firsts.setdefault(family, size)
    for negative, positive in _OPPOSITES:
        if {negative, positive} <= factors.keys():
            factors |= {negative: -1.0, positive: 1.0}
    if factors.keys() & THOUSANDS:
        factors |= {unit: size for unit, size in BESIDE_THOUSANDS.items() if unit in factors}
    return factors


# Numbers ----------------------------------------------------------------------------------


class NumberCell(NamedTuple):
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


def read_number(text: str) -> NumberCell | None:
    """What a cell says as a number, or None.

    ``(12)``, ``12-`` and ``12 CR`` are negative, ``12 DR`` is positive; a bound such as ``>250`` is
    its number, a range its middle, ``4/5`` and ``4 of 5`` a share, stars are counted.

    Examples
    --------
    >>> read_number("1.250,5 EUR").value, read_number("1,234")[:3], read_number("(45.76)").value
    (1250.5, (1234.0, 1.234, ',?'), -45.76)
    >>> read_number("10-20").value, read_number("INV-00012"), read_number("1.2.3")
    (15.0, None, None)
    """
    plain = _PLAIN.fullmatch(text)
    if plain:
        value, decimals = float(text), plain[1]
        if decimals is None:
            return NumberCell(value, value, "0" if abs(value) >= 1000 else "")
        if len(decimals) != 3 or not 1 <= abs(value) < 1000:
            return NumberCell(value, value, ".")
        return NumberCell(value, float(text.replace(".", "")), ".?")
    text = clean(text)
    if len(text) > _LONGEST:
        return None
    inside = _IN_BRACKETS.fullmatch(text) if "(" in text else None
    if inside:
        cell = read_number("".join(inside.groups()))
        return cell and cell._replace(value=-cell.value, other=-cell.other)
    found = _NUMBER.fullmatch(text)
    return (_whole(found) if found else None) or _composed(text)


def _whole(found: re.Match[str]) -> NumberCell | None:
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
    return NumberCell(value, other, mark, units, remark)


def _units_before(text: str, *, is_apart: bool) -> tuple[str, ...] | None:
    """The unit before a number, as far as it is one."""
    unit = unit_name(text)
    if stands_before(unit, is_apart=is_apart):
        return () if UNITS[unit][0] == "number" else (unit,)
    # a word before numbers, as in score: 12.5, but C123 and INV-00012 are codes
    return (f"{text.casefold()}:",) if is_apart else None


def stands_before(unit: str, *, is_apart: bool = False) -> bool:
    """Whether a unit stands before numbers: percent, ``#`` or a currency; letters only apart."""
    is_letter = unit in {"R", "p", "ct", "Fr", "TL", "no", "nr"}
    family = UNITS.get(unit, ("", 0.0))[0]
    return (family in CURRENCIES | {"%", "number"}) and (is_apart or not is_letter)


def _digits(core: str, power: str) -> tuple[float, float, str] | None:
    """The number of digits and marks with a decimal point and with a comma, and the evidence."""
    last = max(core.rfind("."), core.rfind(","))
    mark = core[last] if last >= 0 else ""
    head, decimals = (core[:last], core[last + 1 :]) if mark else (core, "")
    if (head + decimals).isdigit():  # at most one mark
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


def _composed(text: str) -> NumberCell | None:
    """The number of a range, a fraction, a length in feet and inches, or of stars."""
    found = _FRACTION.fullmatch(text)
    if found and int(found[4]):
        value = int(found[2] or 0) + float(found[3].replace(",", ".")) / int(found[4])
        value = -value if found[1] == "-" else value
        return NumberCell(value, value, remark="fraction", part=int(found[4]))
    found = _FEET.fullmatch(text)
    if found:
        value = int(found[1]) + float(found[2]) / 12
        return NumberCell(value, value, units=("ft",))
    if _STARS.fullmatch(text):
        value = float(text.count("★") + text.count("⭐"))
        return NumberCell(value, value)
    found = _INTERVAL.fullmatch(text) or _RANGE.fullmatch(_BETWEEN.sub("", text))
    return _range(found) if found else None


def _range(found: re.Match[str]) -> NumberCell | None:
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
    return NumberCell(
        middle, other, mark, high.units or low.units, "range", width=2 * (high.value - middle)
    )


# Dates ------------------------------------------------------------------------------------

_MONTH_NAMES = (
    "january januar jänner janvier enero gennaio janeiro januari jan ene gen janv ocak sty "
    "stycznia января янв|"
    "february februar février febrero febbraio fevereiro februari feb févr fev fevr fevrier "
    "şubat lut lutego февраля фев|"
    "march märz mars marzo março maart mar mär mrz mrt marco maerz mart marts marca марта мар|"
    "april avril abril aprile apr avr abr nisan kwi kwietnia апреля апр|"
    "may mai mayo maggio maio mei mag maj mayıs maja мая|"
    "june juni juin junio giugno junho jun giu haziran cze czerwca июня июн|"
    "july juli juillet julio luglio julho jul juil lug temmuz lip lipca июля июл|"
    "august août agosto augustus aug aou ago aout augusti ağustos sie sierpnia августа авг|"
    "september septembre septiembre settembre setembro sep sept set eylül wrz września сентября "
    "сен|"
    "october oktober octobre octubre ottobre outubro oct okt ott out ekim paź października "
    "октября окт|"
    "november novembre noviembre novembro nov kasım lis listopada ноября ноя|"
    "december dezember décembre diciembre dicembre dezembro dec dez déc dic decembre aralık gru "
    "grudnia декабря дек"
)
_MONTHS = {
    name: month
    for month, names in enumerate(_MONTH_NAMES.split("|"), start=1)
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
        r"(?P<m>\d{1,2})[-/.](?P<y>\d{4})",
        r"(?P<m>0[1-9]|1[0-2])[-/](?P<y>\d\d)",
        r"FY\s?'?(?P<y>\d{4}|\d{2})(?:[-/]\d{2,4})?",
        r"(?P<y>\d{4})[-\s/.]*H(?P<h>[12])",
        r"H(?P<h>[12])[-\s/.]*(?P<y>\d{4})",
        rf"(?:Q|T)(?P<q>[1-4])(?!\d\d$)[-\s/.]*{_YEAR}",
        rf"(?P<q>[1-4])(?:Q|\.\s?Quartal)[-\s/.]*{_YEAR}",
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


class DayCell(NamedTuple):
    """Days since 1970 with the day first and with the month first; NaN where there is no such."""

    day_first: float
    month_first: float
    mark: str = ""  # between day and month, where their order is open
    parts: tuple[int, int, int] = (0, 0, 0)
    is_short: bool = False  # of two digits of the year


def read_date(text: str) -> DayCell | None:
    """What a cell says as a date, or None.

    Examples
    --------
    >>> [read_date(text).day_first for text in ("1970-01-02 12:00", "2 Jan 1970", "Q1 1970")]
    [1.5, 1.0, 0.0]
    >>> read_date("3/1/1970")[:3], read_date("31.02.1970"), read_date("soon")
    ((2.0, 59.0, '/'), None, None)
    """
    if text[4:5] == "-" and text[5:6] != "W" and len(text) > 9:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            since = moment.replace(tzinfo=moment.tzinfo or _START.tzinfo) - _START
            days = since / timedelta(days=1)
            return DayCell(days, days)
    text = clean(text)
    if len(text) > _LONGEST:
        return None
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            parts = {key: part for key, part in found.groupdict().items() if part}
            day = _as_day(parts)
            return day and day._replace(is_short=len(parts["y"]) == 2)
    found = _TIME_FIRST.fullmatch(text)
    if found:
        return read_date(f"{found[2]} {found[1]}")
    found = _DAY_BEHIND.fullmatch(text)
    return read_date(found[1]) if found else None


def _as_day(parts: dict[str, str]) -> DayCell | None:
    """The date of its parts: year, month and day, quarter, week, or numbers in either order."""
    year = int(parts["y"])
    seconds = _seconds(parts["rest"]) if "rest" in parts else 0.0
    if seconds is None:
        return None
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        day_first, month_first = (
            days_since_1970(year, second, first),
            days_since_1970(year, first, second),
        )
        last = year if len(parts["y"]) == 2 else 99
        if all(map(math.isnan, (day_first, month_first, days_since_1970(first, second, last)))):
            return None
        share = seconds / _DAY
        return DayCell(day_first + share, month_first + share, parts["sep"], (first, second, last))
    month = int(parts.get("m", 1))
    if "mon" in parts:
        month = _MONTHS[parts["mon"].casefold()]
    elif "q" in parts:
        month = 3 * int(parts["q"]) - 2
    elif "h" in parts:
        month = 6 * int(parts["h"]) - 5
    days = days_since_1970(year, month, int(parts.get("d", 1))) + seconds / _DAY
    if "yd" in parts:
        days += int(parts["yd"]) - 1 if 1 <= int(parts["yd"]) <= 366 else math.nan
    if "w" in parts:  # the first week of a year is the one that holds 4 January
        monday = 7 * int(parts["w"]) - 5 - (days + 6) % 7
        days += monday + int(parts.get("wd", 1)) if 1 <= int(parts["w"]) <= 53 else math.nan
    return None if math.isnan(days) else DayCell(days, days)


def days_since_1970(year: int, month: int, day: int) -> float:
    """Days since 1970, NaN where there is no such date."""
    if year < 100:  # two digits, as in C and Python
        year += 2000 if year < 69 else 1900
    try:
        return float(date(year, month, day).toordinal() - EPOCH)
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
NEVER = {days_since_1970(9999, 12, 31), 1.0 - EPOCH}

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


def read_hours(text: str) -> tuple[float, bool] | None:
    """Hours of a time of day or a duration and whether it can be a time of day; or None.

    Examples
    --------
    >>> read_hours("2:30 PM"), read_hours("125:10")[1], read_hours("-00:06:00")
    ((14.5, True), False, (-0.1, False))
    """
    text = clean(text)
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
        family, hours = UNITS.get("min" if is_minute else unit_name(name), ("", 0.0))
        if family != "time" or (hours > 200 and len(lengths) == 1):
            return None
        total += float(amount.replace(",", ".")) * hours
    return (-total if found["sign"] == "-" else total), False


# Values of Python -------------------------------------------------------------------------


def is_no_value(value: Any) -> bool:
    """Whether a value of Python is missing: None, NaN, and those of pandas."""
    is_nan = isinstance(value, float) and value != value  # noqa: PLR0124
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def text_of(value: Any) -> str:
    """A cell in words: whole numbers alike, whether a file held them as 1 or 1.0."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def number_of(value: Any) -> float | None:
    """A typed value: days since 1970 of dates, hours of times and durations; None of texts.

    Examples
    --------
    >>> number_of(True), number_of(date(1970, 1, 2)), number_of(timedelta(minutes=90))
    (1.0, 1.0, 1.5)
    """
    if isinstance(value, (int, float, Decimal)):
        try:
            return float(value)
        except (OverflowError, ValueError):  # of 10**400 and Decimal("sNaN")
            return math.nan
    if isinstance(value, time):
        value = datetime.combine(_START, value, _START.tzinfo) - _START
    if isinstance(value, timedelta):
        return value // _MICROSECOND / 3_600e6
    if not isinstance(value, date):
        return None
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    since = moment.replace(tzinfo=moment.tzinfo or _START.tzinfo) - _START
    return since // _MICROSECOND / 86_400e6


_MICROSECOND = timedelta(microseconds=1)

# Texts of a column, by its schema ---------------------------------------------------------

# Where no cell fits its kind, it may fit the other: one file has 1 where another one has true.
FLAGS = {"number": "boolean", "boolean": "number"}

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


def is_missing_word(text: str) -> bool:
    """Whether a text is missing among categories, where ``NA`` and ``none`` are values.

    Examples
    --------
    >>> is_missing_word(" "), is_missing_word("?"), is_missing_word("NA")
    (True, True, False)
    """
    return text.strip() in {"", "?"}


def text_reader(how: ColumnSchema, kind: str = "") -> Callable[[str], float | None]:
    """What reads a text as the schema says, or another kind: NaN is missing, None does not fit."""
    read_value = _value_reader(how, kind or how.kind)
    missing = SPELLINGS.union(clean(word).casefold() for word in how.missing)

    def read_text(text: str) -> float | None:
        value = read_value(text)
        is_value = value is not None and -math.inf < value < math.inf
        if (how.missing or not is_value) and clean(text).casefold() in missing:
            return math.nan
        if not is_value:
            return None
        return math.nan if value in how.codes else value

    return read_text


def _number_reader(how: ColumnSchema) -> Callable[[str], float | None]:
    """What reads one cell of a column of numbers; None is misread."""
    factors = unit_factors(how.units)
    has_point = how.decimal == "."
    of_computers = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
    plain = re.compile(of_computers if has_point else r"-?\d+").fullmatch
    # Most cells of most columns: a number with one unit that is not converted.
    between, mark = (",", r"\.") if has_point else (r"\.", ",")
    behind = [name for name in how.units if factors[unit_name(name)] == 1]
    before, unit = (
        "|".join(map(re.escape, names)) or "(?!)"
        for names in ([name for name in behind if stands_before(unit_name(name))], behind)
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
        cell = read_number(text)
        if cell is None:
            return None
        value = cell.value if has_point else cell.other
        for name in cell.units:
            if name not in factors:
                return None
            value *= factors[name]
        return value

    return read_cell


def _value_reader(how: ColumnSchema, kind: str) -> Callable[[str], float | None]:
    if kind == "number":
        return _number_reader(how)
    if kind == "boolean":
        return lambda text: {"true": 1.0, "false": 0.0}.get(text.strip().casefold())
    if kind == "date":
        return lambda text: _ordered(read_date(text), how.order, how.first_year)
    is_time = kind == "time"

    def read_clock(text: str) -> float | None:
        found = read_hours(text)
        return None if found is None or (is_time and not found[1]) else found[0]

    return read_clock


def _ordered(day: DayCell | None, order: str, first_year: int = 1969) -> float | None:
    """The day that a date is in the order of its column, and in the century."""
    if day is None:
        return None
    is_day_first = order == "day-first" or (order == "mixed" and day.mark == ".")
    value = day.day_first if is_day_first else day.month_first
    if day.mark and order == "year-first":
        value = days_since_1970(*day.parts)
    if math.isnan(value):
        return None
    if day.is_short and first_year != 1969:
        begin = days_since_1970(first_year, 1, 1)
        value += _CENTURY * ((value < begin) - (value >= begin + _CENTURY))
    return value


_CENTURY = 36_525  # days, from any of the years that two digits mean


# Values of Python of a column, by its schema ----------------------------------------------


def column_reader(how: ColumnSchema) -> Callable[[Sequence[Any]], list[Any]]:
    """What reads the cells of a column: texts, numbers, dates and so on; None and NaN are missing.

    It gives numbers, NaN where a cell is missing or does not fit, or words, None where missing.

    Examples
    --------
    >>> from toprank.tables.notation import ColumnSchema
    >>> how = ColumnSchema("price", "number", units=("€",), codes=(-999.0,))
    >>> column_reader(how)(["€ 77,25", 12, -999, "n/a", date(2024, 3, 31)])
    [77.25, 12.0, nan, nan, nan]
    """
    if how.kind == "category":
        return read_words
    kinds = [how.kind, FLAGS[how.kind]] if how.kind in FLAGS else [how.kind]
    readers = [text_reader(how, kind) for kind in kinds]

    def read_cell(cell: Any, read_text: Callable[[str], float | None]) -> float | None:
        value = math.nan if is_no_value(cell) else number_of(cell)
        if value is None:
            return read_text(text_of(cell))
        is_right = math.isfinite(value) and isinstance(cell, date) == (how.kind == "date")
        return value if is_right and value not in how.codes else math.nan

    def read_cells(cells: Sequence[Any]) -> list[float]:
        for read_text in readers:
            found = [read_cell(cell, read_text) for cell in cells]
            if None not in found or not all(x is None or math.isnan(x) for x in found):
                break
        return [math.nan if x is None else x for x in found]

    return read_cells


def read_words(cells: Sequence[Any]) -> list[str | None]:
    """Cells as words, without surrounding blanks; None where missing."""
    words = ["" if is_no_value(cell) else text_of(cell).strip() for cell in cells]
    return [None if is_missing_word(word) else word for word in words]
