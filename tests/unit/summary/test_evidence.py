"""Facts are held to quotes that stand in the session."""

from dataclasses import replace

import pytest

from nous.domain.episode import CandidateFact, Quote, Trust
from nous.domain.summary_input import Segment, SummaryInput
from nous.summary.llm.evidence import Unsupported, contradicted, supported
from nous.summary.llm.source_index import SourceIndex

SAID = (
    Segment("[User] Please move billing to port 9017. I prefer tabs over spaces.", "User", 1),
    Segment("[Assistant] Done: billing listens on port 9017. Metrics stay on 9100.", "Assistant", 1),
    Segment("[... 77 turns omitted ...]"),
    Segment("[Assistant] The importer does not skip empty rows. It **reads** `prices.py` first.", "Assistant", 2),
    Segment('[Tools] Read(config.json) | {"queue": {"retry": {"delay": 3}}}, due 11 May', "Tools", 2),
    Segment("[User] Start before 11 AM, I don't want delays; see PR #12, due 2026-06-01.", "User", 2),
    Segment("[User] Die Rechnungen werden jeden Freitag gedruckt und verschickt.", "User", 3),
)
SESSION = SourceIndex(SummaryInput(windows=(SAID,), heading="[Session] date: 2026-05-07, directory: /srv/billing"))
MOVE, LISTENS, SKIPS = (
    Quote(1, "move billing to port 9017"),
    Quote(1, "billing listens on"),
    Quote(2, "The importer does not skip empty rows"),
)
PRINTED = Quote(3, "Die Rechnungen werden jeden Freitag gedruckt")


def judged(text: str, *quotes: Quote, turns: tuple[int, ...] = ()) -> CandidateFact | Unsupported:
    return supported(CandidateFact(text=text, turns=turns, quotes=quotes), SESSION)


def of_one_turn(said: str, fact: str) -> CandidateFact | Unsupported:
    session = SourceIndex(SummaryInput(windows=((Segment(f"[User] {said}", "User", 1),),)))
    return supported(CandidateFact(text=fact, turns=(1,), quotes=(Quote(1, said),)), session)


@pytest.mark.parametrize(
    ("reason", "quote", "true", "false"),
    [
        (Unsupported.FEW_WORDS, MOVE, "Billing moves to port 9017.", "Terraform provisions every cluster."),
        (Unsupported.OPPOSITE, SKIPS, "The importer never skips empty rows.", "The importer skips empty rows."),
        (Unsupported.OTHER_THING, LISTENS, "Billing listens on port 9017.", "Billing listens on port 9100."),
        (Unsupported.NOT_SAID, LISTENS, "Billing listens on port 9017.", "Billing listens on port 77."),
        (Unsupported.NOT_SAID, PRINTED, "Invoices are printed every Friday.", "Invoices are printed at 17:30."),
        (
            Unsupported.NOT_SAID,
            MOVE,
            "Billing in /srv/billing moved to port 9017 on 2026-05-07.",
            "Billing moved to port 9017 on 2026-05-08.",
        ),
        (
            Unsupported.NOT_WISHED,
            SKIPS,
            "Empty rows are not skipped.",
            "The user decided that the importer does not skip empty rows.",
        ),
    ],
    ids=["other words", "denied", "another's number", "no number", "another language", "the heading", "no wish"],
)
def test_a_quoted_fact_is_kept_and_what_its_quote_does_not_bear_out_is_dropped(
    reason: Unsupported, quote: Quote, true: str, false: str
) -> None:
    assert isinstance(judged(true, quote), CandidateFact)
    assert judged(false, quote) is reason


@pytest.mark.parametrize(
    ("quote", "kept", "dropped"),
    [
        (Quote(2, "Start before 11 AM"), "It starts before 11 AM.", "It starts before 3 AM."),
        (Quote(2, "see PR #12, due"), "PR #12 is due next.", "PR #3 is due next."),
        (Quote(2, "see PR #12, due"), "PR #12 is due on 2026-06-01.", "PR #12 is due on 2026-06-11."),
        (Quote(2, "see PR #12, due"), "PR #12 is due on 2026-05-11.", "PR #12 is due on 2026-03-11."),
        (MOVE, "Billing moves to port 9017.", "It is not the case that billing moves to port 9017."),
        (SKIPS, "It is not true that the importer skips empty rows.", "The importer skips each one of the empty rows."),
        (Quote(2, "I don't want delays"), "The user does not want delays.", "The user wants delays."),
        (Quote(2, '"delay": 3'), "queue.retry.delay is 3 in config.json.", "queue.retry.limit is 3 in config.json."),
    ],
    ids=["unit", "reference", "date", "month by name", "denied whole", "denial denied", "phrase", "nested key"],
)
def test_units_references_dates_and_negations_are_those_of_the_quote(quote: Quote, kept: str, dropped: str) -> None:
    assert isinstance(judged(kept, quote), CandidateFact)
    assert isinstance(judged(dropped, quote), Unsupported)


def test_a_negation_concerns_what_follows_and_the_one_word_before_it() -> None:
    assert not contradicted("The fare does not include insurance.", ["insurance: no"])
    assert contradicted("The fare does not include insurance.", ["the fare does include insurance but not the seat"])


def test_a_fact_without_a_quote_that_stands_in_the_session_is_dropped() -> None:
    assert judged("Billing moves to port 9017.") is Unsupported.NO_QUOTE
    assert judged("Billing moves to port 9017.", Quote(1, "billing moves to port 9017")) is Unsupported.NOT_QUOTED


def test_a_quote_of_another_turn_adds_that_turn_and_the_cited_one_stays() -> None:
    fact = judged("Billing moves to port 9017.", Quote(3, MOVE.text), turns=(2, 99))

    assert isinstance(fact, CandidateFact)
    assert (fact.turns, fact.quotes) == ((1, 2, 3), (MOVE,))


@pytest.mark.parametrize(
    "quote", ["it reads prices.py", "It **reads**\n `prices.py`", "[Assistant] It reads PRICES.py"]
)
def test_neither_space_nor_markup_nor_a_label_makes_another_quote(quote: str) -> None:
    assert isinstance(judged("The importer reads prices.py first.", Quote(2, quote)), CandidateFact)


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("The bug is not in the parser, it is in the lexer's tab handling.", "The bug is in the lexer's tab handling."),
        ("Don't use npm, use pnpm.", "Use pnpm instead of npm."),
        ("Don't forget to bump the version before a release.", "The version must be bumped before a release."),
        ("Never push to main; always open a PR.", "Always open a PR instead of pushing to main."),
        ("Not only the API but also the worker needs the token.", "The API and the worker need the token."),
        ("The flag is disabled by default.", "The flag is not enabled by default."),
        ("I don't want emojis in commit messages.", "The user wants commit messages without emojis."),
        ("We don't need Docker for tests.", "Tests need no Docker."),
        ("The token expires after 15m", "The token expires after 15 minutes."),
        ("3月5日发布新版本", "新版本于2026-03-05发布"),
        ("go test ./agent/... runs the tests of agents", "The tests of agents were run, not the whole suite."),
        ("It is not the case that the server caches pages.", "It is not the case that the server caches pages."),
        ("Retries take 3 to 5 minutes, builds 9 minutes.", "Retries take 3 to 5 minutes."),
        ("node --version of the API server says v20.11.1", "The API server uses Node 20."),
        ("把超时时间改成30秒 端口用9090", "超时时间是30秒 端口是9090"),
        ("The release at 2026-05-08T10:00:00.123Z was the first", "The first release was at 2026-05-08."),
        ("The release of 08.05.2026 was the first", "The first release was at 2026-05-08."),
        ("The release of 8 de mayo de 2026 was the first", "The first release was at 2026-05-08."),
        ("The release of 2026年5月8日 was the first", "The first release was at 2026-05-08."),
        ("The release of 08/May/2026:10:32:01 was the first", "The first release was at 2026-05-08."),
        ("The release of 8-May-2026 was the first", "The first release was at 2026-05-08."),
        ("The release of May 8 and 15 was the first", "The first release was at 2026-05-15, in May 2026."),
    ],
)
def test_what_was_said_in_other_words_is_kept(said: str, fact: str) -> None:
    assert isinstance(of_one_turn(said, fact), CandidateFact)


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("dont restart the worker on deploy", "Restart the worker on deploy."),
        ("The worker no longer retries jobs.", "The worker retries jobs."),
        ("Don't use npm, use pnpm.", "The project uses npm."),
        ("The API accepts JSON, not XML.", "The API accepts XML."),
        ("The timeout is 30 seconds.", "The timeout is 30 minutes."),
        ("There is a server 192.168.1.7 for staging", "There are 192 servers for staging."),
        ("The release of 2026 is on March 5, 2025.", "The release is on 2026-03-05."),
        ("The migration of 2026 may take 5 minutes.", "The migration is on 2026-05-05."),
        ("Only 3/5 of the tests of 2026 pass.", "The tests pass since 2026-03-05."),
        ("发布定于2026年4月5日", "发布定于2026-03-05"),
        ("Backups run at 11:30 PM.", "Backups run at 11:30 AM."),
        ("Decide 12 things of 2026 for the release.", "Release of things is at 2026-12-12."),
        ("Ticket 5-8 of 2026 is about the release.", "The release of the ticket is at 2026-05-08."),
        ("The app server host name of the shop", "The shop has the name app.server.host."),
    ],
)
def test_what_was_not_said_is_dropped(said: str, fact: str) -> None:
    assert isinstance(of_one_turn(said, fact), Unsupported)


def test_a_date_of_another_sentence_does_not_replace_that_of_the_quote() -> None:
    said = "The release of 2026 is on March 12. The party is on April 3."
    session = SourceIndex(SummaryInput(windows=((Segment(f"[User] {said}", "User", 1),),)))
    quotes = (Quote(1, "The release of 2026 is on March 12."),)

    for date, kept in (("2026-03-12", True), ("2026-04-03", False), ("2026-04-03, not 2026-03-12", True)):
        fact = CandidateFact(text=f"The release is on {date}.", turns=(1,), quotes=quotes)
        assert isinstance(supported(fact, session), CandidateFact) is kept


def test_a_number_of_another_turn_does_not_replace_that_of_the_quote() -> None:
    turns = ("The API runs on port 8080.", "The metrics run on port 9090.")
    segments = tuple(Segment(f"[User] {said}", "User", turn) for turn, said in enumerate(turns, start=1))
    session, quotes = SourceIndex(SummaryInput(windows=(segments,))), (Quote(1, turns[0]),)

    for port, kept in ((8080, True), (9090, False)):
        fact = CandidateFact(text=f"The API runs on port {port}.", turns=(1, 2), quotes=quotes)
        assert isinstance(supported(fact, session), CandidateFact) is kept


def test_words_of_the_users_in_another_turn_do_not_make_a_quoted_fact_theirs() -> None:
    asked, tool = "Why do deploys on prod-7 skip the tests? They must not.", "Deploys must skip the tests there."
    said = (Segment(f"[User] {asked}", "User", 1), Segment("[User] Read the page, please.", "User", 2))
    session = SourceIndex(SummaryInput(windows=((*said, Segment(f"[Output of Read] {tool}", "Output", 2)),)))
    fact = CandidateFact(
        text="Deploys on prod-7 must skip the tests.", quotes=(Quote(2, tool), Quote(2, "Read the page"))
    )

    assert supported(fact, session) == replace(fact, turns=(1, 2), trust=Trust.TOOL)
