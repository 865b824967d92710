"""Conflicts, asked about pairs written for them: what the newer corrects, and what may well hold beside the other."""

import pytest

from nous.learning.guard.compare import compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

CONFLICTS = [
    ("The request timeout is 30 seconds", "The request timeout is 45 seconds", "30 seconds / 45 seconds"),
    ("The upload limit is set to 25 MB", "The upload limit is 40MB", "25 MB / 40 MB"),
    ("The worker pool has 4 threads", "The worker pool has eight threads", "4 / eight"),
    ("The admin API listens on port 9000", "The admin API listens on port 9443", "9000 / 9443"),
    ("The cluster runs on version 1.28", "The cluster runs on version 1.29", "1.28 / 1.29"),
    ("Backups are kept for 14 days", "Backups are kept for 30 days", "14 days / 30 days"),
    ("Trial accounts expire after 2 weeks", "Trial accounts expire after 10 days", "2 weeks / 10 days"),
    ("Passwords must have at least 8 characters", "Passwords must have at least 12 characters", "8 / 12"),
    ("The audit is due on May 5", "The audit is due on June 2", "May 5 / June 2"),
    ("The planning meeting is on Monday", "The planning meeting is on Thursday", "Monday / Thursday"),
    ("The office opens at 8 AM", "The office opens at 9 AM", "8 AM / 9 AM"),
    ("The lease ends on 2027-01-31", "The lease ends on 2028-01-31", "2027-01-31 / 2028-01-31"),
    ("Seat price: $12", "Seat price: $15", "$12 / $15"),
    ("The export tool supports CSV", "The export tool does not support CSV", "supports / not support"),
    ("Guests can invite other guests", "Guests can't invite other guests", "invite / not invite"),
    ("The build cache is shared", "The build cache is no longer shared", "shared / not shared"),
    ("Draft pages are visible to guests", "Draft pages aren't visible to guests", "visible / not visible"),
    ("Two-factor login is enabled", "Two-factor login is disabled", "enabled / disabled"),
    ("Debug logging is on by default", "Debug logging is off by default", "on / off"),
    ("The signup form is mandatory for guests", "The signup form is optional for guests", "mandatory / optional"),
    ("The beta account is active", "The beta account is inactive", "active / inactive"),
    ("The user prefers light mode", "The user prefers dark mode", "light / dark"),
    ("The user prefers tabs", "The user prefers spaces", "tabs / spaces"),
    ("The user prefers pytest for unit tests", "The user prefers unittest for unit tests", "pytest / unittest"),
    ("The default branch is main", "The default branch is trunk", "main / trunk"),
    ("Billing is owned by Alice", "Billing is owned by Bob", "Alice / Bob"),
    ("The user's favourite editor is Vim", "The user's favourite editor is Helix", "Vim / Helix"),
    ("Noor lives in Porto", "Noor lives in Braga", "Porto / Braga"),
    ("Felix reports to Hannah", "Felix reports to Ines", "Hannah / Ines"),
    ("The wiki is hosted on GitHub", "The wiki is hosted on GitLab", "GitHub / GitLab"),
    ("Events are handled sequentially by the hub", "Events are handled concurrently by the hub", "sequentially"),
]

BESIDE = [
    ("service-3 retries 6 times", "service-4 retries 7 times"),
    ("service-3 retries 6 times", "service-4 retries 6 times"),
    ("Node 1 has 4 cores", "Node 2 has 4 cores"),
    ("Phase 2 ends in May", "Phase 3 ends in May"),
    ("Deployed v1.2 on May 5", "Deployed v1.2 on May 12"),
    ("The team deployed v1.2 on May 5", "The team deployed v1.2 on May 12"),
    ("The team has deployed version 1.2", "The team has deployed version 1.3"),
    ("The import took 5 minutes", "The import took 7 minutes"),
    ("The outage was caused by a full disk of 20 GB", "The outage was caused by a full disk of 40 GB"),
    ("The team set the limit to 5 GB", "The team set the limit to 7 GB"),
    ("Anna was born in 1987", "Anna was born in 1978"),
    ("Alice owns billing", "Bob owns billing"),
    ("Alice owns billing", "Alice owns search"),
    ("Is the timeout 30 seconds?", "Is the timeout 40 seconds?"),
    ("The launch is blocked by ticket 412", "The launch is blocked by ticket 421"),
    ("The launch is blocked by #412", "The launch is blocked by #421"),
    ("The blocking issue is #412", "The blocking issue is #421"),
    ("The config is in /etc/a.toml", "The config is in /etc/b.toml"),
    ("The current commit is 3f2a91c", "The current commit is 77b01de"),
    ("Tim works on phase 2", "Tim works on phase 3"),
    ("A node has 4 cores", "A node has 8 cores"),
    ("It takes 5 minutes", "It takes 7 minutes"),
    ("Users with admin rights can delete episodes", "Users without admin rights can delete episodes"),
    ("Some tests need the network", "Some tests do not need the network"),
    ("Tests that use the network run first", "Tests that do not use the network run first"),
    ("The user is tall", "The user is vegan"),
    ("The database is slow", "The database is big"),
    ("The default branch is main", "The default branch is protected"),
    ("The database is Postgres", "The database is slow"),
    ("The library supports Python 3.11", "The library supports Python 3.12"),
    ("The user likes tea", "The user likes coffee"),
    ("Noor belongs to Rotary", "Noor belongs to Greenpeace"),
    ("The user prefers pytest", "The user prefers ruff"),
    ("The team uses Redis", "The team uses Kafka"),
    ("Secrets are stored in the dev environment", "Secrets are stored in the prod environment"),
    ("The extractor uses the OpenAI API", "The extractor uses the Anthropic API"),
    ("The team meets every Monday", "The team meets every Tuesday"),
    ("Sara reviews code on Mondays", "Sara reviews code on Fridays"),
    ("The retro takes place every Monday", "The retro takes place every Tuesday"),
    ("The API returns 404 for missing pages", "The API returns 410 for missing pages"),
    ("The light theme is the default", "The dark theme is the default"),
    ("Enabled plugins are listed first", "Disabled plugins are listed first"),
    ("The UI supports light mode", "The UI supports dark mode"),
    ("Throughput is 500 requests with 4 workers", "Throughput is 900 requests with 8 workers"),
    ("The discount is 10% for orders over 50 dollars", "The discount is 10% for orders over 80 dollars"),
    ("If the queue is full, the limit is 5 GB", "If the queue is full, the limit is 7 GB"),
    ("Alice reports to Bob", "Bob reports to Alice"),
    ("The user prefers tabs over spaces", "The user prefers spaces over tabs"),
    ("Set the timeout to 30 seconds", "Set the timeout to 60 seconds"),
    ("Nina will join in May", "Nina will join in June"),
    ("Das Limit ist nicht 5 GB", "Das Limit ist nicht 6 GB"),
    ("The cache is in Redis for sessions", "The cache is in Redis for tokens"),
    ("Release v2.3.0 fixes the leak", "Release v2.3.1 fixes the leak"),
    ("The staging API is slow on Linux", "The staging API is slow on Windows"),
    ("The server has 2 disks of 4 TB", "The server has 2 disks of 8 TB"),
    ("The guard opens the gate", "The guard closes the gate"),
    ("The panel shows with F2", "The panel hides with F2"),
    ("The valve is opened by the pump", "The valve is closed by the pump"),
    ("The rule includes guests", "The rule excludes guests"),
    ("Audits begin at 08:00", "Audits begin at 15:00"),
    ("The museum is closed on Tuesday", "The museum is closed on Sunday"),
    ("The supported database is Postgres", "The supported database is MySQL"),
    ("The available shell is Fish", "The available shell is Zsh"),
    ("The novel is written by Noor", "The novel is written by Felix"),
    ("The parser is written in Zig", "The parser is written in Ada"),
    ("The lock might expire after 5 minutes", "The lock might expire after 9 minutes"),
]


def conflict(one: str, other: str) -> str | None:
    return compare(Statement(one).reading, Statement(other).reading, english()).conflict


@pytest.mark.parametrize(("one", "other", "values"), CONFLICTS)
def test_another_value_of_the_same_thing_is_a_conflict(one: str, other: str, values: str) -> None:
    assert values in (conflict(one, other) or "")


@pytest.mark.parametrize(("one", "other"), [(one, other) for one, other, _ in CONFLICTS])
def test_a_conflict_is_one_from_both_sides(one: str, other: str) -> None:
    here, there = (found or "" for found in (conflict(one, other), conflict(other, one)))

    assert here.removeprefix("value ").split(" / ") == there.removeprefix("value ").split(" / ")[::-1]


@pytest.mark.parametrize(("one", "other"), BESIDE)
def test_what_may_hold_beside_the_other_is_no_conflict(one: str, other: str) -> None:
    assert conflict(one, other) is None
    assert conflict(other, one) is None


@pytest.mark.parametrize("text", ["The timeout is 30 seconds", "Billing is owned by Alice", "Debug mode is off"])
def test_what_says_the_same_is_no_conflict(text: str) -> None:
    assert conflict(text, text) is None
