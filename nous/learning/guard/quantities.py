"""Numbers, dates and times of day, each in one spelling: `$4,000` and `4000 dollars`, `2 PM` and `14:00`."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.tokens import Shape, Token

Found = tuple[str, int]
"""A quantity in its one spelling, and how many tokens it took."""

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMERIC_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})|(\d{1,2})\.(\d{1,2})\.(\d{4})")
_CODES = frozenset({"usd", "eur", "gbp"})
_HALVES = {"in the morning": "am", "in the afternoon": "pm", "in the evening": "pm"}
_TIMES = {"millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000, "week": 604_800_000}
_PARTS_OF_DAY = frozenset({"morning", "afternoon", "evening", "night"})
SPANS = frozenset({*_TIMES, "month", "year"})
_ARTICLES = frozenset({"a", "an"})
_OPENERS = frozenset({"noon", "midnight", "half", *_ARTICLES, *_CODES})
_SIGNS = {"$": "dollar", "€": "euro", "£": "pound"}
_LONGEST = 15
"""Digits of a number that is reckoned with; a longer one names something, and no digit of it may be lost."""

_ALSO_WORDS = frozenset({"jan", "may", "march", "mar", "sun", "sat", "wed"})
_ALSO_NAMES = frozenset({"jan", "mar", "sun"})
"""Short for a month or a weekday; but not where somebody does something, as in `handled by Jan`."""

_SHORT = {"tues": "tuesday", "weds": "wednesday", "thur": "thursday", "thurs": "thursday"}
"""Abbreviations beside those of three letters."""

_BEFORE_NAMES = frozenset({"by", "with"})
_LONGEST_SHORT = 4


def quantity_at(tokens: Sequence[Token], lexicon: Lexicon, before: str = "") -> Found | None:
    """The quantity that *tokens*, which stand behind the word *before*, begin with, the longest there is."""
    if not tokens or not _may_begin(tokens[0], lexicon):
        return None
    readers: tuple[Callable[[Sequence[Token], Lexicon], Found | None], ...] = (
        _date,
        _time,
        _quarter,
        _ordinal,
        _number,
    )
    found = next((found for read in readers if (found := read(tokens, lexicon))), None)
    is_name = before in _BEFORE_NAMES and tokens[0].lower in _ALSO_NAMES
    return None if is_name and found and found[1] == 1 else found


def _may_begin(token: Token, lexicon: Lexicon) -> bool:
    """Whether a quantity may begin with *token*. Most words cannot, and this is asked of each."""
    if token.shape is not Shape.WORD:
        return True
    word = token.lower
    if word in _OPENERS or word in lexicon.numerals.numbers or word in lexicon.numerals.ordinals:
        return True
    return any(_number_of(token, names) for names in (lexicon.weekdays, lexicon.months))


def may_count(quantity: str) -> bool:
    """Whether a noun may follow, as after `3`; none does after a date, a year, a path or `30 seconds`."""
    is_number = quantity.isdecimal() or (quantity[:-2].isdecimal() and quantity.endswith(("st", "nd", "rd", "th")))
    return is_number and not (len(quantity) == 4 and quantity.startswith(("19", "20")))


def _date(tokens: Sequence[Token], lexicon: Lexicon) -> Found | None:
    """March 31, 2026 · 31st of March 2026 · March 5 · June 2024 · June · Monday."""
    first, second, third = _three(tokens)
    if first and (numeric := _NUMERIC_DATE.fullmatch(first.text)):
        year, month, day, late_day, late_month, late_year = numeric.groups()
        return f"{year or late_year}-{int(month or late_month):02}-{int(day or late_day):02}", 1
    if month := _number_of(first, lexicon.months):
        if day := _day(second):
            return _written(_year(third), month, day, length=2)
        year = _year(second)
        return None if not year and _is_doubtful(first) else _written(year, month, "", length=1)
    of = second is not None and second.lower == "of"
    if (day := _day(first)) and (month := _number_of(third if of else second, lexicon.months)):
        return _written(_year(tokens[2 + of] if len(tokens) > 2 + of else None), month, day, length=2 + of)
    if (weekday := _number_of(first, lexicon.weekdays)) and not _is_doubtful(first):
        part = second.lower.removesuffix("s") if second else ""
        return (f"weekday {weekday} {part}", 2) if part in _PARTS_OF_DAY else (f"weekday {weekday}", 1)
    return None


def _written(year: str, month: int, day: str, *, length: int) -> Found:
    """As in ISO 8601, with nothing where nothing was said."""
    parts = (year or "-", f"{month:02}", day)
    return "-".join(part for part in parts if part), length + bool(year)


def _number_of(token: Token | None, names: Mapping[str, int]) -> int | None:
    """The number of a month or weekday, or of each. Only with a capital: `may`, `march` and `sat` are words too."""
    if token is None or not token.text[0].isupper():
        return None
    name = _SHORT.get(token.lower, token.lower)
    one = name.removesuffix("s")
    return names.get(name) or (names.get(one) if len(one) > _LONGEST_SHORT else None)  # Mondays; but not Mars


def _is_doubtful(token: Token | None) -> bool:
    """Whether the capital may be that of a sentence."""
    return token is not None and token.starts and token.lower in _ALSO_WORDS


def _day(token: Token | None) -> str:
    digits = token.lower if token else ""
    if ordinal := _ORDINAL.fullmatch(digits):
        digits = ordinal.group(1)
    return f"{int(digits):02}" if _is_within(digits, 1, 31) else ""


def _is_within(digits: str, least: int, most: int) -> bool:
    """Whether *digits* are a number from *least* to *most*, of two digits at most: of thousands, none is reckoned."""
    return len(digits) <= 2 and digits.isdecimal() and least <= int(digits) <= most


def _year(token: Token | None) -> str:
    return token.text if token and _YEAR.fullmatch(token.text) else ""


def _time(tokens: Sequence[Token], lexicon: Lexicon) -> Found | None:
    """9:15 · 2 PM · noon."""
    first, second, _ = _three(tokens)
    if first is None:
        return None
    if first.lower in ("noon", "midnight"):
        return ("12:00" if first.lower == "noon" else "00:00"), 1
    clock = _CLOCK.fullmatch(first.text)
    hour, minute = clock.groups() if clock else (str(lexicon.numerals.numbers.get(first.lower, first.text)), "00")
    half, length = second.lower.replace(".", "") if second else "", 2
    if spoken := _HALVES.get(" ".join(token.lower for token in tokens[1:4])):
        half, length = spoken, 4
    if half in ("am", "pm") and _is_within(hour, 1, 12):
        return f"{int(hour) % 12 + 12 * (half == 'pm'):02}:{minute}", length
    return (f"{int(hour):02}:{minute}", 1) if clock else None


def _quarter(tokens: Sequence[Token], lexicon: Lexicon) -> Found | None:
    """The third quarter, as Q3."""
    ordinal = lexicon.numerals.ordinals.get(tokens[0].lower, tokens[0].lower)
    if len(tokens) > 1 and tokens[1].lower == "quarter" and (number := _ORDINAL.fullmatch(ordinal)):
        return f"q{number.group(1)}", 2
    return None


def _ordinal(tokens: Sequence[Token], lexicon: Lexicon) -> Found | None:
    word = lexicon.numerals.ordinals.get(tokens[0].lower)
    if word:
        return word, 1
    return (tokens[0].lower, 1) if _ORDINAL.fullmatch(tokens[0].lower) else None


def _number(tokens: Sequence[Token], lexicon: Lexicon) -> Found | None:
    """Digits or words, then what multiplies them, then a unit. Digits stay as written: 3.1 and 3.10 may be versions."""
    start = _coded(tokens, lexicon) or _digits(tokens[0]) or _spelled(tokens, lexicon)
    if start is None:
        return None
    value, unit, length = start
    while length < len(tokens) and (factor := _factor(tokens[length], lexicon)):
        value, length = _times(value, factor), length + 1
    if not unit and length < len(tokens):
        written = tokens[length].text
        unit = lexicon.units.get(written) or lexicon.units.get(written.casefold(), "")
        length += bool(unit)
    return (_measured(value, unit) if unit else value), length


def _coded(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[str, str, int] | None:
    """EUR 500."""
    if tokens[0].lower not in _CODES or len(tokens) == 1 or not (found := _digits(tokens[1])):
        return None
    return found[0], lexicon.units[tokens[0].lower], 2


def _factor(token: Token, lexicon: Lexicon) -> int | None:
    return lexicon.numerals.multipliers.get(token.text) or lexicon.numerals.multipliers.get(token.lower)


def _measured(value: str, unit: str) -> str:
    """*value* without needless zeros, and a time in the largest unit that leaves no fraction."""
    if value.count(".") > 1 or len(value) > _LONGEST:
        return f"{value} {unit}"
    number = Decimal(value)
    if unit in _TIMES:
        number *= _TIMES[unit]
        unit = next((name for name, size in reversed(_TIMES.items()) if number % size == 0), unit)
        number /= _TIMES[unit]
    return f"{_plain(number)} {unit}"


def _plain(number: Decimal) -> str:
    return f"{number:f}".rstrip("0").rstrip(".") if "." in f"{number:f}" else f"{number:f}"


def _digits(token: Token) -> tuple[str, str, int] | None:
    if token.shape is not Shape.NUMBER:
        return None
    text = token.text.replace(",", "").removeprefix("+")
    sign = next((sign for sign in _SIGNS if sign in text), "")
    return text.replace(sign, "") if sign else text, _SIGNS.get(sign, ""), 1


def _spelled(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[str, str, int] | None:
    """Three; twenty-five, as its tokens stand: twenty, five; an hour; half an hour."""
    words = [token.lower for token in tokens[:3]]
    if words[0] in _ARTICLES and len(words) > 1 and lexicon.units.get(words[1]) in SPANS and words[1] != "second":
        return "1", "", 1
    if len(words) == 3 and words[0] == "half" and words[1] in _ARTICLES and lexicon.units.get(words[2]) in _TIMES:
        return "0.5", "", 2
    tens = lexicon.numerals.numbers.get(tokens[0].lower)
    if tens is None:
        return None
    ones = lexicon.numerals.numbers.get(tokens[1].lower, 0) if len(tokens) > 1 and tens >= 20 else 0
    return (str(tens + ones), "", 2) if 1 <= ones <= 9 else (str(tens), "", 1)


def _times(value: str, factor: int) -> str:
    if value.count(".") > 1 or len(value) > _LONGEST:
        return f"{value} * {factor}"
    return _plain(Decimal(value) * factor)


def _three(tokens: Sequence[Token]) -> tuple[Token | None, Token | None, Token | None]:
    first, second, third, *_ = (*tokens[:3], None, None, None)
    return first, second, third
