"""Compression of turns and tool results. The texts and bounds of the first tests are those of the specification."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nous.context import CompressionMode, compress, count_tokens

REACT = (
    "I am working on a React component and experiencing a problem with state management. "
    "The component re-renders multiple times when it should only render once. "
    "I have tried using useMemo but it does not seem to work as expected. "
    "Basically the error says too many re-renders and I believe the issue might be related "
    "to the useEffect dependency array. "
    "I think I need help understanding what is going wrong and how to resolve the problem. "
    "I would like to know if there is a standard approach for fixing infinite render loops. "
    "Please provide a clear explanation and I'd like step-by-step guidance if possible."
)
DASHBOARD = (
    "I think I would like to understand basically why the dashboard is showing me a red error badge on the agents "
    "page. Essentially, it seems like the agent is not responding and I am not sure what steps I should take to "
    "investigate this issue. Please note that I have already tried restarting the daemon. To be honest, I am not "
    "really sure where to look next."
)
CHANGELOG = (
    "The kernel now injects efficient_mode into each scheduled run. "
    "This makes the list self-documenting and more robust for real dashboard status messages. "
    "The runtime resolves the manifest field at startup. "
    "It is worth noting that the latency is under 30 ms for most prompts. "
    "These changes improve the agent scheduling pipeline significantly. "
    "Which means users can expect 20 % fewer API calls on high-volume deployments. "
    "The kernel also now exposes a new manifest key for efficient_mode override. "
    "This ensures per-agent configuration always wins over the global config value."
)
REQUEST = (
    "Can you help me understand why the R http.GET call is failing with a timeout? I am using the URL "
    "https://example.com/api?key=abc and getting a connection error. The adapter seems to not be working and I am not "
    "sure if it is the timeout setting or the URL format that is causing issues with the -> result binding. "
    "It would be lovely to see it work soon. The weather is fine and the team is in a good mood today."
)
MODES = (CompressionMode.BALANCED, CompressionMode.AGGRESSIVE)
modes = pytest.mark.parametrize("mode", MODES)


def share(text: str, mode: CompressionMode) -> float:
    shorter = compress(text, mode)
    return shorter.compressed_tokens / shorter.original_tokens


@modes
@pytest.mark.parametrize("text", ["Hello, please help me.", "", "x" * 4 * 78])
def test_a_text_below_80_tokens_stays_as_it_is(text: str, mode: CompressionMode) -> None:
    assert compress(text, mode).text == text
    assert compress(text, mode).compressed_tokens == compress(text, mode).original_tokens


def test_the_mode_off_changes_nothing() -> None:
    assert compress("word " * 100, CompressionMode.OFF).text == "word " * 100


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="gentle"):
        compress(REACT, "gentle")


def test_long_prose_loses_sentences_and_keeps_its_subject() -> None:
    assert share(REACT, CompressionMode.BALANCED) < 0.85
    assert "React" in compress(REACT, "balanced").text


def test_aggressive_saves_clearly_more_than_balanced() -> None:
    assert share(REACT, CompressionMode.AGGRESSIVE) < share(REACT, CompressionMode.BALANCED) - 0.10
    assert share(CHANGELOG, CompressionMode.AGGRESSIVE) < share(CHANGELOG, CompressionMode.BALANCED) - 0.08


def test_a_wordy_question_loses_a_third_and_keeps_error_and_history() -> None:
    shorter = compress(DASHBOARD, "balanced").text

    assert share(DASHBOARD, CompressionMode.BALANCED) <= 0.70
    assert "red error badge" in shorter
    assert "daemon" in shorter


def test_exact_steps_survive() -> None:
    text = "I want help. Please do not drop the exact steps required for this. " * 20

    assert compress(text, "aggressive").text.count("exact steps") == 20


@modes
def test_technical_references_survive(mode: CompressionMode) -> None:
    shorter = compress(REQUEST, mode).text

    for reference in ("http.GET", "https://example.com/api?key=abc", "->"):
        assert reference in shorter


@modes
def test_prose_without_references_comes_close_to_the_share_of_its_mode(mode: CompressionMode) -> None:
    text = " ".join(f"The {word} of the old mill turned slowly in the evening wind." for word in REACT.split()[:60])

    aim = {CompressionMode.BALANCED: 0.55, CompressionMode.AGGRESSIVE: 0.35}[mode]
    assert aim - 0.04 < share(text, mode) <= aim


def test_a_quarter_is_left_though_the_next_sentence_exceeds_the_room() -> None:
    long = "The stone fell " + "into the cold river " * 7 + "again. "

    assert 0.25 <= share("The mill turned. " + long * 3, CompressionMode.AGGRESSIVE) < 0.5


@modes
def test_lines_with_errors_addresses_and_numbers_stay_whole_and_on_their_lines(mode: CompressionMode) -> None:
    kept = ["  TypeError: x is not a function", "see https://example.com/a?b=1", "  took 412 ms", "retry 3 of 5"]
    chatter = ["The weather was fine and the mood was good that day."] * 12
    text = "\n".join([*chatter[:4], kept[0], kept[1], *chatter[4:8], "", kept[2], *chatter[8:], kept[3]])

    lines = compress(text, mode).text.splitlines()

    assert [line for line in lines if line in kept] == kept
    assert len(lines) < len(text.splitlines())


@modes
@pytest.mark.parametrize("text", ["\n" * 400, "\n" * 400 + "all is fine\n" * 20, "```\nx = 1\n```" + "\n" * 400])
def test_blank_lines_take_no_room_from_words(text: str, mode: CompressionMode) -> None:
    assert compress(text, mode).text.split() == text.split() or share(text, mode) <= 0.56


@modes
def test_an_address_and_a_brief_error_are_never_torn(mode: CompressionMode) -> None:
    clause = "and then the agent walked around the long shed to find what it had lost "
    address = "https://ci.example.com/builds/2026/07/14/job/4711/artifacts/logs/full-output-of-the-step.txt"
    error = "OperationalError: connection to db-7 port 5432 refused, since the certificate expired on 2026-06-30"

    assert address in compress(f"{clause * 4}the log is at {address} {clause * 4}", mode).text
    assert error in compress("collecting\n" * 2 + f"{error}\n" + "ok ok ok ok ok\n" * 16, mode).text


@modes
def test_code_between_fences_is_never_touched(mode: CompressionMode) -> None:
    code = "```rust\nfn add(a: i32,  b: i32) -> i32 {\n\n    a + b // just really simply\n}\n```"
    text = f"Fix my code:\n{code}\n" + "It panics when the sum is very large and nothing else works. " * 20

    assert code in compress(text, mode).text


def test_a_filler_goes_unless_that_turns_the_sentence_round() -> None:
    text = f"I think the cache is basically a map. It is not simply a cache, and it isn't just fast. {'Pad. ' * 80}"

    shorter = compress(text, "balanced").text

    assert shorter.startswith("The cache is a map.")
    assert "not simply a cache" in shorter
    assert "isn't just fast" in shorter


@modes
@pytest.mark.parametrize("indent", [None, 2])
def test_json_stays_json_and_keeps_failures_in_its_middle(indent: int | None, mode: CompressionMode) -> None:
    rows = [{"id": number, "state": "error: disk" if number == 150 else "ok"} for number in range(300)]
    text = json.dumps({"rows": rows, "total": 300}, indent=indent)

    shorter = compress(text, mode).text

    assert count_tokens(shorter) <= count_tokens(text) * 0.6
    assert {"id": 150, "state": "error: disk"} in json.loads(shorter)["rows"]
    assert json.loads(shorter)["rows"][0] == rows[0]
    assert json.loads(shorter)["total"] == 300
    assert ("\n" in shorter) is bool(indent)


@pytest.mark.parametrize("odd", ["1e400", r'"\ud83d \u00e9 é"'])
def test_json_stays_what_any_reader_takes(odd: str) -> None:
    text = f'{{"odd": {odd}, "rows": [{", ".join(map(str, range(300)))}]}}'

    shorter = compress(text, "aggressive").text

    assert "Infinity" not in shorter
    assert shorter.encode()


def test_json_of_one_long_text_is_cut_in_its_middle() -> None:
    shorter = json.loads(compress(json.dumps({"body": "a" * 3000 + "end"}), "aggressive").text)["body"]

    assert shorter.startswith("aaa")
    assert shorter.endswith("end")
    assert len(shorter) < 1500


@modes
@pytest.mark.parametrize("one", ["alpha beta gamma ", "x=1;", "\N{GRINNING FACE}", '"a ', "\u6f22\u5b57"])
def test_a_text_without_sentences_is_shortened_by_words_or_letters(one: str, mode: CompressionMode) -> None:
    shorter = compress(one * 2000, mode)

    assert shorter.text.startswith(one * 4)
    assert 0.25 < shorter.compressed_tokens / shorter.original_tokens < 0.56


@given(st.text(max_size=3000), st.sampled_from(MODES))
@example("[" * 500 + '"' + "x" * 4000 + '"' + "]" * 500, CompressionMode.BALANCED)
@example("I think " * 200, CompressionMode.BALANCED)
@example("col" + " " * 100_000 + "y", CompressionMode.BALANCED)
@example('{"a":"' + "x" * 400 + '"}', CompressionMode.BALANCED)
@example("[" * 5000, CompressionMode.AGGRESSIVE)
@example("```" + "a. " * 400, CompressionMode.AGGRESSIVE)
@example("I think ß is it. " * 40, CompressionMode.BALANCED)
@example("\ud800. " * 200, CompressionMode.BALANCED)
def test_no_text_grows(text: str, mode: CompressionMode) -> None:
    shorter = compress(text, mode)

    assert bool(text.strip()) == bool(shorter.text.strip())
    assert len(shorter.text) <= len(text)
    assert count_tokens(shorter.text) == shorter.compressed_tokens <= shorter.original_tokens == count_tokens(text)
