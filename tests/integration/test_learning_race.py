"""Processes that teach one scope at once: no fact is stored twice, none is lost.

Most of its time goes into loading the embedder in each; RACE_FACTS and RACE_PROCESSES make it larger.
"""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest
from builders.knowing import said_twice, twins

from nous.app.container import build
from nous.app.from_settings import policy
from nous.domain.scope import Scope
from nous.knowledge.normalize import exact_form
from nous.settings.model import Settings

FACTS = int(os.environ.get("RACE_FACTS", "240"))
PROCESSES = int(os.environ.get("RACE_PROCESSES", "4"))
SCOPE = Scope(project="race")

pytestmark = pytest.mark.skipif(
    find_spec("onnxruntime") is None, reason="near-duplicates need a real embedder: install nous-bus[local]"
)


def test_processes_that_teach_one_scope_at_once_store_nothing_twice_and_lose_nothing(
    directory: Path,
) -> None:
    texts = [text for number in range(FACTS // 2) for text in twins(number)]
    random.Random(7).shuffle(texts)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
    environment |= {"NOUS_DATA_DIR": str(directory)}

    verdicts = Counter(teach_at_once([texts[i::PROCESSES] for i in range(PROCESSES)], environment))

    container = build(Settings(data_dir=directory))
    with container.context.fact_cache.current(container.context.facts, SCOPE, container.context.embedder) as knowledge:
        slipped = said_twice(knowledge, container.context.embedder, policy(container.settings))
        lost = [text for text in texts if not knowledge.revisions(exact_form(text))]
        current = sum(1 for _ in knowledge.current())
    print(f"\n{FACTS} facts by {PROCESSES} processes: {dict(verdicts)}")
    print(f"{current} kept, {len(slipped)} slipped, {len(lost)} lost")
    assert sum(verdicts.values()) == FACTS
    assert slipped == []
    assert lost == []
    assert current == FACTS // 2


def teach_at_once(shares: list[list[str]], environment: dict[str, str]) -> Iterator[str]:
    """The verdicts of all processes, each of which teaches its share."""
    command = [sys.executable, "-m", "nous", "facts", "learn", "--scope", SCOPE.project, "--json"]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
            for _ in shares
        ]
        for process, share in zip(processes, shares, strict=True):
            assert process.stdin
            process.stdin.write("\n".join(map(json.dumps, share)).encode())
            process.stdin.close()
        for process in processes:
            assert process.stdout
            yield from (json.loads(line)["verdict"] for line in process.stdout)
            assert process.wait() == 0
