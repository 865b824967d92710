"""`nous dev quality`: every measure can regress, and what is no regression, no gold or no baseline is said."""

import gzip
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders.answers import answer
from builders.command_line import Nous, command_line
from builders.gold import SERVICES, Edit, edited, write_gold, write_rows
from builders.model_server import ModelServer, Request
from click.testing import Result

from nous.app.quality.baseline import Reference, compared
from nous.app.quality.measures import Measure
from nous.cli.framework import BAD_INPUT, FAILED, MISCONFIGURED, UNAVAILABLE

CHECKED = "true facts kept by the checks"
NAMES = (
    *("outcomes right", "sure outcomes right", "words of gold titles", "titles with none of them"),
    *("facts that match gold", "facts that match a non-fact", "gold facts covered", "answers kept"),
    *(CHECKED, "traced facts", "tokens of a summary", "partial episodes"),
    *("useful lessons", "sessions with a lesson", "other sessions with a lesson"),
    *("repeats merged", "others merged", "updates recognized", "others taken for updates"),
    *("search hit@10", "search MRR"),
    *(f"{what} of own at {n}" for n in ("2,000", "8,000", "16,000") for what in ("must-keep", "summary words")),
)
COSTS = {
    "titles with none of them",
    "facts that match a non-fact",
    "partial episodes",
    "other sessions with a lesson",
    "others merged",
    "others taken for updates",
}


@pytest.fixture
def nous(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nous:
    return command_line(tmp_path / "data", monkeypatch)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write_gold(tmp_path / "own")


def values(nous: Nous, gold: Path) -> Mapping[str, Any]:
    return {row["measure"]: row["value"] for row in json.loads(nous("quality", gold, "--json").stdout)}


def test_own_gold_without_a_baseline_is_measured_and_compared_with_nothing(nous: Nous, gold: Path) -> None:
    result = nous("dev", "quality", gold)

    assert result.exit_code == 0, result.output
    assert tuple(line.split("  ")[0] for line in result.stdout.splitlines()[1:]) == NAMES
    assert "nothing is compared" in result.stderr
    assert not (gold / "baseline.json").exists()


def test_a_baseline_is_written_once_asked_for_and_holds(nous: Nous, gold: Path) -> None:
    update, after = nous("quality", gold, "--update"), nous("quality", gold)

    assert (update.exit_code, after.exit_code) == (0, 0)
    assert after.stderr == f"nous: no measure has regressed from {gold / 'baseline.json'}\n"
    assert set(json.loads((gold / "baseline.json").read_text())["extractive"]) == set(NAMES)
    assert [path.name for path in gold.glob("*baseline*")] == ["baseline.json"]


def test_a_regression_of_each_measure_fails_and_is_named(nous: Nous, gold: Path, tmp_path: Path) -> None:
    before: dict[str, Any] = {}
    for name, now in values(nous, gold).items():
        better = now / 2 if name == "tokens of a summary" else now - 1 if name in COSTS else now + 1
        before[name] = {"value": better, "n": 3}
    (tmp_path / "before.json").write_text(json.dumps({"extractive": before}))

    result = nous("quality", gold, "--baseline", tmp_path / "before.json")

    assert result.exit_code == FAILED
    assert tuple(regressed_in(result)) == NAMES
    assert "nous: regressed: outcomes right was 2.000, and is 1.000\n" in result.stderr


def regressed_in(result: Result) -> list[str]:
    return re.findall(r"^nous: regressed: (.+) was ", result.stderr, re.MULTILINE)


def setting(name: str, value: Any) -> Edit:
    return lambda _: {name: value}


def false_facts(row: dict[str, Any]) -> dict[str, Any]:
    return {"not_facts": row["facts"], "facts": [], "answers": []}


def other_lesson(_: dict[str, Any]) -> dict[str, Any]:
    return {"lesson": "Kangaroos hop.", "turns": [9]}


@pytest.mark.parametrize(
    ("file", "edit", "names"),
    [
        ("episodes", setting("outcome", "partial"), {"outcomes right"}),
        ("episodes", setting("title", "Kangaroos"), {"words of gold titles", "titles with none of them"}),
        ("episodes", setting("facts", [{"text": "Kangaroos hop."}]), {"gold facts covered", CHECKED}),
        ("episodes", setting("answers", [{"answer": "Kangaroos hop."}]), {"answers kept"}),
        ("episodes", false_facts, {"facts that match gold", "facts that match a non-fact"}),
        ("lessons", other_lesson, {"useful lessons"}),
        ("lessons", setting("lesson", "Kangaroos hop."), {"useful lessons"}),
        ("pairs", setting("label", "apart"), {"others merged", "others taken for updates"}),
        ("pairs", setting("label", "same"), {"repeats merged"}),
        ("pairs", setting("label", "update"), {"updates recognized"}),
    ],
)
def test_what_no_longer_agrees_with_the_gold_regresses(
    file: str, edit: Edit, names: set[str], nous: Nous, gold: Path
) -> None:
    nous("quality", gold, "--update")

    edited(gold / "gold" / f"{file}.jsonl", edit)
    result = nous("quality", gold)

    assert result.exit_code == FAILED
    assert names <= {*regressed_in(result)}


def test_a_worse_setting_regresses_too(nous: Nous, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nous("quality", gold, "--update")
    monkeypatch.setenv("NOUS_DEDUP__POLICY", "exact")

    result = nous("quality", gold)

    assert result.exit_code == FAILED
    assert "regressed: updates recognized was 1.000, and is 0.000" in result.stderr


@pytest.mark.parametrize(
    ("before", "now", "n", "verdict"),
    [
        (0.90, 0.87, 1000, ""),  # three points
        (0.90, 0.85, 1000, ""),  # five
        (0.90, 0.849, 1000, "regressed"),
        (38 / 40, 36 / 40, 40, ""),  # two items
        (37 / 40, 34 / 40, 40, "regressed"),
        (0.80, 0.95, 40, ""),
    ],
)
def test_a_loss_counts_from_over_five_points_and_two_items(before: float, now: float, n: int, verdict: str) -> None:
    def judged(then: float, today: float, **more: Any) -> str:
        [row] = compared([Measure(name="m", value=today, n=n, **more)], {"m": Reference(then, n)})
        return row["verdict"]

    assert judged(before, now) == verdict
    assert judged(1 - before, 1 - now, lower_is_better=True) == verdict
    [row] = compared([Measure(name="m", value=now, n=1)], {"m": Reference(before, n)})
    assert row["verdict"] == verdict, "that fewer items are measured hides no loss"


def test_tokens_are_compared_by_percent_and_a_target_is_judged_without_a_baseline() -> None:
    def judged(now: float, before: Mapping[str, Reference]) -> str:
        tokens = Measure(name="m", value=now, n=60, lower_is_better=True, in_tokens=True, target=250)
        return compared([tokens], before)[0]["verdict"]

    assert [judged(now, {"m": Reference(200, 60)}) for now in (190, 209, 211)] == ["", "", "regressed"]
    assert [judged(now, {}) for now in (249, 251)] == ["", "misses its target"]


def test_what_a_folder_lacks_is_not_measured_and_fails_if_the_baseline_has_it(nous: Nous, gold: Path) -> None:
    nous("quality", gold, "--update")
    for gone in ("gold", "retention"):
        shutil.rmtree(gold / gone)

    first, _, second = nous("quality", gold), nous("quality", gold, "--update"), nous("quality", gold)

    assert first.exit_code == FAILED
    assert "regressed: outcomes right was 1.000, and is not measured now" in first.stderr
    assert "regressed: must-keep of own at 2,000 was 1.000, and is not measured now" in first.stderr
    assert second.exit_code == 0
    lines = {line.split("  ")[0]: line.rstrip().endswith("  not measured") for line in second.stdout.splitlines()[1:]}
    assert {name for name, is_missing in lines.items() if not is_missing} == {"search hit@10", "search MRR"}


def test_a_folder_without_gold_is_refused(nous: Nous, tmp_path: Path) -> None:
    result = nous("quality", tmp_path)

    assert result.exit_code == BAD_INPUT
    assert f"{tmp_path} has no gold" in result.stderr


@pytest.mark.parametrize(
    ("file", "line", "problem"),
    [
        ("gold/episodes.jsonl", "{", "line 4: Invalid JSON"),
        ("gold/episodes.jsonl", '{"file": "a.txt", "title": "A"}', "line 4: outcome Field required"),
        ("gold/episodes.jsonl", '{"file": "a", "title": "A", "outcome": "good"}', "line 4: outcome Input should be"),
        ("gold/lessons.jsonl", '{"file": "a.txt"}', "line 4: deserves Field required"),
        ("gold/pairs.jsonl", '{"id": "p", "a": {"text": "A"}, "b": {}}', "line 10: b text Field required"),
        ("gold/quotes.jsonl", '{"file": "a", "quotes": [{}]}', "line 4: fact Field required"),
    ],
)
def test_a_broken_line_is_named(file: str, line: str, problem: str, nous: Nous, gold: Path) -> None:
    with (gold / file).open("a") as stream:
        stream.write(f"{line}\n")

    result = nous("quality", gold)

    assert result.exit_code == BAD_INPUT
    assert f"{gold / file}, {problem}" in result.stderr


@pytest.mark.parametrize(
    "file", ["sessions/none.txt", "sessions/billing.txt#0", "many.jsonl#2", "many.jsonl#x", f"many.jsonl#{9**30}"]
)
def test_a_session_that_is_not_there_is_named(file: str, nous: Nous, gold: Path) -> None:
    write_rows(gold / "many.jsonl", [{"messages": [{"role": "user", "content": "hi"}]}] * 2)
    edited(gold / "gold" / "lessons.jsonl", setting("file", file))

    result = nous("quality", gold)

    assert result.exit_code == BAD_INPUT
    assert f"the gold names the session {file}, which is not in {gold}" in result.stderr


def test_a_session_may_be_packed_or_one_of_a_file_of_many(nous: Nous, gold: Path) -> None:
    plain = values(nous, gold)
    texts = [(gold / "sessions" / f"{name}.txt").read_text() for name in SERVICES]
    for name, text in zip(SERVICES, texts, strict=True):
        (gold / "sessions" / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode()))
        (gold / "sessions" / f"{name}.txt").unlink()
    packed = values(nous, gold)
    write_rows(gold / "many.jsonl", [{"messages": _messages(text)} for text in texts])
    numbers = {f"sessions/{name}.txt": f"many.jsonl#{number}" for number, name in enumerate(SERVICES)}
    for file in ("episodes", "lessons", "quotes"):
        edited(gold / "gold" / f"{file}.jsonl", lambda row: {"file": numbers[row["file"]]})

    assert packed == plain
    assert values(nous, gold) == plain


def _messages(text: str) -> list[dict[str, str]]:
    said = (part.partition(": ") for part in text.split("\n\n"))
    return [{"role": who.lower(), "content": what} for who, _, what in said]


@pytest.mark.parametrize(
    "content", ["{", '{"extractive": {"m": 1}}', '{"extractive": {"m": {"value": NaN, "n": 3}}}', "[]", None]
)
def test_a_baseline_that_is_none_or_is_missing_though_it_is_named_is_refused(
    content: str | None, nous: Nous, gold: Path, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "before.json").write_text(content)

    result = nous("quality", gold, "--baseline", tmp_path / "before.json")

    assert result.exit_code == BAD_INPUT
    assert str(tmp_path / "before.json") in result.stderr


def with_model(patch: pytest.MonkeyPatch, server: ModelServer, **more: str) -> None:
    known = {"NOUS_BACKGROUND_MODEL": "openai:m", "NOUS_LLM__BASE_URL": server.openai_url, "NOUS_LLM__API_KEY": "k"}
    for name, value in {**known, **more}.items():
        patch.setenv(name, value)


def answered(request: Request) -> str:
    """A good answer about a session of the gold, and no relation of facts."""
    if "<facts" in request.user:
        return '{"pairs": []}'
    name = next(each for each in SERVICES if each in request.user)
    fact = {"text": f"Always run service {name} on its port, never on another one.", "category": "rule", "turns": [1]}
    lesson = f"Service {name} always runs on its port, never on another."
    return answer(title=f"Run service {name} on its port", key_points=[lesson], candidate_facts=[fact])


def worse(request: Request) -> str:
    """An answer of a model that has understood little, at length."""
    if "<facts" in request.user:
        return '{"pairs": []}'
    return answer(title="Kangaroos", key_points=[], candidate_facts=[], outcome="partial", summary="It was long. " * 40)


def test_a_model_is_measured_and_compared_with_itself_alone(
    nous: Nous, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(gold / "gold" / "episodes.jsonl", setting("outcome", "resolved"))
    nous("quality", gold, "--update")
    with ModelServer(answered) as server:
        with_model(monkeypatch, server)
        server.set_faults(["500", "429 retry-after 1"])
        first, update = nous("quality", gold, "--json"), nous("quality", gold, "--update")
    with ModelServer(worse) as server:
        with_model(monkeypatch, server)
        second = nous("quality", gold)

    rows = {row["measure"]: row for row in json.loads(first.stdout)}
    assert (first.exit_code, update.exit_code, second.exit_code) == (0, 0, FAILED)
    assert "has no figures of openai:m" in first.stderr
    assert (rows["episodes by the model"]["value"], rows["useful lessons"]["target"]) == (1, "> 0.7")
    assert set(json.loads((gold / "baseline.json").read_text())) == {"extractive", "openai:m"}
    wanted = {"outcomes right", "words of gold titles", "facts that match gold", "gold facts covered"}
    wanted |= {"traced facts", "tokens of a summary", "partial episodes", "useful lessons", "sessions with a lesson"}
    assert wanted <= {*regressed_in(second)}


def test_a_model_that_cannot_be_used_or_answers_nothing_is_no_result(
    nous: Nous, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(answered) as server:
        with_model(monkeypatch, server, NOUS_BACKGROUND_MODEL="nobody:m")
        unknown = nous("quality", gold)
        with_model(monkeypatch, server, NOUS_LLM__PATIENCE="1")
        server.outage = "500"
        silent = nous("quality", gold, "--update")

    assert unknown.exit_code == MISCONFIGURED
    assert silent.exit_code == UNAVAILABLE
    assert "openai:m wrote no episode: transport" in silent.stderr
    assert not (gold / "baseline.json").exists()


def test_the_gold_of_this_repository_is_measured_as_well_as_its_baseline_says(
    nous: Nous, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOUS_EMBEDDER", "minilm")

    result = nous("dev", "quality", Path(__file__).parents[2] / "gold")

    assert result.exit_code == 0, result.output
    assert "no measure has regressed" in result.stderr
