"""Every way to write a column that we know of reads as what a person would read in it."""

import datetime as dt
import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.tables.cell_texts import SPELLINGS, is_missing_word
from toprank.tables.notation import (
    KINDS,
    ColumnSchema,
    Hints,
    describe,
    infer,
    infer_codes,
    read,
)
from toprank.tables.schema import Schema

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
    "about": (["~12", "ca. 13", "approx. 7", "≈8", "9"], [12, 13, 7, 8, 9]),
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
    "rupees with strokes": (["Rs. 12/-", "Rs. 1,250/-"], [12, 1250]),
    "deviations": (["12.5 ± 0.3", "7 +/- 0.1"], [12.5, 7]),
    "two units": (["12 kg (26.5 lb)", "7 kg (15.4 lb)"], [12, 7]),
    "arrows": (["▲ 1.2%", "▼ 0.5%"], [1.2, -0.5]),
    "a word before": (["Score: 12.5", "Score: 7.25", "Score: 8"], [12.5, 7.25, 8]),
    "thousands of euros": (["12 k€", "7,5 T€", "1 Mio. €"], [12000, 7500, 1e6]),
    "watts": (["500 W", "1.5 kW", "2 kW", "700 W", "900 W"], [500, 1500, 2000, 700, 900]),
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
    "american with time": (
        ["3/1/2024 12:00 PM", "12/25/2024 12:00 AM"],
        [MARCH[0] + 0.5, MARCH[1]],
    ),
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
    "missing dates": (
        ["2024-03-01", "0000-00-00", "n/a", "2024-12-25"],
        [MARCH[0], NAN, NAN, MARCH[1]],
    ),
    "never": (["2024-03-01", "9999-12-31", "2024-12-25"], [MARCH[0], NAN, MARCH[1]]),
    "year first in two digits": (["99-12-31", "24-03-01"], [day(1999, 12, 31), MARCH[0]]),
    "point at the end": (["01.03.2024.", "25.12.2024."], MARCH),
    "sas": (["01MAR2024", "25DEC2024:00:00:00"], MARCH),
    "day of the year": (["2024-061", "2024-360"], MARCH),
    "time first": (["12:00 01.03.2024", "0:00 25.12.2024"], [MARCH[0] + 0.5, MARCH[1]]),
    "log": (
        ["01/Mar/2024:12:00:00 +0000", "25/Dec/2024:01:00:00 +0100"],
        [MARCH[0] + 0.5, MARCH[1]],
    ),
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
    "blanks behind a point": ["1.2 345", "3,25 17", "10.5 000"],
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
    "classes of income": ["<=50K", ">50K"],
    "gates": ["Gate 12", "Gate 7", "Gate 3"],
}


@pytest.mark.parametrize("texts", CATEGORIES)
def test_what_stays_a_category(texts):
    found = inferred(CATEGORIES[texts])
    assert (found.column.kind, found.n_missing, found.n_misread) == ("category", 0, 0)


# What a column is -------------------------------------------------------------------------


def numbers(n=200, seed=0):
    return [f"{value:.2f}" for value in np.random.default_rng(seed).lognormal(4, 1, n)]


@pytest.mark.parametrize("word", ["12,5o", "see notes", "inf", "1e999", "12 of", "2024-03-01"])
def test_a_few_cells_that_do_not_fit_count_as_missing(word):
    texts = numbers()
    texts[8] = word
    found, values = values_of(texts)
    assert (found.column.kind, found.n_misread, found.misread) == ("number", 1, word)
    assert np.isnan(values[8])


@pytest.mark.parametrize("word", sorted(SPELLINGS - {""}))
def test_a_spelling_of_missing_is_missing_everywhere(word):
    for texts in (numbers(), ["2024-03-01", "2024-12-25"], ["14:30", "02:15"], ["true", "false"]):
        found, values = values_of([*texts, word.upper()])
        assert (found.column.kind != "category", found.n_missing) == (True, 1)
        assert np.isnan(values).tolist() == [False] * len(texts) + [True]


def test_words_of_a_column_become_missing_and_are_named():
    texts = [*numbers(), "refused", "no answer"]
    counts = np.array([1] * 200 + [40, 20])
    found = inferred(texts, counts=counts)
    assert (found.column.kind, found.column.missing) == ("number", ("refused", "no answer"))
    assert (found.n_missing, found.n_misread) == (60, 0)
    assert "'refused' (40 cells), 'no answer' (20 cells)" in found.notes[0]
    values, misread = read(["Refused", "7", "other"], found.column)
    np.testing.assert_array_equal(values, [NAN, 7, NAN])
    assert misread.tolist() == [False, False, True]


def test_a_column_that_is_nearly_of_numbers_says_so():
    found = inferred([*numbers(60), *(f"word {letter}" for letter in "abcdefghij")])
    assert found.column.kind == "category"
    assert "85 % of the cells are numbers, the others (such as 'word a')" in found.notes[0]
    assert "--type x=number" in found.notes[0]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        ([], "empty"),
        (["", " ", "?"], "empty"),
        (["", "unknown"], "category"),
        (["True", "FALSE"], "boolean"),
    ],
)
def test_a_column_with_little_in_it(texts, kind):
    assert inferred(texts).column.kind == kind


def test_missing_cells_of_a_category_are_blank_or_a_question_mark():
    found = inferred(["DE", "NA", "", "?"], counts=np.array([5, 4, 3, 2]))
    assert (found.column.kind, found.n_missing) == ("category", 5)
    assert [is_missing_word(text) for text in ("", " ", "?", "NA", "none")] == [True] * 3 + [
        False
    ] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_the_user_has_the_last_word_about_the_kind(kind):
    texts = ["1", "2024-03-01", "14:30", "true", "zzz"]
    found = inferred(texts, Hints(kind=kind))
    assert found.column.kind == ("category" if kind == "empty" else kind)
    assert found.n_misread == (0 if kind in {"category", "empty"} else 4)


def test_unclear_marks_are_assumed_and_can_be_overruled():
    found, values = values_of(["1,234", "5,678"])
    assert (found.is_unclear, found.column.decimal, values.tolist()) == (True, ".", [1234, 5678])
    assert "--decimal x=," in found.notes[0]
    found, values = values_of(["1,234", "5,678"], Hints(decimal=","))
    assert (found.is_unclear, found.notes, values.tolist()) == (False, (), [1.234, 5.678])
    found, values = values_of(["1,234", "5,678", "2345"])
    assert (found.is_unclear, values.tolist()) == (True, [1.234, 5.678, 2345])


def test_points_between_thousands_beside_small_whole_numbers():
    texts = [str(k) for k in range(700, 720)] + [f"1.{k}" for k in range(200, 240)]
    found, values = values_of(texts)
    assert (found.column.decimal, found.is_unclear) == (",", True)
    np.testing.assert_array_equal(values, [*range(700, 720), *range(1200, 1240)])
    assert not values_of([f"1.{k}" for k in range(200, 240)])[0].is_unclear


def test_next_week_is_read_by_the_rule_of_the_training():
    how = inferred(["1.234,50 EUR", "12,25 EUR"]).column
    values, misread = read(["1.234", "7 USD", "7 kg", "7,5 EUR"], how)
    np.testing.assert_array_equal(values, [1234, NAN, NAN, 7.5])
    assert misread.tolist() == [False, True, True, False]
    how = inferred(["31/12/2024", "01/03/2024"]).column
    values, misread = read(["03/01/2024", "12/25/2024"], how)
    np.testing.assert_array_equal(values, [day(2024, 1, 3), NAN])
    assert misread.tolist() == [False, True]


def test_the_order_of_day_and_month():
    found, values = values_of(["01/03/2024", "02/04/2024"])
    assert (found.is_unclear, found.column.order, values[0]) == (
        True,
        "month-first",
        day(2024, 1, 3),
    )
    assert "--dates day-first" in found.notes[0]
    found, values = values_of(["01/03/2024"], Hints(order="day-first"))
    assert (found.is_unclear, values[0]) == (False, day(2024, 3, 1))
    found, _ = values_of([f"{k:02d}/03/2024" for k in range(1, 12)])
    assert (found.is_unclear, found.column.order) == (True, "day-first")
    assert inferred(["03.25.2024", "01.02.2024"]).column.order == "month-first"
    found, values = values_of(["31/12/2024", "30/11/2024", "12/25/2024"])
    assert (found.column.kind, found.column.order, found.misread) == (
        "date",
        "day-first",
        "12/25/2024",
    )
    assert "some dates have the day first" in found.notes[0]


def test_invalid_dates_are_misread():
    texts = [f"{k}.01.2024" for k in range(1, 31)]
    found, _ = values_of([*texts, "31.02.2024"])
    assert (found.column.kind, found.misread) == ("date", "31.02.2024")


def test_notes_name_bounds_ranges_and_units():
    notes = inferred([*numbers(), ">250"], counts=np.array([1] * 200 + [9])).notes
    assert notes == ("x: 9 cells such as '>250', read as their number.",)
    assert "read as their middle" in inferred(["10-20", "20-30"]).notes[0]
    assert "read alike" in inferred(["$12", "7 €", "$8"]).notes[0]
    assert "converted" in inferred(["2 kg", "500 g", "3 kg", "250 g"]).notes[0]
    assert "decimal comma, others" in inferred(["1,5", "1.5"]).notes[0]
    assert "codes, not numbers" in inferred(["0042", "1234"]).notes[0]


def test_a_rare_letter_is_no_unit_but_a_rare_currency_is():
    assert inferred([*numbers(), "12 kg"]).n_misread == 1
    assert inferred([*numbers(), "12 Q", "13 Z"]).n_misread == 2
    assert inferred([*numbers(), "$12"]).n_misread == 0


def test_a_notation_in_few_words():
    column = ColumnSchema("x", "number", ",", ("EUR", "%"), missing=("refused",), codes=(-999.0,))
    assert describe(column) == "decimal comma, EUR, percent, missing: -999 refused"
    assert describe(ColumnSchema("x", "date", order="day-first")) == "day first"
    assert describe(ColumnSchema("x", "category")) == ""


# Codes for missing ------------------------------------------------------------------------

MANY = np.arange(1000.0)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (np.r_[MANY, [-999] * 50], (-999,)),
        (np.r_[MANY, [9999] * 50], (9999,)),
        (np.r_[MANY, [-9999] * 50, [99999] * 20], (-9999, 99999)),
        (np.r_[MANY, [-999] * 50, [-99] * 20], (-999, -99)),
        (np.r_[MANY - 500, [-9999] * 50], (-9999,)),
        (np.r_[MANY, [-999] * 3], ()),  # too few
        (np.r_[MANY - 500, [-999] * 50], ()),  # too near
        (np.r_[MANY, [9999]], ()),
        (np.r_[MANY % 99, [99] * 50], ()),  # a percentage, an age
        (np.r_[MANY, [999] * 50], ()),  # a price
        (np.r_[MANY % 871 + 1, [-1] * 500], (-1,)),  # days since never
        (np.r_[MANY - 1], ()),
        (np.r_[[-1] * 50, [0] * 50, [1] * 50], ()),  # labels
        (np.r_[[1, 2, 3, 9] * 50], (9,)),
        (np.r_[MANY, [2147483647] * 50], (2147483647,)),
        (np.r_[[-999.0] * 50], ()),  # nothing else
        (np.r_[MANY, [np.nan] * 500, [-999] * 50], (-999,)),
    ],
)
def test_codes_for_missing(numbers, expected):
    assert infer_codes(numbers) == expected
    values, counts = np.unique(numbers, return_counts=True)
    assert infer_codes(values, counts) == expected


def test_codes_are_read_as_missing():
    found, values = values_of([*numbers(), "-999"])
    assert found.column.codes == ()
    found = inferred([*numbers(), "-999"], counts=np.array([1] * 200 + [20]))
    assert (found.column.codes, found.n_missing, found.n_misread) == ((-999.0,), 20, 0)
    assert "-999 is read as a code for missing (20 cells that" in found.notes[0]
    values, misread = read(["-999", "7"], found.column)
    assert np.isnan(values).tolist() == [True, False]
    assert not misread.any()


# Any number in any notation ---------------------------------------------------------------

SHAPES = [
    "{}",
    "${}",
    "{} EUR",
    "{}%",
    "{} kg",
    " {} ",
    "'{}",
    '"{}"',
    "~{}",
    "{}*",
    "CHF {}",
    "{} km/h",
]


def written(value, decimal, between, shape):
    text = f"{abs(value):,.2f}".replace(",", "t").replace(".", decimal).replace("t", between)
    return (
        ("-" if value < 0 else "") + shape.format(text)
        if shape[0] == "{"
        else shape.format(("-" if value < 0 else "") + text)
    )


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20),
    st.sampled_from(
        [(",", "."), (",", " "), (",", ""), (".", ","), (".", "'"), (".", ""), (",", "\u202f")]
    ),
    st.sampled_from(SHAPES),
)
def test_a_number_in_any_notation_reads_back(cents, marks, shape):
    values = [cent / 100 for cent in cents]
    found, back = values_of(list(dict.fromkeys(written(value, *marks, shape) for value in values)))
    assert found.column.kind == "number"
    assert found.n_misread == 0
    np.testing.assert_allclose(back, list(dict.fromkeys(v + 0.0 for v in values)), rtol=1e-12)


@given(
    st.lists(st.integers(31_536_000, 2_050_000_000), min_size=1, max_size=20),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d %b %Y", "%B %d, %Y", "%Y/%m/%d", "%d-%b-%y"]),
    st.sampled_from(["", " %H:%M:%S", " %I:%M:%S %p"]),
)
def test_a_date_in_any_notation_reads_back(seconds, form, clock):
    moments = [dt.datetime.fromtimestamp(second, dt.UTC) for second in seconds]
    texts = list(dict.fromkeys(moment.strftime(form + clock) for moment in moments))
    found, back = values_of(texts)
    assert (found.column.kind, found.n_misread) == ("date", 0)
    since = [second / 86_400 if clock else second // 86_400 for second in seconds]
    expected = dict.fromkeys(since)
    np.testing.assert_allclose(back, list(expected), atol=1e-6)


@given(st.lists(st.text(max_size=12), max_size=12, unique=True))
def test_any_texts_are_read_as_they_were_inferred(texts):
    found = inferred(texts)
    if found.column.kind not in {"category", "empty"}:
        values_of(texts)


@given(
    st.lists(
        st.text("0123456789.,-+'% $€kgEeTZ:/()<>", min_size=1, max_size=14), max_size=8, unique=True
    ),
    st.sampled_from(["number", "date", "time", "duration", "boolean"]),
)
def test_no_text_is_too_odd(texts, kind):
    values_of(texts, Hints(kind=kind))


@pytest.mark.parametrize("end", ["x!", "*!", "1 ", "(", "-", "1-", "T1H", "a", ".,", "1 and "])
def test_no_pattern_takes_long(end):
    texts = ["1" + end * k for k in (15, 39, 10_000)]
    started = time.process_time()
    for kind in KINDS:
        inferred(texts, Hints(kind=kind))
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("texts", "in_words"),
    [
        (["2024-03-01T10:00:00Z", "2024-03-02T11:30:00Z"], False),
        (["31.12.2024", "01.02.2024", "n/a"], False),
        (["1 Mar 2024", "2 Apr 2024"], True),
        (["7:30", "18:15"], False),
        (["7:30 AM", "6:15 PM"], True),
        (["1h 10m", "2h 5m"], True),
    ],
)
def test_dates_and_times_with_letters_are_marked(texts, in_words):
    cells = np.array(texts * 10, dtype=object)
    assert Schema.infer({"x": cells})["x"].in_words is in_words
