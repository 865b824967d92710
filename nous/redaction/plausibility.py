"""Judge matches of rules: secrets, or placeholders, names and pieces of code."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from math import log2


def entropy(text: str) -> float:
    """Return the entropy of *text* in bits per character."""
    return -sum(n / len(text) * log2(n / len(text)) for n in Counter(text).values())


_TEMPLATE = re.compile(
    r"\$\w+|\$[{(].*|![A-Za-z]+|<.*>|[{\[][^A-Za-z0-9]{0,3}[\w.]*[^A-Za-z0-9]{0,3}|%\(.*|%\w*%|%[a-z]|@[A-Za-z_.]+|.*(?:\.\.\.|…|\*\*\*|\$\{|\{\{).*|(.)\1*"
    r"|\[secret:.*|.*\{\w+\}.*|.*://.*|(?:~|\.{0,2})/.*"
    r"|[a-z_.-]{2,40}=[\w.]{0,16}|[\w.-]+:\d{2,5}(?:/.*)?"
    r"|[A-Za-z_][\w.]*[(\[](?:[\"'\w., =:/()\[\]-]*[)\]])?[\"'\w., =:/-]*"
    r"|.*\.(?:json|ya?ml|txt|pem|key|env|py|[jt]sx?|md|toml|crt)",
    re.DOTALL,
)
_PLACEHOLDER_WORD = re.compile(
    r"(?:(?:your|my|the|an?|some|test|dummy|fake|mock|sample|example|demo|change|replace|insert|enter|todo|super|not|no"
    r"|is|has|new|old|current|default|foo|bar|baz|abc|x++|none|null|nil|true|false|undefined|optional|required|string"
    r"|str|int|bytes|redacted|hidden|masked|passw(?:or)?d|passphrase|pass|pwd|secret|token|api|access|private|key"
    r"|credentials?|user(?:name)?|admin|root|value|here|me|it|now|set|this|that)(?:[-_. ]|\d{1,3}|(?=[A-Z])|$))+",
    re.IGNORECASE,
)
_NAMED_HASH = re.compile(r"(?:[A-Za-z]+\d{0,3}[-_.:/])+[0-9a-f]{7,64}")
_WORDS = re.compile(
    r"(?:(?:[A-Z]?[a-z]+|[A-Z]+(?![a-z]))\d{0,4}(?:[-_. :/+]+|(?=[A-Z][a-z])|$)|\d{1,4}(?:[-_.:/]+|$))+"
)
_LETTERS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MEAN_WORD = 3.0
_ENDS = ").,;:!?"
_LONG, _FEWEST_BITS, _FEWEST_BITS_OF_LONG = 16, 2.5, 3.0
_FEWEST_OF_RANDOM, _FEWEST_BITS_OF_RANDOM = 10, 3.0
_FEWEST_BITS_OF_NOISE, _FEWEST_CHANGES, _LONGEST_NOISE = 4.2, 8, 400


def _is_filled_in(secret: str) -> bool:
    """Return whether *secret* is a value, and no placeholder, reference or piece of code."""
    return not (_TEMPLATE.fullmatch(secret) or _PLACEHOLDER_WORD.fullmatch(secret.rstrip(_ENDS)))


def _is_wordy(secret: str) -> bool:
    """Return whether *secret* is made of words, in any case, and perhaps short numbers."""
    secret = secret.lstrip("_")  # as private names begin
    words = _LETTERS.findall(secret)
    is_short = len(secret) < _LONG or sum(map(len, words)) >= _MEAN_WORD * len(words)
    return is_short and _WORDS.fullmatch(secret) is not None


def _is_password(secret: str) -> bool:
    secret = secret.rstrip(_ENDS) or secret
    parts = secret.strip(".").split(".")
    is_name = not any(c.isdigit() for c in secret) or (len(parts) > 1 and not any(map(str.isdigit, parts)))
    return _is_filled_in(secret) and not (is_name and _is_wordy(secret))


def _is_said(secret: str) -> bool:
    """Return whether *secret*, after a word for a password, is no word of the sentence."""
    has_both = any(c.isdigit() for c in secret) and any(c.isalpha() for c in secret)
    is_odd = any(c.isupper() or c in "!#$%^&*~+=@_" for c in secret.rstrip(_ENDS))
    is_no_word = secret.isascii() and secret.isalpha() and len(secret) >= _FEWEST_OF_RANDOM and not _is_wordy(secret)
    return ((has_both and is_odd) or is_no_word) and _is_filled_in(secret)


def _is_token(secret: str) -> bool:
    is_mixed = len(secret) >= _LONG and any(c.isupper() for c in secret[1:]) and any(c.islower() for c in secret)
    has_both = (is_mixed or any(c.isdigit() for c in secret)) and any(c.isalpha() for c in secret)
    fewest = _FEWEST_BITS_OF_LONG if len(secret) >= _LONG else _FEWEST_BITS
    return has_both and entropy(secret) >= fewest and not _is_wordy(secret) and _is_filled_in(secret)


def _is_random(secret: str) -> bool:
    is_random = len(secret) >= _FEWEST_OF_RANDOM and entropy(secret) >= _FEWEST_BITS_OF_RANDOM
    return is_random and not _NAMED_HASH.fullmatch(secret) and _is_token(secret)


def _is_noise(secret: str) -> bool:
    """Return whether letters of both cases and digits alternate as in no name."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "-" for c in secret]
    changes = sum(one != other for one, other in pairwise(kinds))
    is_mixed = {"d", "u", "l"} <= set(kinds) and changes >= max(_FEWEST_CHANGES, len(secret) // 3)
    is_noise = is_mixed and entropy(secret) >= _FEWEST_BITS_OF_NOISE and not _is_wordy(secret)
    return is_noise and len(secret) <= _LONGEST_NOISE


def _is_card(number: str) -> bool:
    """Return whether *number* passes Luhn's check (ISO/IEC 7812-1) and has several digits."""
    digits = [int(c) for c in number if c.isdigit()]
    doubled = (2 * d - 9 * (d > 4) for d in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 2


CHECKS: Mapping[str, Callable[[str], bool]] = {
    "password": _is_password,
    "said": _is_said,
    "option": _is_filled_in,
    "token": _is_token,
    "random": _is_random,
    "noise": _is_noise,
    "card": _is_card,
}
