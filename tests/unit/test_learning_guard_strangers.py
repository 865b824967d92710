"""What shares its letters, its preposition or its place with something else, and is a stranger to it all the same."""

import tomllib
from importlib.resources import files

import pytest

from nous.learning.guard.compare import Comparison, compare
from nous.learning.guard.lexicon import english
from nous.learning.guard.stem import stem, whole_stem
from nous.learning.statement import Statement

APART = [
    # the agent is spelled as the deed
    ("The mentor of Kim is Tom", "Kim is the mentor of Tom"),
    ("Kim's mentor is Tom", "Kim mentors Tom"),
    ("Kim's mentor is Tom", "Kim is Tom's mentor"),
    ("Kim's sponsor is Tom", "Kim sponsors Tom"),
    ("Kim's host is Tom", "Kim hosts Tom"),
    ("The team's lead is Tom", "The team leads Tom"),
    ("Kim's coach is Tom", "Kim coaches Tom"),
    ("Kim's coach is Tom", "Kim coached Tom"),
    ("Kim's hosts are guests", "Kim hosts guests"),
    ("The owner of the car was Tom", "Tom owns the car"),
    ("The owner of the car must be Tom", "Tom owns the car"),
    ("The former owner of the car is Tom", "Tom owns the car"),
    ("An owner of the car is Tom", "The car is the owner of Tom"),
    # what is asked
    ("The docs explain how the cluster restarts", "The docs explain why the cluster restarts"),
    ("The docs explain how the cluster restarts", "The docs explain when the cluster restarts"),
    ("The docs explain whether the cluster restarts", "The docs explain why the cluster restarts"),
    ("The docs explain that the cluster restarts", "The docs explain why the cluster restarts"),
    ("The guide says where the logs are stored", "The guide says how the logs are stored"),
    ("The guide says what the worker checks", "The guide says how the worker checks"),
    ("The team decides who deploys", "The team decides what deploys"),
    ("Tom knows the job runs", "Tom knows whether the job runs"),
    # which of the prepositions
    ("The request of Tom was denied", "The request for Tom was denied"),
    ("The keys are in the box", "The keys are on the box"),
    ("The alerts fire during the night", "The alerts fire throughout the night"),
    ("Kim looks every morning for the cats", "Kim looks every morning after the cats"),
    # to oneself, or to another
    ("Tom blames himself", "Tom blames him"),
    ("They blame themselves", "They blame them"),
    ("Users can delete themselves", "Users can delete them"),
    ("The worker restarts itself", "The worker restarts it"),
    # no form of what it looks like
    ("Kim posts news", "Kim posts new"),
    ("The bot scrapes the site", "The bot scraps the site"),
    ("The bot scraped the site", "The bot scrapped the site"),
    ("The clerk is taping the calls", "The clerk is tapping the calls"),
    ("The node is full", "The nod is full"),
    ("Planning is done", "Planing is done"),
    ("The wood is dry", "The woods are dry"),
    ("The answer is good", "The answer is merchandise"),
    ("The answer is right", "The answer is permission"),
    ("Kim is tired", "Kim is a tire"),
    ("The parking is closed", "The park is closed"),
    ("The building is old", "The build is old"),
    ("The buildings are old", "The builds are old"),
    ("The training is late", "The train is late"),
    ("The logging is off", "The log is off"),
    ("Tom re-signed the contract", "Tom resigned the contract"),
    ("Ann re-covers the chair", "Ann recovers the chair"),
    # of two senses
    ("The firm offer is binding", "The company offer is binding"),
    ("The lower limit is 5", "The decrease limit is 5"),
    ("The DR plan is new", "The doctor plan is new"),
    ("Tom brings up the server", "Tom mentions the server"),
    ("Kim works under Tom", "Kim is managed by Tom"),
    ("Every other user is billed", "Every two users are billed"),
    ("The store takes the payment", "The store pays"),
    # whose it is
    ("Team permissions are stored in LDAP", "Permissions are stored in LDAP"),
    ("Team backups are encrypted", "Backups are encrypted"),
    ("The team backups run daily", "Backups run daily"),
    # bytes are no bits, and what is raised is not beside
    ("The disk writes 400 MBps", "The disk writes 400 megabits per second"),
    ("The disk writes 400 MBps", "The disk writes 400 Mbps"),
    ("The lookup is O(2ⁿ)", "The lookup is O(2n)"),
]

SAME = [
    # `of` and `for`, but of what one sends and another gets
    ("The retry limit of service-4 is 7 attempts", "Retry limit for service-4: 7 attempts"),
    ("The timeout of the API is 30 seconds", "The timeout for the API is 30 seconds"),
    ("The owner of billing is Kim", "The owner for billing is Kim"),
    ("Kim's mentor is Tom", "Tom mentors Kim"),
    ("Kim's mentor is Tom", "Tom is Kim's mentor"),
    ("The mentor of Kim is Tom", "Tom is the mentor of Kim"),
    ("The mentor of Kim is Tom", "Kim's mentor is Tom"),
    ("The owner of the car is Tom", "Tom owns the car"),
    ("The owner of Kim's car is Tom", "Tom owns Kim's car"),
    ("The lead of the Rust team is Kim", "Kim leads the Rust team"),
    ("The team's lead is Kim", "Kim leads the team"),
    ("The team lead is Kim", "Kim is the team lead"),
    ("The host of the fair is Kim", "Kim hosts the fair"),
    ("Mentors get a badge", "The mentors get a badge"),
    ("The repo belongs to Kim", "The repo is owned by Kim"),
    ("The team takes a backup every night", "The team backs up every night"),
    ("Kim took the decision", "Kim decided"),
    ("The repo belongs to Kim", "Kim owns the repo"),
    ("The web hosts run Linux", "Web hosts run Linux"),
    ("Tom sponsors the fair", "The fair is sponsored by Tom"),
    ("Users who are admins can delete", "Users that are admins can delete"),
    ("What the team uses is Rust", "The team uses Rust"),
    ("The guide tells how the worker starts", "The guide tells how the workers start"),
    ("The app listens on port 80", "The app listens at port 80"),
    ("Files are stored on S3", "Files are stored in S3"),
    ("The job runs on Kubernetes", "The job runs in Kubernetes"),
    ("Kim is building a house", "Kim builds a house"),
    ("Kim is using Rust", "Kim uses Rust"),
    ("Kim planned the trip", "The trip was planned by Kim"),
    ("The team rates the film", "The film is rated by the team"),
    ("The script saves files", "The script stores files"),
    ("The shop closes at 5 PM", "The shop shuts at 5 PM"),
    ("The buses are red", "The bus is red"),
    ("The settings are wrong", "The config is wrong"),
    ("Incoming mail is scanned", "Inbound mail is scanned"),
    ("The tires are old", "The tyres are old"),
    ("Kim is tired", "Kim is weary"),
    ("The team lowered the limit", "The team reduced the limit"),
    ("The word has 16 bits", "The word has 16 bit"),
    ("The job is re-run every night", "The job is rerun every night"),
    ("The table is re-created", "The table is recreated"),
    ("The team meets every other week", "The team meets every two weeks"),
    ("The team hashes passwords", "Passwords are hashed"),
    ("The team releases every Friday", "Releases happen every Friday"),
    ("The disk writes 400 MBps", "The disk writes 400 MB per second"),
    ("The link does 2 Gbps", "The link does 2 gigabits per second"),
    ("The shop is open till 5 PM", "The shop is open until 5 PM"),
    ("The pipe runs beneath the road", "The pipe runs below the road"),
]


def compared(one: str, other: str) -> Comparison:
    return compare(Statement(one).reading, Statement(other).reading, english())


@pytest.mark.parametrize(("one", "other"), APART)
def test_a_stranger_is_kept_apart_either_way(one: str, other: str) -> None:
    assert compared(one, other).objection
    assert compared(other, one).objection


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_relative_is_let_through_either_way(one: str, other: str) -> None:
    assert compared(one, other) == Comparison()
    assert compared(other, one) == Comparison()


def test_no_word_and_no_form_of_one_is_in_two_lines() -> None:
    tables = tomllib.loads(files("nous.learning.guard").joinpath("words.toml").read_text(encoding="utf-8"))
    strangers, lines = set(tables["strangers"].split()), dict[str, set[int]]()
    for number, line in enumerate(tables["same"]):
        for word in line.split():
            for form in {word} if word in strangers else {word, whole_stem(word)}:
                lines.setdefault(form, set()).add(number)

    assert {form for form, numbers in lines.items() if len(numbers) > 1} == set()


@pytest.mark.parametrize(
    ("word", "whole"),
    [
        ("scrape", "scrape"),
        ("scrapes", "scrape"),
        ("scraped", "scrape"),
        ("scraping", "scrape"),
        ("scrap", "scrap"),
        ("scraps", "scrap"),
        ("scrapped", "scrap"),
        ("scrapping", "scrap"),
        ("quite", "quite"),
        ("quit", "quit"),
        ("quitting", "quit"),
        ("used", "use"),
        ("typing", "type"),
        ("fixed", "fix"),
        ("cached", "cach"),
        ("received", "receiv"),
    ],
)
def test_a_short_word_keeps_the_e_that_tells_it_from_another(word: str, whole: str) -> None:
    assert whole_stem(word) == whole
    assert stem(word) == whole.removesuffix("e")
