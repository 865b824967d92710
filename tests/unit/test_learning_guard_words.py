"""The tables of words: what is opposite, or nearly the same and not quite, never stands for one another."""

from itertools import combinations

import pytest

from nous.learning.guard.compare import compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

OPPOSITE_VERBS = """
enable disable; activate deactivate; start stop; begin end; begin finish; open close; lock unlock; accept reject
accept decline; approve reject; allow forbid; permit prohibit; let ban; add remove; add delete; insert delete
create destroy; create delete; build demolish; include exclude; contain lack; increase decrease; raise lower
grow shrink; rise fall; gain lose; win lose; find lose; buy sell; borrow lend; give take; give receive; send receive
push pull; import export; upload download; load unload; read write; save discard; keep drop; keep delete
keep discard; retain purge; store erase; show hide; reveal conceal; love hate; like hate; like dislike; prefer avoid
agree disagree; support oppose; help harm; fix break; repair damage; solve cause; pass fail; succeed fail
finish abort; complete cancel; continue stop; resume pause; hire fire; join leave; arrive leave; arrive depart
come go; enter exit; remember forget; encrypt decrypt; encode decode; compress decompress; mount unmount
install uninstall; connect disconnect; attach detach; merge split; combine split; sort shuffle; extend replace
extend shorten; expand shrink; expand collapse; improve worsen; strengthen weaken; simplify complicate; speed slow
accelerate slow; advance postpone; hurry delay; uphold overturn; confirm deny; admit deny; prove refute
praise criticize; promote demote; attack defend; protect attack; deploy rollback; release revert; upgrade downgrade
subscribe unsubscribe; register unregister; block allow; require forbid; need refuse; ask answer; question answer
teach learn; lead follow; precede follow; marry divorce; live die; wake sleep; work rest; own rent; rent sell
print scan; publish withdraw; hide display; enlarge reduce
learn teach; study teach; own borrow; possess lose; insert remove; lend repay; swap keep; exchange keep; rescue abandon
persuade dissuade; deploy undeploy; achieve fail; waste save; accumulate lose; subtract add; worsen improve
vanish appear; prevent cause; hinder help; facilitate hamper; love hate; distinguish confuse; scare calm; resign join
prolong shorten; rise fall; kill start; deduplicate duplicate; cure infect; decorate strip; enforce relax; succeed fail
throw catch; tear mend; devote withhold; dismiss hire; merge divide; unify divide; enroll expel; clarify obscure
transform preserve; book cancel; reserve release; refund charge; hurry linger; shout whisper; cry laugh; promise break
"""

NEAR_VERBS = """
approve review; merge close; deprecate remove; disable remove; pause stop; update create; test deploy; log store
plan finish; schedule cancel; propose decide; consider choose; try succeed; own use; own manage; write review
call create; parse print; cache store; stage deploy; lend give; visit live; watch film; design build; expect want
archive delete; rename remove; move copy; encrypt compress; hash encrypt; log alert; retry restart; reboot stop
affect improve; predict observe; claim prove; invest earn; rent buy; lease buy; cooperate compete; publish draft
print parse; indicate fix; deliver order; infer guess; demonstrate test; depict hide; implement design; donate lend
practice perform; fear avoid; retry resume; adjust replace; toggle enable; debug test; refactor rewrite; tweak reset
persuade force; supervise help; vaccinate cure; chase catch; summarize translate; imagine see; deploy build; attend host
determine guess; study work; wander travel; impact improve; influence control; trade sell; reserve visit
"""

OPPOSITE_ADJECTIVES = """
lazy eager; fast slow; quick slow; big small; large little; high low; deep shallow; long short; long brief
verbose concise; wide narrow; broad narrow; strong weak; hot cold; warm cool; light dark; light heavy; bright dark
new old; latest oldest; newest oldest; first last; early late; hard easy; difficult easy; hard soft; complex simple
complicated simple; cheap expensive; rich poor; good bad; happy sad; glad sad; healthy ill; healthy sick
safe dangerous; safe risky; public private; open closed; internal external; local remote; manual automatic
strict lenient; stable unstable; mutable immutable; sync async; synchronous asynchronous; parallel sequential
concurrent sequential; sequential random; required optional; mandatory optional; necessary unnecessary
active inactive; online offline; visible hidden; full empty; empty crowded; quiet loud; quiet noisy; clean dirty
true false; right wrong; correct wrong; accurate inaccurate; same different; identical different; similar different
rare common; rare frequent; usual unusual; normal strange; main secondary; primary secondary; temporary permanent
partial whole; minimum maximum; min max; major minor; upper lower; left right; near far; present absent; alive dead
married single; clever stupid; smart dumb; polite rude; calm angry; brave afraid; reliable unreliable
steady volatile; exact rough; precise vague; obvious obscure; direct indirect; real fake; useful useless
outdated current; individual shared; separate joint; extra missing; serious trivial; crucial optional
immediate delayed; sudden gradual; sharp blunt; strict loose; tasty bland
inbound outbound; incoming outgoing; ingress egress; honest dishonest; polite impolite; dead living; illegal lawful
distinct same; global regional; excellent awful; unnecessary necessary; useless helpful; toxic harmless
jobless employed; reachable unreachable; suitable unsuitable; tired rested; nervous calm; slim fat; false correct
unlimited limited; legible illegible; lucky unlucky; vague clear; backward forward; upward downward; biased unbiased
readable unreadable
brave cowardly; boring exciting; dull lively; dirty spotless; famous unknown; fragile sturdy; modern ancient; wet dry
urgent unimportant; legal illegal; custom standard; safe unsafe; secure insecure; redundant necessary; tiny huge
beautiful ugly; funny serious; shy outgoing; important insignificant; clear unclear; round square; widespread scarce
"""

NEAR_NOUNS = """
staging production; dev prod; database table; user admin; client server; request response; input output
source target; source destination; thread process; error warning; bug feature; issue commit; branch tag; test build
header body; key value; mother father; brother sister; son daughter; husband wife; uncle aunt; teacher student
doctor patient; boss colleague; tea coffee; cat dog; train bus; bike motorbike; car truck; house apartment
spring autumn; morning evening; lunch dinner; minute second; average maximum; average median; price salary
goal result; latency throughput; function class; package module; library framework; script binary; hardware software
text image; photo film; company team; country city; journey destination
advantage disadvantage; benefit drawback; upside downside; attic basement; winner loser; victory defeat; fridge freezer
opinion fact; cpu gpu; processor memory; developer designer; programmer tester; plugin theme; website server; page link
uptime downtime; outage incident; supplier customer; supper breakfast; professor student; department company; stone wood
football basketball; story poem; coupon receipt; image video; asthma diabetes; dyslexia epilepsy; plan plane
home garden; wardrobe shelf; diaper towel; corn wheat; rabbit hare; teenager adult; beginner expert; income expense
sum average; sunrise sunset; dawn dusk; journalist editor; buyer seller; staff guests; prisoner guard; tram train
credential token; account user; allowlist denylist; whitelist blacklist; executable script; newline space; total average
recipient sender; forename surname; surplus shortage; participant organizer; synopsis chapter; toilet kitchen
skill interest; injury illness; evidence opinion; chance risk; outcome cause; competitor partner; ram disk; bill payment
"""

ADVERBS = """
almost fully; nearly completely; completely partially; mainly entirely; recently soon; soon eventually
initially finally; formerly currently; together separately; alone together; slightly considerably; certainly maybe
perhaps definitely; deliberately accidentally; intentionally unintentionally; secretly openly; gradually suddenly
abroad locally
forward backward; predominantly wholly; lately formerly; jointly individually; previously recently; apparently surely
"""

NEGATED = ["need not", "do not need to", "do not have to", "are not required to"]


def rows(table: str) -> list[tuple[str, str]]:
    pairs = (pair.split() for line in table.strip().splitlines() for pair in line.split(";"))
    return [(one, other) for one, other in pairs]


def objection(one: str, other: str) -> str | None:
    return compare(Statement(one).reading, Statement(other).reading, english()).objection


@pytest.mark.parametrize(("one", "other"), rows(OPPOSITE_VERBS) + rows(NEAR_VERBS))
def test_two_verbs_that_say_another_thing_are_told_apart(one: str, other: str) -> None:
    assert objection(f"They {one} the plans of the team", f"They {other} the plans of the team")
    assert objection(f"Every night they will {one} it", f"Every night they will {other} it")


@pytest.mark.parametrize(("one", "other"), rows(OPPOSITE_ADJECTIVES))
def test_two_adjectives_that_say_another_thing_are_told_apart(one: str, other: str) -> None:
    assert objection(f"The answers are {one}", f"The answers are {other}")
    assert objection(f"Nina has a {one} list", f"Nina has a {other} list")


@pytest.mark.parametrize(("one", "other"), rows(NEAR_NOUNS))
def test_two_nouns_that_are_not_the_same_are_told_apart(one: str, other: str) -> None:
    assert objection(f"The {one} is new", f"The {other} is new")


@pytest.mark.parametrize(("one", "other"), rows(ADVERBS))
def test_two_adverbs_that_are_not_the_same_are_told_apart(one: str, other: str) -> None:
    assert objection(f"The plans were {one} changed", f"The plans were {other} changed")


@pytest.mark.parametrize("negated", NEGATED)
def test_what_need_not_be_is_not_what_must_not_be(negated: str) -> None:
    assert objection(f"Commits {negated} be signed", "Commits must not be signed")
    assert not objection(f"Commits {negated} be signed", "Commits need not be signed")


def test_no_word_is_in_two_lines() -> None:
    same = english().same

    assert all(same.get(key, key) == key for key in same.values())


def test_what_may_stand_for_each_other_is_said_both_ways() -> None:
    opposed = [frozenset(pair) for table in (OPPOSITE_VERBS, OPPOSITE_ADJECTIVES, ADVERBS) for pair in rows(table)]
    lines: dict[str, set[str]] = {}
    for word, key in english().same.items():
        lines.setdefault(key, set()).add(word)

    assert [line for line in lines.values() if any(frozenset(pair) in opposed for pair in combinations(line, 2))] == []
