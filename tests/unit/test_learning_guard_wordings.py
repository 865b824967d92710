"""What may be said in two ways, rule by rule; and beside each, what the rule must not let through."""

import pytest

from nous.learning.guard.compare import Comparison, compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

SAME = [
    # units, numbers, dates and times
    ("The delay is 1500 ms", "The delay is 1.5 seconds"),
    ("The lock expires after half an hour", "The lock expires after 30 minutes"),
    ("The reply took an hour", "The reply took 1 hour"),
    ("The plan costs $12 a month", "The plan costs 12 dollars per month"),
    ("The queue takes 50 req/s", "The queue takes 50 requests per second"),
    ("The invoice is over EUR 1,500.00", "The invoice is more than 1500 euros"),
    ("The fund holds $2M", "The fund holds 2 million dollars"),
    ("The parser needs Python >= 3.11", "The parser needs Python 3.11 or newer"),
    ("The rack runs at 25°C", "The rack runs at 25 degrees Celsius"),
    ("The import begins at ten in the morning", "The import begins at 10:00"),
    ("The audit starts in the third quarter of 2026", "The audit starts in Q3 2026"),
    ("The lease began on 2024/03/05", "The lease began on 5 March 2024"),
    ("The report covers pages 10-20", "The report covers pages 10 to 20"),
    ("The job has one retry", "The job has a retry"),
    # spellings
    ("The time zone is UTC", "The timezone is UTC"),
    ("Each re-run needs a follow-up", "Each rerun needs a follow up"),
    ("The runner can't cancel jobs", "The runner cannot cancel jobs"),
    ("Use tabs w/o trailing spaces", "Use tabs without trailing spaces"),
    ("There's a mirror in Lyon", "There is a mirror in Lyon"),
    # small verbs
    ("The retry budget is set to 10", "The retry budget is 10"),
    ("The log page is located in the console", "The log page is in the console"),
    ("Noor is the owner of the ledger", "Noor owns the ledger"),
    ("The board made the decision to expand", "The board decided to expand"),
    ("Backups of the ledger are made every night", "The ledger is backed up every night"),
    ("Strict mode is on", "Strict mode is enabled"),
    ("Ines works as a nurse", "Ines is a nurse"),
    ("Deployment of the site takes an hour", "The deployment of the site lasts an hour"),
    # order
    ("The free plan's limit is 3 projects", "The limit of the free plan is 3 projects"),
    ("The editor's name is Vim", "Vim is the editor's name"),
    ("Noor and Felix share a desk", "Felix and Noor share a desk"),
    ("When the queue is full, the gateway drops calls", "The gateway drops calls when the queue is full"),
    ("On Fridays the team rests and plays", "The team rests on Fridays and plays"),
    ("The limit for guests is 5 GB", "The limit is 5 GB for guests"),
    ("A push to main triggers the build", "The build is triggered by a push to main"),
    ("We hash passwords with argon", "Passwords are hashed with argon"),
    ("The team keeps its secrets in Vault", "Secrets are kept in Vault"),
    ("The key is rotated automatically", "The key is automatically rotated"),
    ("Branches are deleted after they have been merged", "Branches are deleted after being merged"),
    ("In April prices were raised by the vendor", "The vendor raised prices in April"),
    ("Nina rests twice a week", "Twice a week Nina rests"),
    ("The valley is cold, so the hut has a stove", "The hut has a stove because the valley is cold"),
    # the same relation, told of the other
    ("Felix reports to Hannah", "Hannah manages Felix"),
    ("Hannah is Felix's boss", "Hannah is the manager of Felix"),
    ("The gateway receives the traces", "The traces are sent to the gateway"),
    ("The team replaced Ant with Gradle", "The team moved from Ant to Gradle"),
    ("Sphinx is what renders the handbook", "The handbook is rendered with Sphinx"),
    ("The safe is where the keys are kept", "The keys are kept in the safe"),
    ("Only nurses may open the cabinet", "The cabinet can only be opened by nurses"),
    ("Requests that lack a header are dropped", "Requests without a header are dropped"),
    ("The user asked for shorter titles", "The user wants titles to be shorter"),
    ("The organ needs tuning", "The organ must be tuned"),
    ("The team releases every Friday", "Releases happen every Friday"),
    ("The scanner does not read torn labels", "The scanner does not read labels that are torn"),
    ("The image is built from the file deploy/Image", "The image is built from deploy/Image"),
    ("The office is open Mon-Fri", "The office is open Monday to Friday"),
]

APART = [
    ("The delay is 1500 ms", "The delay is 15 seconds"),
    ("The lock expires after half an hour", "The lock expires after an hour"),
    ("The plan costs $12 a month", "The plan costs $12 a year"),
    ("The invoice is over 1500 euros", "The invoice is under 1500 euros"),
    ("The fund holds $2M", "The fund holds $2k"),
    ("The parser needs Python >= 3.11", "The parser needs Python <= 3.11"),
    ("The rack runs at 25°C", "The rack runs at 25°F"),
    ("The import begins at ten in the morning", "The import begins at ten in the evening"),
    ("The job has one retry", "The job has retries"),
    ("The job has one retry", "The job has two retries"),
    ("The runner can cancel jobs", "The runner cannot cancel jobs"),
    ("Noor is the owner of the ledger", "Noor was the owner of the ledger"),
    ("The board made the decision to expand", "The board revoked the decision to expand"),
    ("The team rolled back the release", "The team rolls back the release"),
    ("The service is being migrated", "The service has been migrated"),
    ("Strict mode is on", "Strict mode is off"),
    ("Squares are rectangles", "Rectangles are squares"),
    ("Alice is Bob's manager", "Bob is Alice's manager"),
    ("Backups of the ledger are made every night", "Backups of the ledger are deleted every night"),
    ("Bob's manager is Alice's manager", "Bob's manager is Alice"),
    ("The plan of the manager is the goal of the team", "The goal of the manager is the plan of the team"),
    ("Noor and Felix trained Hannah", "Noor and Hannah trained Felix"),
    ("Bob likes red apples and pears", "Bob likes red pears and apples"),
    ("Anna and Bob's sister live in Rome", "Bob and Anna's sister live in Rome"),
    ("If the cache is cold, the build is slow", "If the build is slow, the cache is cold"),
    ("Before the import, the backup runs", "Before the backup, the import runs"),
    ("Users in Lyon report to teams", "Users report to teams in Lyon"),
    ("A push to main triggers the build", "A build of main triggers the push"),
    ("Only admins can delete projects", "Admins can only delete projects"),
    ("We notify users", "Users notify us"),
    ("Users are notified by admins", "Admins are notified by users"),
    ("The team keeps its secrets in Vault", "Omar keeps his secrets in Vault"),
    ("The worker quickly reads and slowly writes", "The worker slowly reads and quickly writes"),
    ("Logs from Alice go to Bob", "Logs from Bob go to Alice"),
    ("The server of the client is the client of the server", "The client of the server is the server of the client"),
    ("Users are notified", "Users notify"),
    ("Lena wants to be told about outages", "Lena wants to tell about outages"),
    ("Mia was hired in May", "Mia hired in May"),
    ("Bob was moved to Berlin", "Bob moved to Berlin"),
    ("Users in Lyon are led by teams", "Users are led by teams in Lyon"),
    ("The road of Anna is near the house", "The road is near the house of Anna"),
    ("Copy data from the staging server", "Copy staging data from the server"),
    ("Send logs to the server at night", "Send server logs at night"),
    ("The team replaced Ant with Gradle", "The team replaced Gradle with Ant"),
    ("The team replaced Ant with Gradle", "The team moved from Gradle to Ant"),
    ("Hannah is Felix's boss", "Felix is Hannah's boss"),
    ("Hannah manages Felix", "Hannah reports to Felix"),
    ("The queue is full, so the job runs", "The queue is full because the job runs"),
    ("The release takes a week", "The release happens in a week"),
    ("Requests that have a header are dropped", "Requests that lack a header are dropped"),
    ("Only nurses may open the cabinet", "Nurses may only open the cabinet"),
    ("The user asked for tests", "The user asked about tests"),
    ("The office is open Mon-Fri", "The office is open Mon and Fri"),
    ("Sam takes the bus", "Sam has the bus"),
    ("They own the plans", "They use the plans"),
]


def compared(one: str, other: str) -> Comparison:
    return compare(Statement(one).reading, Statement(other).reading, english())


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_wordings_of_one_fact_are_let_through_either_way(one: str, other: str) -> None:
    assert compared(one, other) == Comparison()
    assert compared(other, one) == Comparison()


@pytest.mark.parametrize(("one", "other"), APART)
def test_a_wording_that_only_looks_alike_is_objected_to_either_way(one: str, other: str) -> None:
    assert compared(one, other).objection
    assert compared(other, one).objection


@pytest.mark.parametrize(("one", "other"), SAME + APART)
def test_it_does_not_matter_which_comes_first(one: str, other: str) -> None:
    here, there = compared(one, other), compared(other, one)

    assert (here.objection is None) == (there.objection is None)
    assert (here.only_left, here.only_right) == (there.only_right, there.only_left)


def test_no_word_stands_for_two_meanings() -> None:
    meanings = {(stems, key) for stems, key in english().same.items()}

    assert len(dict(meanings)) == len(meanings)


def test_what_is_opposite_is_never_taken_for_the_same() -> None:
    lexicon = english()
    keys = {pair: {lexicon.same.get(word, word) for word in pair} for pair in lexicon.values.opposites}

    assert [set(pair) for pair, found in keys.items() if len(found) == 1] == []
