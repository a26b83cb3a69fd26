"""Every way to write a column that we know of reads as what a person would read in it."""

import datetime as dt
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.tables.notation import (
    KINDS,
    SPELLINGS,
    ColumnSchema,
    Hints,
    describe,
    infer,
    infer_codes,
    is_missing_word,
    read,
)

NAN = math.nan


def inferred(texts, hints=None, counts=None):
    return infer("x", texts, np.ones(len(texts)) if counts is None else counts, hints or Hints())


def values_of(texts, hints=None):
    """Infer and read a column, which agree about the cells that do not fit."""
    found = inferred(texts, hints)
    values, misread = read(texts, found.column)
    assert misread.sum() == found.n_misread
    assert np.isnan(values).sum() == found.n_misread + found.n_missing
    assert np.isnan(values[misread]).all()
    return found, values


def day(year, month=1, day=1, hour=0, minute=0, second=0.0):
    days = (dt.date(year, month, day) - dt.date(1970, 1, 1)).days
    return days + (hour + minute / 60 + second / 3600) / 24


# Numbers ----------------------------------------------------------------------------------

NUMBERS = {
    "plain": (["12.5", "7", "-3"], [12.5, 7, -3]),
    "blanks around": ([" 12.5 ", "\u00a07", "8\t"], [12.5, 7, 8]),
    "plus signs": (["+12.5", "-7", "+ 3"], [12.5, -7, 3]),
    "unicode minus": (["−12.5", "–7", "3"], [-12.5, -7, 3]),
    "trailing minus": (["45.76-", "12.30", "7-"], [-45.76, 12.3, -7]),
    "parentheses": (["(45.76)", "12.30", "(7)"], [-45.76, 12.3, -7]),
    "parentheses with dollars": (["($45.76)", "$12.30", "$(7)"], [-45.76, 12.3, -7]),
    "parentheses before a code": (["(45.76) EUR", "12.30 EUR"], [-45.76, 12.3]),
    "thousands with commas": (["1,234.50", "12.25", "1,234,567"], [1234.5, 12.25, 1234567]),
    "thousands with points": (["1.234,50", "12,25", "1.234.567"], [1234.5, 12.25, 1234567]),
    "thousands with blanks": (["1 234,50", "12,25", "1 234 567"], [1234.5, 12.25, 1234567]),
    "thousands with nbsp": (["1\u00a0234.50", "12.25"], [1234.5, 12.25]),
    "thousands with narrow blanks": (["1\u202f234,50", "1\u2009234"], [1234.5, 1234]),
    "thousands with apostrophes": (["1'234.50", "12’345", "7.5"], [1234.5, 12345, 7.5]),
    "thousands with underscores": (["1_234.50", "12_345"], [1234.5, 12345]),
    "indian grouping": (["12,34,567", "1,23,45,678.5", "12,345"], [1234567, 12345678.5, 12345]),
    "commas only between thousands": (["1,234", "12,345", "999"], [1234, 12345, 999]),
    "decimal commas": (["12,5", "7,25", "3"], [12.5, 7.25, 3]),
    "decimal commas decide unclear cells": (["12,5", "1,234", "0,5"], [12.5, 1.234, 0.5]),
    "zero before three digits": (["0,123", "1,234", "0,5"], [0.123, 1.234, 0.5]),
    "four digits before a comma": (["1234,567", "1,234"], [1234.567, 1.234]),
    "three decimals with points": (["1.234", "2.500", "0.125"], [1.234, 2.5, 0.125]),
    "both marks mixed": (["1.234,5", "1,234.5", "2,5", "7,5"], [1234.5, 1234.5, 2.5, 7.5]),
    "no zero before the mark": ([".5", "-.25", "1.5"], [0.5, -0.25, 1.5]),
    "no zero before the comma": ([",5", "-,25", "1,5"], [0.5, -0.25, 1.5]),
    "mark at the end": (["12.", "7.", "3.5"], [12, 7, 3.5]),
    "dollar signs": (["$12.50", "$1,234.00", "-$7", "$-8"], [12.5, 1234, -7, -8]),
    "dollar signs apart": (["$ 12.50", "$ 7"], [12.5, 7]),
    "euro signs behind": (["12,50 €", "1.234,00€", "7 €"], [12.5, 1234, 7]),
    "pounds": (["£12.50", "£7"], [12.5, 7]),
    "currency codes before": (["EUR 12.50", "EUR7", "EUR 1,234.00"], [12.5, 7, 1234]),
    "currency codes behind": (["12.50 EUR", "7 EUR", "1,234.50 eur"], [12.5, 7, 1234.5]),
    "francs": (["CHF 1'234.50", "CHF 7.05", "Fr. 12.–"], [1234.5, 7.05, 12]),
    "reais": (["R$ 1.234,50", "R$ 7,05"], [1234.5, 7.05]),
    "us dollars": (["US$12.50", "US$ 7.25"], [12.5, 7.25]),
    "rupees": (["Rs. 1,23,456", "Rs. 12.5", "₹7.5"], [123456, 12.5, 7.5]),
    "krona": (["12,50 kr", "7 kr.", "1 234 kr"], [12.5, 7, 1234]),
    "zloty": (["12,50 zł", "7 zł"], [12.5, 7]),
    "prices without cents": (["12,-", "12.–", "7.--", "8,50"], [12, 12, 7, 8.5]),
    "some with currency": (["$12.50", "7", "8.25", "$3"], [12.5, 7, 8.25, 3]),
    "two names of a currency": (["12 EUR", "7 €", "8,5 Euro"], [12, 7, 8.5]),
    "percent": (["12%", "7.5 %", "100%"], [12, 7.5, 100]),
    "some with percent": (["12%", "7.5", "8", "3 %"], [12, 7.5, 8, 3]),
    "percent and permille": (["12%", "5‰", "7%"], [12, 0.5, 7]),
    "kilograms": (["12 kg", "7.5kg", "1,234.5 kg"], [12, 7.5, 1234.5]),
    "units in capitals": (["12 KG", "7.5 kg", "8 Kg"], [12, 7.5, 8]),
    "grams and kilograms": (["2 kg", "500 g", "1.5 kg", "3 kg"], [2, 0.5, 1.5, 3]),
    "lengths": (["2 m", "50 cm", "1 km", "3 m"], [2, 0.5, 1000, 3]),
    "volumes": (["500 ml", "1 l", "250 ml", "2 l", "100 ml"], [500, 1000, 250, 2000, 100]),
    "bytes": (["2 MB", "500 KB", "1 GB", "3 MB"], [2, 0.5, 1000, 3]),
    "temperatures": (["12 °C", "-7.5°C", "8 °C"], [12, -7.5, 8]),
    "square metres": (["12 m²", "7.5 m²", "80m2"], [12, 7.5, 80]),
    "speeds": (["12 km/h", "7.5 km/h"], [12, 7.5]),
    "pieces": (["12 Stück", "7 Stück", "1 Stück"], [12, 7, 1]),
    "singular and plural": (["1 bed", "2 beds", "3 beds", "4 beds"], [1, 2, 3, 4]),
    "pcs": (["12 pcs.", "7 pcs.", "8 pcs"], [12, 7, 8]),
    "per": (["$12/mo", "$7/mo"], [12, 7]),
    "thousands with k": (["1.2k", "800", "3M", "15k"], [1200, 800, 3e6, 15000]),
    "large with K M B": (["1.2K", "3M", "2B", "7K"], [1200, 3e6, 2e9, 7000]),
    "dollars with magnitude": (["$1.2k", "$3M", "$1.5bn"], [1200, 3e6, 1.5e9]),
    "millions of euros": (["1,2 Mio. EUR", "3 Mrd. EUR", "7 Mio EUR"], [1.2e6, 3e9, 7e6]),
    "lakhs": (["1.5 lakh", "2 crore", "3 lakh"], [1.5e5, 2e7, 3e5]),
    "bounds": ([">250", "<0.5", "12", "≥7", "<= 8"], [250, 0.5, 12, 7, 8]),
    "about": (["~12", "ca. 12", "approx. 7", "≈8", "9"], [12, 12, 7, 8, 9]),
    "at least": (["65+", "12", "30"], [65, 12, 30]),
    "years of work": (["10+ years", "< 1 year", "3 years", "2 years"], [10, 1, 3, 2]),
    "ranges": (["10-20", "20–30", "30 to 40"], [15, 25, 35]),
    "ages in ranges": (["18-24", "25-34", "35-44", "65+"], [21, 29.5, 39.5, 65]),
    "ranges of money": (["$10,000 - $19,999", "$20,000 - $29,999"], [14999.5, 24999.5]),
    "scientific": (["1.2e3", "1E-2", "7"], [1200, 0.01, 7]),
    "scientific with comma": (["1,2E+03", "7,5E-01"], [1200, 0.75]),
    "powers of ten": (["1.2×10^3", "1.5 x 10^-2", "7"], [1200, 0.015, 7]),
    "fractions": (["1/2", "3 1/2", "7", "3/4"], [0.5, 3.5, 7, 0.75]),
    "fraction signs": (["½", "3½", "7", "2 ¼"], [0.5, 3.5, 7, 2.25]),
    "marks of five": (["4/5", "3/5", "5/5"], [0.8, 0.6, 1]),
    "out of": (["4 out of 5", "3 of 5", "5 of 5"], [0.8, 0.6, 1]),
    "feet and inches": (["5'11\"", "6'0\"", "5 ft 6 in"], [5 + 11 / 12, 6, 5.5]),
    "apostrophes of spreadsheets": (["'12.5", "'7"], [12.5, 7]),
    "formulas of texts": (['="12.5"', '="7"'], [12.5, 7]),
    "quotes": (['"12.5"', '"7"'], [12.5, 7]),
    "footnotes": (["12.5*", "7†", "8 [1]", "9 (est.)", "10¹"], [12.5, 7, 8, 9, 10]),
    "ordinals": (["1st", "2nd", "3rd", "11th"], [1, 2, 3, 11]),
    "full-width": (["１２．５", "７"], [12.5, 7]),
    "arabic digits": (["١٢٫٥", "٧"], [12.5, 7]),
    "numbered": (["No. 12", "Nr. 7", "#8", "№ 9"], [12, 7, 8, 9]),
    "credit and debit": (["12.50 CR", "7.25 DR", "8 DR"], [-12.5, 7.25, 8]),
    "stars": (["★★★", "★★★★☆", "★"], [3, 4, 1]),
    "model years": (["2019", "2021", "1998"], [2019, 2021, 1998]),
    "missing words": (["12.5", "n/a", "-", "k.A.", "#DIV/0!", "7"], [12.5, NAN, NAN, NAN, NAN, 7]),
    "blank cells": (["12.5", "", "  ", "7"], [12.5, NAN, NAN, 7]),
    "invisible marks": (["\ufeff12.5", "\u200e7"], [12.5, 7]),
}


@pytest.mark.parametrize("texts", NUMBERS)
def test_a_notation_of_numbers(texts):
    texts, expected = NUMBERS[texts]
    found, values = values_of(texts)
    assert (found.column.kind, found.n_misread) == ("number", 0)
    np.testing.assert_allclose(values, expected, rtol=1e-12)


# Dates, times and durations ---------------------------------------------------------------

MARCH = [day(2024, 3, 1), day(2024, 12, 25)]
DATES = {
    "iso": (["2024-03-01", "2024-12-25"], MARCH),
    "iso with time": (["2024-03-01T12:00:00", "2024-12-25T00:00"], [MARCH[0] + 0.5, MARCH[1]]),
    "iso with blank": (["2024-03-01 12:00", "2024-12-25 00:00:00.000"], [MARCH[0] + 0.5, MARCH[1]]),
    "iso in utc": (["2024-03-01T12:00:00Z", "2024-12-25T00:00:00.5Z"], None),
    "iso with offsets": (
        ["2024-03-01T01:00:00+01:00", "2024-12-24 19:00:00-0500"],
        MARCH,
    ),
    "eight digits": (["20240301", "20241225"], MARCH),
    "fourteen digits": (["20240301120000", "20241225000000"], [MARCH[0] + 0.5, MARCH[1]]),
    "german": (["01.03.2024", "25.12.2024"], MARCH),
    "german short": (["1.3.24", "25.12.24"], MARCH),
    "british": (["01/03/2024", "25/12/2024"], MARCH),
    "american": (["03/01/2024", "12/25/2024"], MARCH),
    "american short": (["3/1/24", "12/25/24"], MARCH),
    "american with time": (["3/1/2024 12:00 PM", "12/25/2024 12:00 AM"], [MARCH[0] + 0.5, MARCH[1]]),
    "dutch": (["01-03-2024", "25-12-2024"], MARCH),
    "year first with slashes": (["2024/03/01", "2024/12/25"], MARCH),
    "year first with points": (["2024.03.01", "2024.12.25"], MARCH),
    "day and name": (["1 Mar 2024", "25 Dec 2024"], MARCH),
    "day and full name": (["1 March 2024", "25 December 2024"], MARCH),
    "name and day": (["March 1, 2024", "December 25, 2024"], MARCH),
    "name and ordinal": (["March 1st, 2024", "Dec. 25th, 2024"], MARCH),
    "oracle": (["01-Mar-24", "25-DEC-24"], MARCH),
    "letters": (["Fri, 01 Mar 2024 12:00:00 GMT", "Wed, 25 Dec 2024 00:00:00 +0000"], None),
    "unix": (["Fri Mar  1 12:00:00 2024", "Wed Dec 25 00:00:00 2024"], None),
    "weekday before": (["Friday, March 1, 2024", "Wed, December 25, 2024"], MARCH),
    "german names": (["1. März 2024", "25. Dezember 2024"], MARCH),
    "french names": (["1er mars 2024", "25 décembre 2024"], MARCH),
    "spanish names": (["1 de marzo de 2024", "25 de diciembre de 2024"], MARCH),
    "italian names": (["1 marzo 2024", "25 dicembre 2024"], MARCH),
    "portuguese names": (["1 de março de 2024", "25 de dezembro de 2024"], MARCH),
    "dutch names": (["1 maart 2024", "25 december 2024"], MARCH),
    "japanese": (["2024年3月1日", "2024年12月25日"], MARCH),
    "year and name": (["2024-Mar-01", "2024 December 25"], MARCH),
    "month": (["2024-03", "2024-12"], [day(2024, 3), day(2024, 12)]),
    "month first": (["03/2024", "12/2024"], [day(2024, 3), day(2024, 12)]),
    "month with point": (["03.2024", "12.2024"], [day(2024, 3), day(2024, 12)]),
    "name of month": (["Mar 2024", "December 2024"], [day(2024, 3), day(2024, 12)]),
    "name of month short": (["Mar-24", "Dec-24"], [day(2024, 3), day(2024, 12)]),
    "quarter": (["Q1 2024", "Q4 2024"], [day(2024), day(2024, 10)]),
    "quarter behind": (["2024-Q1", "2024Q4"], [day(2024), day(2024, 10)]),
    "week": (["2024-W09", "2024-W52"], [day(2024, 2, 26), day(2024, 12, 23)]),
    "forms mixed": (["2024-03-01", "25.12.2024"], MARCH),
    "three forms mixed": (["March 1, 2024", "12/25/2024", "2024-03-01"], [*MARCH, MARCH[0]]),
    "points and slashes": (["01.03.2024", "12/25/2024", "31.12.2024"], [*MARCH, day(2024, 12, 31)]),
    "missing dates": (["2024-03-01", "0000-00-00", "n/a", "2024-12-25"], [MARCH[0], NAN, NAN, MARCH[1]]),
    "never": (["2024-03-01", "9999-12-31", "2024-12-25"], [MARCH[0], NAN, MARCH[1]]),
    "pivot": (["31.12.68", "31.12.69"], [day(2068, 12, 31), day(1969, 12, 31)]),
}
DATES["iso in utc"] = (DATES["iso in utc"][0], [MARCH[0] + 0.5, MARCH[1] + 0.5 / 86400])
for at in ("letters", "unix"):
    DATES[at] = (DATES[at][0], [MARCH[0] + 0.5, MARCH[1]])


@pytest.mark.parametrize("texts", DATES)
def test_a_notation_of_dates(texts):
    texts, expected = DATES[texts]
    found, values = values_of(texts)
    assert (found.column.kind, found.n_misread, found.is_unclear) == ("date", 0, False)
    np.testing.assert_allclose(values, expected, rtol=1e-12)


CLOCKS = {
    "hours and minutes": ("time", ["14:30", "02:15"], [14.5, 2.25]),
    "with seconds": ("time", ["14:30:36", "02:15:00"], [14.51, 2.25]),
    "pm": ("time", ["2:30 PM", "12:15 am", "12:15 p.m."], [14.5, 0.25, 12.25]),
    "pm without minutes": ("time", ["2 PM", "11 AM"], [14, 11]),
    "french": ("time", ["14h30", "2h15"], [14.5, 2.25]),
    "uhr": ("time", ["14.30 Uhr", "2:15 Uhr"], [14.5, 2.25]),
    "hours of runs": ("duration", ["25:10:00", "01:10:00"], [25 + 1 / 6, 1 + 1 / 6]),
    "long": ("duration", ["125:15", "01:30"], [125.25, 1.5]),
    "units": ("duration", ["1h 15m", "30m 0s", "2h"], [1.25, 0.5, 2]),
    "minutes": ("duration", ["75 min", "30 min"], [1.25, 0.5]),
    "words": ("duration", ["1 hour 15 minutes", "2 hours"], [1.25, 2]),
    "german": ("duration", ["1 Std. 15 Min.", "2 Stunden"], [1.25, 2]),
    "days and clock": ("duration", ["1 day 02:15:00", "2 days, 0:00:00"], [26.25, 48]),
    "days and hours": ("duration", ["1d 2h", "3d"], [26, 72]),
    "iso": ("duration", ["PT1H15M", "P1DT2H", "PT30M"], [1.25, 26, 0.5]),
    "negative": ("duration", ["-00:15:00", "00:30:00"], [-0.25, 0.5]),
}


@pytest.mark.parametrize("texts", CLOCKS)
def test_a_notation_of_times(texts):
    kind, texts, expected = CLOCKS[texts]
    found, values = values_of(texts)
    assert (found.column.kind, found.n_misread) == (kind, 0)
    np.testing.assert_allclose(values, expected, rtol=1e-12)


# What is no number and no date ------------------------------------------------------------

CATEGORIES = {
    "zip codes": ["01234", "90210", "10001"],
    "a few leading zeros": [f"{k}" for k in range(1000, 1100)] + ["0042"],
    "account numbers": ["000943269556", "943269557123"],
    "card numbers": ["44883869844249675555", "4488386984424967000"],
    "card numbers with blanks": ["4111 1111 1111 1111", "5500 0000 0000 0004"],
    "telephones": ["555-1234", "555-0123", "555-9876"],
    "telephones with area": ["(555) 123-4567", "(555) 987-6543"],
    "telephones of countries": ["+49 170 1234567", "+49 171 7654321"],
    "telephones in groups": ["+1 555 123 456", "+1 555 987 654"],
    "telephones with zeros": ["030 123 456", "030 987 654"],
    "versions": ["1.2.3", "1.10.2", "2.0.1"],
    "versions with v": ["v1.2", "v1.3", "v2.0"],
    "addresses of machines": ["192.168.0.1", "10.0.0.12", "172.16.254.3"],
    "invoices": ["INV-00012", "INV-00013", "INV-00014"],
    "invoices with blanks": ["INV 00012", "INV 00013"],
    "isbn": ["978-3-16-148410-0", "978-0-30-640615-7"],
    "letters and digits": ["A1", "B2", "A3", "C1"],
    "one letter and digits": ["C123", "C124", "C300"],
    "digits and letters": ["12A", "12B", "13A", "14C"],
    "grades": ["A", "B", "A", "C"],
    "codes of both": ["1", "2", "A", "B", "3"],
    "mostly codes": ["1", "2", "3", "4", "5", "6", "A"],
    "postcodes": ["SW1A 1AA", "EC1A 1BB", "W1A 0AX"],
    "license plates": ["B AB 123", "M XY 456", "HH AA 1"],
    "license plates of the states": ["ABC 123", "XYZ 987", "KLM 555"],
    "results": ["3-2", "0-0", "1-4", "2-2"],
    "slashes": ["1/2/3", "2/2/3", "1/1/1"],
    "blood pressure": ["120/80", "135/90", "110/75", "128/84"],
    "streets": ["12 Main St", "14 Elm Rd", "7 Oak Ave", "9 Hill Ln"],
    "countries": ["DE", "NA", "FR", "US"],
    "words": ["none", "unknown", "high", "low"],
    "yes and no": ["yes", "no", "yes"],
    "stores": ["Store 1", "Store 2", "Store 12"],
    "identifiers": ["550e8400-e29b-41d4-a716-446655440000", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
    "mail": ["a1@example.com", "b2@example.com"],
    "links": ["https://example.com/1", "https://example.com/2"],
    "words of missing alone": ["unknown", "none"],
    "seasons": ["2023-24", "2022-23"],
    "sentences": ["was late 3 times", "paid 2 bills in May 2024"],
    "sizes": ["S", "M", "L", "XL"],
    "infinities": ["inf", "-inf", "Infinity"],
}


@pytest.mark.parametrize("texts", CATEGORIES)
def test_what_stays_a_category(texts):
    found = inferred(CATEGORIES[texts])
    assert (found.column.kind, found.n_missing, found.n_misread) == ("category", 0, 0)
