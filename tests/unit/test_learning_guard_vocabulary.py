"""Units, bounds, spellings and set phrases that say the same; and beside them what is nearest and does not."""

import pytest

from nous.learning.guard.compare import Comparison, compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

SAME = [
    ("The shop serves 50 guests a day", "The shop serves 50 guests per day"),
    ("The hub sends 9 alerts an hour", "The hub sends nine alerts every hour"),
    ("The link runs at 10 Gb/s", "The link runs at 10 Gbps"),
    ("The link runs at 10 Gbit/s", "The link runs at 10 gigabits per second"),
    ("The disk reads 3 GB/s", "The disk reads 3 GB per second"),
    ("The pod may use 512Mi", "The pod may use 512 MiB"),
    ("The plan costs $9/mo", "The plan costs 9 dollars per month"),
    ("The queue takes 500 rps", "The queue takes 500 requests per second"),
    ("The van does 80 km/h", "The van does 80 kph"),
    ("Support replies within an hour", "Support replies in at most an hour"),
    ("Support replies within 60 minutes", "Support replies in one hour or less"),
    ("The load is spread over 3 zones", "The load is distributed across three zones"),
    ("The limiter counts requests for each key", "The limiter counts requests per key"),
    ("The loader drops rows with nulls", "Rows with nulls get dropped by the loader"),
    ("The team dropped Ant in favour of Gradle", "The team moved from Ant to Gradle"),
    ("Pull requests need tests", "PRs need tests"),
    ("Tom intends to move", "Tom plans to move"),
    ("The disk is almost full", "The disk is nearly full"),
    ("Code 2 means a full disk", "Code 2 indicates a full disk"),
    ("Reports are saved as CSV", "Reports are saved in CSV"),
    ("The fix ships ahead of the audit", "The fix ships before the audit"),
    ("The letter is handwritten", "The letter is written by hand"),
    ("Ana is on call", "Ana is on-call"),
    ("The phone uses Wi-Fi only", "The phone uses wifi only"),
    ("Guests aged 18 and over may vote", "Guests aged at least 18 may vote"),
    ("The page loads as soon as possible", "The page loads ASAP"),
    ("Nina at times sings", "Nina sometimes sings"),
    ("Rows get dropped by the loader", "Rows are dropped by the loader"),
]

APART = [
    ("The shop serves 50 guests a day", "The shop serves 50 guests a week"),
    ("The shop serves 50 guests a day", "The shop serves 50 guests"),
    ("The shop serves 50 guests a day", "The shop serves 50 guests in a day or more"),
    ("The hub stopped 3 jobs an hour ago", "The hub stopped 3 jobs per hour"),
    ("Two nodes a day fail", "Two nodes fail for a day"),
    ("Rust is spread over 2 teams a year", "Rust is spread over 2 teams after a year"),
    ("The link runs at 10 Gb/s", "The link runs at 10 GB/s"),
    ("The link runs at 10 Gbps", "The link runs at 10 GB per second"),
    ("The link runs at 10 Gbps", "The link runs at 10 Mbps"),
    ("The pod may use 512 MiB", "The pod may use 512 MB"),
    ("The pod may use 512Mi", "The pod may use 512 MB"),
    ("The plan costs $9/mo", "The plan costs $9/yr"),
    ("The queue takes 500 rps", "The queue takes 500 requests per minute"),
    ("The van does 80 mph", "The van does 80 km/h"),
    ("Support replies within an hour", "Support replies after an hour"),
    ("Support replies within an hour", "Support replies within a day"),
    ("Support replies within an hour", "Support replies in at least an hour"),
    ("Support replies within two hours", "Support replies after two hours"),
    ("The shop is within 3 miles", "The shop is over 3 miles"),
    ("The load is spread over 3 zones", "The load is spread over 4 zones"),
    ("The load is spread over 3 zones", "The load is spread over more than 3 zones"),
    ("The load is spread over 3 zones", "The load is over 3 zones"),
    ("The price is over 3 euros", "The price is under 3 euros"),
    ("Shares over 5 euros are sold", "Shares under 5 euros are sold"),
    ("The limit is 5 GB per user", "The limit is 5 GB for all users"),
    ("The limit is 5 GB per user", "The limit is 5 GB per team"),
    ("The limiter counts users per key", "The limiter counts keys per user"),
    ("The limiter counts requests for each key", "The limiter counts requests for some keys"),
    ("Ana is on call for billing", "Billing calls for Ana"),
    ("Ana is on call for billing", "Ana calls for billing"),
    ("The loader drops rows with nulls", "The loader drops nulls with rows"),
    ("The loader drops rows with nulls", "The loader drops rows without nulls"),
    ("The team dropped Ant in favour of Gradle", "The team dropped Gradle in favour of Ant"),
    ("The team replaced Ant with Gradle", "The team dropped Ant with Gradle"),
    ("VMs run on Linux", "VMs run Linux"),
    ("The PRs need tests", "The PR tests need that"),
    ("The CEOs met", "The CTOs met"),
    ("Tom intends to move", "Tom moved"),
    ("Tom intends to move", "Tom does not intend to move"),
    ("The disk is almost full", "The disk is full"),
    ("The disk is almost full", "The disk is almost empty"),
    ("Code 2 means a full disk", "Code 2 fixes a full disk"),
    ("The mean is 5 ms", "The maximum is 5 ms"),
    ("Reports are saved as CSV", "Reports are saved without CSV"),
    ("Reports are exported to Tom", "Reports are exported from Tom"),
    ("The fix ships ahead of the audit", "The audit ships ahead of the fix"),
    ("The letter is handwritten", "The letter is typed"),
    ("Inbound traffic is blocked", "Outbound traffic is blocked"),
    ("The tool talks about Rust", "The tool stays away from Rust"),
    ("Users 18 and over can vote", "Users under 18 can vote"),
    ("The page opens as soon as possible", "The page opens as late as possible"),
    ("Titles of 9 words or longer are cut", "Titles of 9 words or shorter are cut"),
    ("At times Nina sings", "Nina always sings"),
    ("Nina sings not once", "Nina sings once"),
    ("Tom's first name is Lee", "Tom's last name is Lee"),
    ("The drivers have a license", "The drivers have a licence plate"),
    ("The photo is partially hidden", "The photo is completely hidden"),
    ("The queue drops mail at a minimum of 5", "The queue drops mail at a maximum of 5"),
    ("The limit is 5 GB for each user", "The limit is 5 GB for all users"),
    ("Guests wait within the hall", "Guests wait within an hour"),
    ("The fee is 5 euros per night", "The fee is 5 euros per guest"),
    ("According to Tom the room is full", "According to Ann the room is full"),
    ("The work is split over 3 teams", "The work is merged over 3 teams"),
    ("The cake is shared between 3 kids", "The cake is eaten between 3 kids"),
    ("The bill was divided among four guests", "The bill was divided among forty guests"),
    ("Data is spread over three disks", "Data is spread under three disks"),
    ("Files are saved to PDF", "Files are saved from PDF"),
    ("The APIs are public", "The APIs are private"),
    ("The SLA is met", "The SLO is met"),
    ("Support replies within 2 hours", "Support replied within 2 hours"),
    ("Support replies within 2 hours", "Support replies in less than 2 days"),
    ("The job ends within 5 minutes", "The job ends within 5 hours"),
    ("The job starts within 5 minutes", "The job ends within 5 minutes"),
    ("The hut is within 5 km", "The hut is beyond 5 km"),
    ("The script prints the name", "The script parses the name"),
    ("The team rolled out v2", "The team rolled back v2"),
    ("The house is new", "The hotel is new"),
    ("Usage is rising", "Usage is falling"),
    ("The task was completely done", "The task was partially done"),
    ("The room is 5 mi wide", "The room is 5 MiB wide"),
    ("The cap is 20 Mb", "The cap is 20 MB"),
]


def compared(one: str, other: str) -> Comparison:
    return compare(Statement(one).reading, Statement(other).reading, english())


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_wordings_are_one_either_way(one: str, other: str) -> None:
    assert compared(one, other) == Comparison()
    assert compared(other, one) == Comparison()


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_only_looks_alike_is_objected_to_either_way(one: str, other: str) -> None:
    assert compared(one, other).objection
    assert compared(other, one).objection
