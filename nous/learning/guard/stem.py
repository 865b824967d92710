"""Words without their endings, so that `caches`, `cached` and `caching` are one."""

import re

_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"(?<=..)([bdfgmnprt])\1$")
_BRITISH = re.compile(r"is(e|ed|es|ing|ation|ations)$")
_EXTENDED = ("al", "alli", "ment", "ation", "ion", "ness", "iti", "li")  # as stems: -ly has become -li
_CLIPPED = re.compile(r"(?:qu|[^aeiouy])*[aeiouy][^aeiouywx]")
"""One syllable that ends in one consonant, as in `scrap`. It is doubled before an ending; that of `scrape` is not."""

_QUALITIES = ("ant", "anc", "ent", "enc")
SHORTEST_ADJECTIVE = 4
"""Letters before the ending that makes an adverb of it."""

SHORTEST_ROOT = 6
"""Letters that two words must share before their endings may differ. Shorter roots have strangers in common."""


def stem(word: str) -> str:
    """*word*, in lower case, without plural, third person, past and -ing; British -ise becomes -ize."""
    word = _BRITISH.sub(r"iz\1", word) if len(word) > 6 else word
    return _without_final_e(_without_ending(word))


def whole_stem(word: str) -> str:
    """As `stem`, but with the final e of short words, without which many are another: `scrape`, `scrap`."""
    root = stem(word)
    is_clipped = word in (root, f"{root}s") or word.startswith(root + root[-1:])
    return root if is_clipped or not _CLIPPED.fullmatch(root) else f"{root}e"


def related(one: str, other: str) -> bool:
    """Whether two stems, whole or not, differ only in an ending that keeps the sense: deploy, deployment.

    Endings that change who acts (-er, -ee), what is possible (-able) or whether it is so (-less) are not among them.
    """
    shorter, longer = sorted((one, other), key=len)
    if len(shorter.removesuffix("e")) >= SHORTEST_ADJECTIVE and longer in (f"{shorter}li", f"{shorter}eli"):
        return True
    if len(shorter) == SHORTEST_ROOT - 1 and shorter.endswith("at") and longer == f"{shorter}ion":
        return True
    if len(shorter) < SHORTEST_ROOT:
        return False
    if shorter[:-1] == longer[:-1] and shorter[-3:] in _QUALITIES and longer[-3:] in _QUALITIES:
        return True
    if shorter[-1] == "i" and longer == shorter[:-1] + "ic":
        return True
    return any(longer == shorter + ending for ending in _EXTENDED)


def _without_ending(word: str) -> str:
    if word.endswith("s"):
        return _without_s(word)
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and _VOWEL.search(root) and (len(root) > 2 or root[-1] not in "aeiou"):
            return _DOUBLED.sub(r"\1", root)
    return _with_i(word)


def _without_s(word: str) -> str:
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-2]
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    return _with_i(word[:-1])


def _with_i(word: str) -> str:
    """As in `studi`, the common root of study and studies."""
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") and word[-2] not in "aeiou" else word


def _without_final_e(word: str) -> str:
    return word[:-1] if len(word) > 2 and word.endswith("e") else word
