r"""What an excerpt keeps, by data set, budget and strategy, and what it costs, by size.

    python tests/benchmarks/excerpts.py [--strategies default,...] [--budgets 2000,...] [--data DIR]

It prints Markdown. README.md beside this file says how to read that, and `--refresh` writes it there. Where there is no
data it says so. The data's own script can score `kept` and `kept_spec` without this command:

    PYTHONPATH=tests/benchmarks python ../shared/data/retention/score_retention.py \
        ../shared/data/retention/coding_dev.jsonl.gz excerpts:kept
"""

import os
import platform
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import chain, groupby
from pathlib import Path

from excerpt.gold import BASELINES, DATA, kept, kept_spec
from excerpt.growth import cost_lines
from excerpt.retention import Retention, retention, retention_table

from nous.app.quality.gold import GoldExcerpt, excerpts_in
from nous.excerpt import BUDGET
from nous.excerpt.strategies import names

__all__ = ["kept", "kept_spec"]

SIZES = (0.1, 0.3, 1, 3, 10)
"""Of the transcripts whose cost is measured, in MB."""

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- from here on printed by excerpts.py -->\n", "<!-- up to here -->\n"

Sets = Mapping[str, Sequence[GoldExcerpt]]


def main(chosen: Namespace) -> None:
    sets = {name: found for name, found in excerpts_in(chosen.data).items() if not chosen.sets or name in chosen.sets}
    if not sets:
        of_that_name = f" called {', '.join(chosen.sets)}" if chosen.sets else ""
        print(f"what excerpts keep is not measured: no data{of_that_name} in {chosen.data}")
        return
    figures = list(_figures(sets, chosen))
    told = _printed(_retention_part(figures))
    if chosen.rounds:
        told += _printed(_cost_part(_of_coding(sets), chosen))
    if chosen.refresh:
        README.write_text(_refreshed(README.read_text(encoding="utf-8"), told), encoding="utf-8")


def _figures(sets: Sets, chosen: Namespace) -> Iterator[Retention]:
    for name, sessions in sets.items():
        yield from retention(name, sessions, strategies=chosen.strategies, budgets=chosen.budgets)


def _of_coding(sets: Sets) -> Sequence[GoldExcerpt]:
    """The sessions whose cost is measured: those of coding, which are the long ones; all if there are none."""
    coding = [sessions for name, sessions in sets.items() if name.startswith("coding")]
    return list(chain.from_iterable(coding or sets.values()))


def _retention_part(figures: Sequence[Retention]) -> Iterator[str]:
    yield f"Python {platform.python_version()}, orjson {version('orjson')}, {os.cpu_count()} cores."
    for name, found in groupby(figures, key=lambda figure: figure.data):
        yield from ("", f"**What is kept of {name}**", "", *retention_table(list(found)))


def _cost_part(sessions: Sequence[GoldExcerpt], chosen: Namespace) -> Iterator[str]:
    yield from ("", f"**What {BUDGET:,} characters cost**, in ms of CPU per MB, the best of {chosen.rounds} rounds", "")
    yield from cost_lines(sessions, SIZES, chosen.strategies, chosen.rounds)


def _printed(lines: Iterator[str]) -> str:
    text = "\n".join(lines) + "\n"
    print(text, end="", flush=True)
    return text


def _refreshed(readme: str, told: str) -> str:
    """*readme* with *told* in the place of what it told before."""
    before, _, rest = readme.partition(BEGIN)
    return f"{before}{BEGIN}\n{told}\n{END}{rest.partition(END)[2]}"


def _options() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--strategies", type=_strategies, default="default,spec,head,middle")
    parser.add_argument("--budgets", type=_numbers, default="2000,4000,8000,16000", help="in characters")
    parser.add_argument("--sets", type=_words, default="", help="some of the data sets, by name")
    parser.add_argument("--data", type=Path, default=DATA, help="another folder of NAME.jsonl.gz in the same form")
    parser.add_argument("--rounds", type=int, default=5, help="of which the best counts; 0 leaves the cost out")
    parser.add_argument("--refresh", action="store_true", help=f"write {README.name} anew")
    return parser


def _strategies(text: str) -> list[str]:
    known = (*names(), *BASELINES)
    if unknown := set(_words(text)) - set(known):
        raise ArgumentTypeError(f"no strategy is called {', '.join(sorted(unknown))}: there are {', '.join(known)}")
    return _words(text)


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _numbers(text: str) -> list[int]:
    return [int(word) for word in _words(text)]


if __name__ == "__main__":
    main(_options().parse_args(sys.argv[1:]))
