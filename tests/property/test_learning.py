"""Laws of comparing statements and of learning."""

import sys
import unicodedata

import builders.knowing
from builders.knowing import nothing
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.equivalence.compare import Difference, difference, likelihood
from nous.knowledge.equivalence.update import update
from nous.knowledge.learn import ALREADY
from nous.knowledge.normalize import exact_form
from nous.knowledge.statement import Statement
from nous.knowledge.verdict import Policy

PEOPLE = ("Alice", "Bob", "Priya", "Omar", "Lena")
VERBS = ("mentors", "trusts", "manages", "replaced", "blocks", "depends on", "reports to")
PLACES = ("in production", "on Friday", "with care", "for the audit", "after the import", "at 9:15")


def statement(who: str, verb: str, whom: str, number: int, place: str) -> str:
    return f"{who} {verb} {whom} and {number} others {place}"


statements = st.builds(
    statement,
    st.sampled_from(PEOPLE),
    st.sampled_from(VERBS),
    st.sampled_from(PEOPLE),
    st.integers(2, 99),
    st.sampled_from(PLACES),
)
anything = st.text(max_size=60)
marked = st.text(alphabet="ab5 *'\"`<>-.,:![](){}=", max_size=30)
SIGNS = tuple(
    sign
    for sign in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(sign) in ("Sm", "Sc", "So") and unicodedata.is_normalized("NFKC", sign)
)
signs = st.sampled_from(SIGNS).filter(lambda sign: sign != "\u2212")  # which is a hyphen as well
places = st.sampled_from(["rows {} files", "the {}5 rows", "the 5{} rows", "the a{}b rows", "it was 5 {} 6"])
teaching = st.lists(st.lists(st.one_of(statements, anything), max_size=6), max_size=5)


def compared(one: str, other: str) -> Difference:
    return difference(Statement(one).reading, Statement(other).reading)


@given(st.one_of(statements, anything))
def test_a_text_never_differs_from_itself(text: str) -> None:
    found = compared(text, text)

    assert found.is_equal or not found.left.words
    assert update(found) is None


@given(st.one_of(statements, anything), st.one_of(statements, anything))
def test_it_does_not_matter_which_text_came_first(one: str, other: str) -> None:
    there, back = compared(one, other), compared(other, one)

    assert bool(there.objection) == bool(back.objection)
    assert (there.only_left, there.only_right) == (back.only_right, back.only_left)


@given(st.one_of(statements, anything), st.one_of(statements, anything), st.floats(-1, 1))
def test_a_likelihood_is_between_none_and_all_and_knows_no_order(one: str, other: str, cosine: float) -> None:
    there, back = likelihood(compared(one, other), cosine), likelihood(compared(other, one), cosine)

    assert 0 < there < 1
    assert abs(there - back) < 1e-9


@given(statements, st.integers(100, 999))
def test_another_number_is_always_objected_to(text: str, number: int) -> None:
    changed = " ".join(str(number) if word.isdecimal() else word for word in text.split())

    assert compared(text, changed).objection


@given(statements, st.sampled_from(["not", "never", "no longer", "without"]), st.integers(0, 20))
def test_one_negation_more_is_always_objected_to(text: str, negation: str, place: int) -> None:
    words = text.split()
    words.insert(place % (len(words) + 1), negation)

    assert compared(text, " ".join(words)).objection


@given(st.sampled_from(VERBS), st.permutations(PEOPLE), st.sampled_from(PLACES))
def test_two_people_who_change_places_are_always_objected_to(verb: str, people: list[str], place: str) -> None:
    one, other, *_ = people

    assert compared(f"{one} {verb} {other} {place}", f"{other} {verb} {one} {place}").objection


@given(places, signs, st.one_of(signs, st.just("")))
def test_two_signs_are_never_one_form(place: str, one: str, other: str) -> None:
    assert (exact_form(place.format(one)) == exact_form(place.format(other))) == (one == other)


@given(places, signs, signs)
def test_another_sign_is_always_objected_to(place: str, one: str, other: str) -> None:
    assume(one != other)

    assert compared(place.format(one), place.format(other)).objection


@given(statements, st.sampled_from(["**{}**", '"{}"', "\u201c{}\u201d", "'{}'", "{}.", "({})", "- {}"]))
def test_emphasis_quotes_and_stops_make_no_difference(text: str, adorned: str) -> None:
    assert exact_form(adorned.format(text)) == exact_form(text)
    assert compared(adorned.format(text), text).is_equal


@given(st.one_of(anything, marked))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    form = exact_form(text)

    assert exact_form(form) == form
    assert exact_form(f"  {text.upper()} ") == exact_form(text.upper())


def taught_again(lessons: list[list[str]]) -> list[str]:
    """The reasons of the last lesson, taught once more, and that no text is current twice, on the way."""
    knowledge, reasons = nothing(HashingEmbedder(dim=32)), list[str]()
    for number, texts in enumerate(lessons + lessons[-1:]):
        session = str(min(number, len(lessons) - 1))
        decisions = builders.knowing.taught(knowledge, *texts, session=session, policy=Policy(near=0.4))
        assert len(decisions) == len(texts)
        reasons = [decision.verdict.reason for decision in decisions]
    forms = [known.statement.form for known in knowledge.current()]
    assert len(forms) == len(set(forms))
    return reasons


@settings(max_examples=60, deadline=None)
@given(teaching.filter(bool))
def test_an_episode_taught_twice_has_nothing_new_to_say_and_no_text_is_current_twice(lessons: list[list[str]]) -> None:
    assert set(taught_again(lessons)) <= {ALREADY}
