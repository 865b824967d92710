r"""Made-up secrets in publicly documented formats, in the lines that carry them.

`secrets.toml` of the corpus holds the kinds. A format is literal text with

    [A-Z0-9_-]    one character of the class        (a|b|c)   one of the choices
    {n} {m,n}     repeats the class or choice      \\x        the character x itself
    <macro>       a template of the [macros] table  <fn:...>  FUNCTIONS[fn] of the text inside

A carrier is plain text; `{secret}` is the part that must vanish, all else may stay, and
`{macro}` is filled in from the macros. All values are random: none was ever issued.
"""

import base64
import random
import re
import tomllib
import zlib
from collections.abc import Callable
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "unit" / "redaction" / "corpus"
TABLE = tomllib.loads((CORPUS / "secrets.toml").read_text("utf-8"))
MACROS: dict[str, str] = TABLE["macros"]
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
QUANTIFIER = re.compile(r"\{(\d+)(?:,(\d+))?\}")
PLACE = re.compile(r"\{(" + "|".join(MACROS) + r")\}")
UNREAL = re.compile(r"([^A\s])\1{3}|(?i:example|dummy|fake|placeholder|changeme|redact|xxxx)")


def luhn(digits: str) -> str:
    """Append the check digit that makes `digits` a valid payment card number."""
    doubled = (sum(divmod(int(d) * 2, 10)) for d in digits[::-2])
    return digits + str(-(sum(doubled) + sum(map(int, digits[-2::-2]))) % 10)


def crc(token: str) -> str:
    """Append the six-character checksum that ends GitHub and npm tokens."""
    number = zlib.crc32(token.rpartition("_")[2].encode())
    return token + "".join(BASE62[number // 62**place % 62] for place in range(5, -1, -1))


FUNCTIONS: dict[str, Callable[[str], str]] = {
    "b64": lambda text: base64.b64encode(text.encode()).decode(),
    "url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "wrap64": lambda text: "\n".join(re.findall(".{1,64}", text)),
    "wrap70": lambda text: "\n".join(re.findall(".{1,70}", text)),
    "esc": lambda text: text.replace("\n", "\\n"),
    "indent": lambda text: text.replace("\n", "\n    "),
    "diff": lambda text: text.replace("\n", "\n+"),
    "blanks": lambda text: " ".join(re.findall(".{4}", text)),
    "dashes": lambda text: "-".join(re.findall(".{4}", text)),
    "luhn": luhn,
    "crc": crc,
}


def expand(template: str, rng: random.Random, at: int = 0) -> tuple[str, int]:
    """Expand `template` from `at` to its end or to an unopened `|`, `)` or `>`; say where."""
    text = ""
    while at < len(template) and template[at] not in "|)>":
        piece, end = atom(template, rng, at)
        repeat = QUANTIFIER.match(template, end) if template[at] in "[(" else None
        if repeat:
            end, low = repeat.end(), int(repeat[1])
            times = rng.randint(low, int(repeat[2] or low))
            piece = "".join(atom(template, rng, at)[0] for _ in range(times))
        text, at = text + piece, end
    return text, at


def atom(template: str, rng: random.Random, at: int) -> tuple[str, int]:
    """Expand the one unit of `template` that begins at `at`; return its text and its end."""
    match template[at]:
        case "\\":
            return template[at + 1], at + 2
        case "[":
            end = template.index("]", at)
            spans = re.findall(r"(.)-(.)|(.)", template[at + 1 : end])
            members = [chr(c) for a, b, one in spans for c in range(ord(a or one), ord(b or one) + 1)]
            return rng.choice(members), end + 1
        case "(":
            choices: list[str] = []
            while template[at] != ")":
                choice, at = expand(template, rng, at + 1)
                choices.append(choice)
            return rng.choice(choices), at + 1
        case "<":
            name = re.split("[:>]", template[at + 1 :], maxsplit=1)[0]
            after = at + len(name) + 2
            if template[after - 1] == ">":
                return expand(MACROS[name], rng)[0], after
            inner, end = expand(template, rng, after)
            return FUNCTIONS[name](inner), end + 1
        case plain:
            return plain, at + 1


def secrets(seed: int = 20240611, count: int = 470) -> list[tuple[str, str, str]]:
    """Return `count` (kind, carrier text, secret): every kind once, then again with its next carrier."""
    rng, found, kinds = random.Random(seed), list[tuple[str, str, str]](), TABLE["kind"]
    while len(found) < count:
        turn, index = divmod(len(found), len(kinds))
        kind = kinds[index]
        carrier: str = kind["carriers"][turn % len(kind["carriers"])]
        secret = expand(kind["format"], rng)[0]
        text = PLACE.sub(lambda place: expand(MACROS[place[1]], rng)[0], carrier).replace("{secret}", secret)
        if text.count(secret) == 1 and not UNREAL.search(secret):
            found.append((kind["name"], text, secret))
    return found


def parts_of(secret: str) -> list[str]:
    """Return the parts that must vanish: the second half of each long line, or the whole secret."""
    return [line[len(line) // 2 :] for line in re.split(r"\n|\\n", secret) if len(line) >= 16] or [secret]


def survives(secret: str, redacted: str) -> bool:
    """Say whether the secret, or the second half of any long line of it, is still in `redacted`."""
    return any(part in redacted for part in [secret, *parts_of(secret)])
