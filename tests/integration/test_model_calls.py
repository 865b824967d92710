"""A model that answers well is asked once about each window of a session: never again for its quotes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from builders.answers import GOOD, answer
from builders.model_world import ModelWorld

from nous.domain.scope import Scope
from nous.domain.summary_input import SummaryInput
from nous.excerpt import windows
from nous.llm.base import Question
from nous.transcript import read_transcript
from nous.transcript.model import Transcript

DATA = Path(__file__).parents[3] / "shared" / "data"
BUDGET = 4_000
"""Characters of a window: small, so that sessions of common length have several."""

_SAID = re.compile(r"--- turn (\d+) ---\n\n\[\w+\] ((?:\S+[^\S\n]*){1,12})")


def quoting(question: Question) -> str:
    """An answer with a fact that says what a turn says, in its words."""
    found = _SAID.search(question.user)
    assert found, "there is a turn to quote"
    said = found[2].strip()
    fact = {**GOOD["candidate_facts"][0], "text": said, "quotes": [{"turn": int(found[1]), "quote": said}]}
    return answer(candidate_facts=[fact])


def sessions(folder: Path) -> Iterator[Transcript]:
    files = (*DATA.glob("claude_code/*.jsonl"), *DATA.glob("plain_text/*.txt"), *DATA.glob("specstory_md/*.md"))
    yield from map(read_transcript, files)
    runs = (DATA / "openai_chat" / "tau_airline_dev.jsonl").read_text("utf-8").splitlines()
    for run in runs[:20]:
        (folder / "run.json").write_text(json.dumps(json.loads(run)["messages"]))
        yield read_transcript(folder / "run.json")


@pytest.mark.skipif(not DATA.exists(), reason=f"there is no {DATA}")
def test_fifty_sessions_take_one_call_for_each_window(tmp_path: Path) -> None:
    world = ModelWorld(quoting)
    summarizer, asked, dropped = world.summarizer(), 0, list[tuple[str, int]]()
    made = [windows(transcript, BUDGET, most=8).windows for transcript in sessions(tmp_path)]

    for each in made:
        told = SummaryInput(windows=tuple(window.excerpt.segments for window in each))
        result = summarizer.summarize(told, matter=world.matter(Scope(), uuid4()))
        asked += len(each)
        dropped += [drop for drop in result.dropped if "quote" in drop[0]]

    assert len(made) >= 50
    assert len(world.model.questions) == asked > len(made)
    assert not any(question.earlier for question in world.model.questions)
    assert dropped == []
