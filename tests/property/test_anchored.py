"""Laws of the anchored summary: nothing is lost in silence, whoever writes the new one."""

from hypothesis import given
from hypothesis import strategies as st

from nous.domain.anchored_summary import LABELS, AnchoredSummary
from nous.summary.anchored.retention import PASSING, SearchableText, kept, lines_of

THINGS = ("gateway", "importer", "audit_log", "`read_rows`", "src/main.py", "Redis", "the linter")
DEEDS = ("listens on port", "retries uploads", "has rows", "must never exceed", "was moved to shelf", "doesn't reach")
REASONS = ("because the bucket is slow", "as the user wants it", "since release 2.4", "")


def line(thing: str, deed: str, number: int, reason: str) -> str:
    return f"- The {thing} {deed} {number} {reason}".rstrip()


lines = st.builds(
    line, st.sampled_from(THINGS), st.sampled_from(DEEDS), st.integers(10, 9_999), st.sampled_from(REASONS)
)
contents = st.dictionaries(
    st.sampled_from([*LABELS, "earlier", "risks"]), st.lists(lines, max_size=6).map("\n".join), max_size=7
)
summaries = contents.map(AnchoredSummary.of)
odd = st.sampled_from("ab1 .-`\n\t*#\"'/,;:()?“”é漢\u2019\u2028\x85\x0c\x00\ud800")
rough_text = st.lists(st.one_of(odd, st.sampled_from(["```", "\n- ", "not ", "Port 80", "\n  "])), max_size=30).map(
    "".join
)
rough = st.dictionaries(st.sampled_from([*LABELS, "earlier", "risks"]), rough_text)


@st.composite
def faithless(draw: st.DrawFn, previous: AnchoredSummary) -> tuple[AnchoredSummary, set[str]]:
    """What a bad summarizer makes of *previous*, and the lines it dropped or falsified."""
    written: dict[str, list[str]] = {}
    harmed: set[str] = set()
    for section in previous.sections:
        is_emptied = draw(st.booleans())
        for each in section.content.splitlines():
            fate = "drop" if is_emptied else draw(st.sampled_from(["keep", "drop", "falsify"]))
            if fate == "keep":
                written.setdefault(section.id, []).append(each)
                continue
            harmed.add(each)
            if fate == "falsify":
                written.setdefault(section.id, []).append(each.replace("1", "7").replace("2", "x"))
    return AnchoredSummary.of({id_: "\n".join(said) for id_, said in written.items()}, iteration=2), harmed


@given(st.data())
def test_whatever_a_summarizer_does_nothing_is_lost_and_the_loss_is_told(data: st.DataObject) -> None:
    previous = data.draw(summaries)
    new, harmed = data.draw(faithless(previous))

    mended, back = kept(previous, new)

    before, after = (SearchableText(one.content for one in each.sections) for each in (new, mended))
    told = [each for section in previous.sections for each in section.content.splitlines()]
    assert all(after.holds(each) for each in told)
    assert set(back) == {each for each in told if not before.holds(each)} <= harmed
    assert set(back) <= {each for section in mended.sections for each in section.content.splitlines()}
    assert len(set(back)) == len(back)


@given(st.data())
def test_nothing_new_is_changed_and_nothing_stale_poses_as_current(data: st.DataObject) -> None:
    previous = data.draw(summaries)
    new, _ = data.draw(faithless(previous))

    mended, back = kept(previous, new)

    assert all(mended.content(section.id).endswith(section.content.strip("\n")) for section in new.sections)
    assert all(mended.content(id_) == new.content(id_) for id_ in PASSING)
    assert mended.iteration == new.iteration
    assert back or mended is new


@given(rough.map(AnchoredSummary.of), rough.map(AnchoredSummary.of))
def test_nothing_is_put_back_twice_whatever_the_texts_are(previous: AnchoredSummary, new: AnchoredSummary) -> None:
    mended, _ = kept(previous, new)

    assert kept(previous, mended) == (mended, ())


@given(rough.map(AnchoredSummary.of))
def test_a_text_holds_each_of_its_own_lines(summary: AnchoredSummary) -> None:
    text = SearchableText(section.content for section in summary.sections)

    assert all(text.holds(each) for section in summary.sections for each in lines_of(section.content))
    assert kept(summary, summary) == (summary, ())
    assert kept(AnchoredSummary.empty(), summary) == (summary, ())
