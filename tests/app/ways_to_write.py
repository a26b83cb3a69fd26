"""Ways to write one column: each maps the clean values to cells of a CSV file."""

import datetime as dt

import numpy as np

ROWS = 2_000
_MONTHS_DE = [
    "Jan.",
    "Feb.",
    "März",
    "Apr.",
    "Mai",
    "Juni",
    "Juli",
    "Aug.",
    "Sept.",
    "Okt.",
    "Nov.",
    "Dez.",
]
_MISSING = (
    "-", "unknown", "none", "n.a.", "--", ".", "*", "missing", "k.A.", "#DIV/0!", "#VALUE!", "tbd",
    "NA", "NULL", "nan", "?", "<NA>", "not available", "refused", "keine Angabe",
)  # fmt: skip


def grouped(x, between=",", point="."):
    whole, rest = f"{x:,.2f}".split(".")
    return whole.replace(",", between) + point + rest


def indian(x):
    whole, rest = f"{x:.2f}".split(".")
    head, tail = whole[:-3], whole[-3:]
    pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
    return ",".join([*pairs, tail]) + "." + rest


def comma(x):
    return f"{x:.2f}".replace(".", ",")


def magnitude(x):
    return f"{x / 1000:.2f}k" if x >= 1000 else f"{x:.0f}"


def full_width(x):
    return "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in f"{x:.2f}")


def sometimes(way, other, share=0.5):
    """One way in a share of the rows, else another."""

    def write(x, rng):
        return way(x) if rng.random() < share else other(x)

    return write


def ordinal(x):
    tens, ones = divmod(int(x) % 100, 10)
    return f"{int(x)}{'th' if tens == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(ones, 'th')}"


def _sometimes_missing(word):
    return lambda x, rng: word if rng.random() < 0.05 else f"{x:.2f}"


def _plain(x):
    return f"{x:.2f}"


def _signed(way):
    """A way to write numbers of either sign."""
    return lambda x: way(x - 700)


NUMBERS = {
    "plain": _plain,
    "blanks": lambda x: f"  {x:.2f} ",
    "hard blanks": lambda x: f"\xa0{x:.2f}",
    "quoted": lambda x: f"'{x:.2f}'",
    "plus": lambda x: f"+{x:.2f}",
    "decimal comma": comma,
    "thousands, comma": lambda x: grouped(x),  # noqa: PLW0108 (one parameter)
    "thousands, point": lambda x: grouped(x, ".", ","),
    "thousands, blank": lambda x: grouped(x, " ", ","),
    "thousands, hard blank": lambda x: grouped(x, "\xa0", ","),
    "thousands, thin blank": lambda x: grouped(x, "\u202f", ","),
    "thousands, apostrophe": lambda x: grouped(x, "'"),
    "thousands, typographic apostrophe": lambda x: grouped(x, "’"),
    "thousands, underscore": lambda x: grouped(x, "_"),
    "thousands, Indian": lambda x: indian(x * 100),
    "thousands in half": sometimes(grouped, _plain),
    "whole thousands": lambda x: f"{x:,.0f}",
    "dollars": lambda x: f"${grouped(x)}",
    "dollars behind the sign": _signed(lambda x: f"{'-' if x < 0 else ''}${abs(x):,.2f}"),
    "euros behind": lambda x: f"{grouped(x, '.', ',')} €",
    "euros before": lambda x: f"€ {comma(x)}",
    "EUR behind": lambda x: f"{x:.2f} EUR",
    "EUR before": lambda x: f"EUR {x:.2f}",
    "francs": lambda x: f"CHF {grouped(x, chr(39))}",
    "reais": lambda x: f"R$ {grouped(x, '.', ',')}",
    "kronor": lambda x: f"{comma(x)} kr",
    "kilograms": lambda x: f"{x:.1f} kg",
    "kilograms in half": sometimes(lambda x: f"{x:.1f} kg", _plain),
    "kilograms, glued": lambda x: f"{x:.1f}kg",
    "degrees": _signed(lambda x: f"{x:.1f} °C"),
    "percent": lambda x: f"{x / 100:.2f}%",
    "percent in half": sometimes(lambda x: f"{x / 100:.2f}%", lambda x: f"{x / 100:.2f}"),
    "percent with comma": lambda x: f"{comma(x / 100)} %",
    "minus behind": _signed(lambda x: f"{abs(x):.2f}{'-' if x < 0 else ''}"),
    "minus in brackets": _signed(lambda x: f"({-x:.2f})" if x < 0 else f"{x:.2f}"),
    "minus of typesetters": _signed(lambda x: f"{x:.2f}".replace("-", "−")),
    "dollars in brackets": _signed(lambda x: f"(${-x:,.2f})" if x < 0 else f"${x:,.2f}"),
    "above a limit": lambda x: ">3000" if x > 3000 else f"{x:.2f}",
    "below a limit": lambda x: "<5" if x < 5 else f"{x:.2f}",
    "about": sometimes(lambda x: f"~{x:.0f}", _plain),
    "circa": sometimes(lambda x: f"ca. {x:.0f}", _plain, 0.1),
    "exponents": lambda x: f"{x:.4e}",
    "exponents with comma": lambda x: f"{x:.4E}".replace(".", ","),
    "powers of ten": lambda x: f"{x / 1000:.4f}×10^3",
    "magnitudes": magnitude,
    "full width": full_width,
    "apostrophe before": lambda x: f"'{x:.2f}",
    "formula": lambda x: f'="{x:.2f}"',
    "footnotes": sometimes(lambda x: f"{x:.2f}*", _plain, 0.2),
    "estimated": sometimes(lambda x: f"{x:.2f} (est.)", _plain, 0.2),
    "dash for cents": lambda x: f"{x:.0f},-",
    "number sign": lambda x: f"No. {x:.0f}",
    "ordinals": ordinal,
    "ranges": lambda x: f"{int(x // 50) * 50}-{int(x // 50) * 50 + 49}",
    "ranges with to": lambda x: f"{int(x // 50) * 50} to {int(x // 50) * 50 + 49}",
    "ranges of dollars": lambda x: f"${int(x // 50) * 50:,}-${int(x // 50) * 50 + 49:,}",
    "intervals": lambda x: f"({int(x // 50) * 50}, {int(x // 50) * 50 + 50}]",
    "debit and credit": _signed(lambda x: f"{grouped(abs(x), '.', ',')} {'H' if x < 0 else 'S'}"),
    "south and north": _signed(lambda x: f"{abs(x) / 50:.3f}° {'S' if x < 0 else 'N'}"),
    "rupees, glued": lambda x: f"Rs.{x:.0f}/-",
    "stars of shops": lambda x: f"{min(x / 500, 5):.2f} out of 5 stars",
    "thousands and more": lambda x: f"{x / 1000:.1f}k+" if x >= 1000 else f"{x:.0f}",
    "feet and inches": lambda x: f"{int(x / 20) // 12}'{int(x / 20) % 12}\"",
    "-32768": lambda x, rng: "-32768" if rng.random() < 0.05 else f"{x:.1f}",
    "two words of a sensor": sometimes(lambda x: f"ERR_{x > 400:d}", _plain, 0.1),
    "confidence": lambda x: f"{x:.1f} (95% CI {0.9 * x:.1f}-{1.1 * x:.1f})",
    "comma in half": sometimes(comma, _plain),
    "one bad cell": lambda x, rng: "12,5o" if rng.random() < 1 / ROWS else f"{x:.2f}",
    "bad cells": lambda x, rng: f"{x:.2f}".replace("0", "o") if rng.random() < 0.1 else f"{x:.2f}",
    "infinite": lambda x, rng: "inf" if rng.random() < 0.02 else f"{x:.2f}",
    "-999": lambda x, rng: "-999" if rng.random() < 0.05 else f"{x:.2f}",
    "99999": lambda x, rng: "99999" if rng.random() < 0.05 else f"{min(x, 9000):.2f}",
    **{f"missing as {word}": _sometimes_missing(word) for word in _MISSING},
}


def _time(pattern):
    return lambda x: dt.datetime.fromtimestamp(x * 86_400, dt.UTC).strftime(pattern)


def _german(x):
    day = dt.datetime.fromtimestamp(x * 86_400, dt.UTC)
    return f"{day.day}. {_MONTHS_DE[day.month - 1]} {day.year}"


def _quarter(x):
    day = dt.datetime.fromtimestamp(x * 86_400, dt.UTC)
    return f"Q{(day.month + 2) // 3} {day.year}"


DATES = {
    "ISO": _time("%Y-%m-%d"),
    "ISO with time": _time("%Y-%m-%dT%H:%M:%SZ"),
    "ISO with offset": _time("%Y-%m-%d %H:%M:%S+02:00"),
    "ISO with fractions": _time("%Y-%m-%d %H:%M:%S.123456"),
    "points": _time("%d.%m.%Y"),
    "points, short": _time("%d.%m.%y"),
    "day first": _time("%d/%m/%Y"),
    "month first": _time("%m/%d/%Y"),
    "month first, short, with time": _time("%m/%d/%y %I:%M %p"),
    "dashes": _time("%d-%m-%Y"),
    "slashes, year first": _time("%Y/%m/%d"),
    "names of months": _time("%d-%b-%Y"),
    "names of months, short": _time("%d-%b-%y"),
    "American words": _time("%B %d, %Y"),
    "British words": _time("%d %B %Y"),
    "German words": _german,
    "mail": _time("%a, %d %b %Y %H:%M:%S GMT"),
    "digits": _time("%Y%m%d"),
    "months": _time("%Y-%m"),
    "months in words": _time("%b %Y"),
    "quarters": _quarter,
    "months and years of two digits": _time("%m/%y"),
    "weekday behind": _time("%d.%m.%Y (%a)"),
    "Korean": _time("%Y. %m. %d."),
    "month as in statistics": _time("%YM%m"),
    "two forms": sometimes(_time("%Y-%m-%d"), _time("%d.%m.%Y")),
    "one bad cell": lambda x, rng: "soon" if rng.random() < 1 / ROWS else _time("%d.%m.%Y")(x),
    "missing": lambda x, rng: "open" if rng.random() < 0.05 else _time("%Y-%m-%d")(x),
}


def _clock(hours):
    return f"{int(hours):02d}:{int(hours * 60) % 60:02d}"


HOURS = {
    "clock": _clock,
    "clock with seconds": lambda h: f"{_clock(h)}:17",
    "clock of twelve": lambda h: (
        f"{int(h) % 12 or 12}:{int(h * 60) % 60:02d} {'PM' if h >= 12 else 'AM'}"
    ),
    "clock with offset": lambda h: f"{_clock(h)}+01:00",
    "clock from and to": lambda h: f"{_clock(h)}-{_clock(h + 0.25)}",
    "clock with h": lambda h: f"{int(h)}h{int(h * 60) % 60:02d}",
    "duration": lambda h: f"{int(4 * h):02d}:{int(240 * h) % 60:02d}:00",
    "duration in words": lambda h: f"{int(4 * h)}h {int(240 * h) % 60}m",
    "minutes": lambda h: f"{240 * h:.0f} min",
    "ISO duration": lambda h: f"PT{int(4 * h)}H{int(240 * h) % 60}M",
}


def clean_values(kind, n_rows, rng):
    """The clean values of a strong column, and a score that the labels follow."""
    if kind == "number":
        values = np.round(np.exp(rng.normal(6.0, 1.2, n_rows)), 2)
        return values, (np.log(values) - 6.0) / 1.2
    if kind == "date":
        values = rng.uniform(19_000, 19_700, n_rows)
        return values, (values - 19_350) / 200
    values = rng.uniform(0, 24, n_rows)
    return values, (values - 12) / 7


WAYS = [("number", name, way) for name, way in NUMBERS.items()]
WAYS += [("date", name, way) for name, way in DATES.items()]
WAYS += [("hour", name, way) for name, way in HOURS.items()]
