"""The guard, asked about pairs written for it: what looks alike and must stay apart, and what may be merged."""

import pytest

from nous.learning.guard.compare import Comparison, compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

APART = [
    ("The worker retries 3 times with 5 threads", "The worker retries 5 times with 3 threads"),
    ("Lena stopped using Docker", "Lena uses Docker"),
    ("The parser fails to handle nested quotes", "The parser handles nested quotes"),
    ("The parser hardly ever handles nested quotes", "The parser handles nested quotes"),
    ("The team considered moving to Kafka", "The team moved to Kafka"),
    ("The team plans to use Redis", "The team uses Redis"),
    ("Only admins can deploy to production", "Admins can deploy to production"),
    ("All tests call the real API", "Some tests call the real API"),
    ("Anna lives in Berlin and works in Munich", "Anna lives in Munich and works in Berlin"),
    ("Anna lives in Berlin and works with Tim", "Anna works in Berlin and lives with Tim"),
    ("The team used Kubernetes", "The team uses Kubernetes"),
    ("Reports are written by Omar for Anna", "Reports are written for Omar by Anna"),
    ("Tim likes tea but not coffee", "Tim likes coffee but not tea"),
    ("Tests may use the network", "Tests must use the network"),
    ("Users can delete episodes", "Users should delete episodes"),
    ("The queue is polled by the worker", "The worker is polled by the queue"),
    ("Caching is on by default", "Caching is off by default"),
    ("The import runs until midnight", "The import runs until noon"),
    ("The job runs at 3:30 AM", "The job runs at 3:30 PM"),
    ("Deployments happen twice a day", "Deployments happen once a day"),
    ("The limit is at least 10 requests", "The limit is at most 10 requests"),
    ("The API accepts JSON or XML", "The API accepts JSON and XML"),
    ("The build passes because of the cache", "The build passes despite the cache"),
    ("She reviews the code", "He reviews the code"),
    ("The config lives in ~/.nous/config.toml", "The config lives in ~/.config/nous.toml"),
    ("The endpoint is /v1/facts", "The endpoint is /v1/episodes"),
    ("The timeout is 30 seconds", "The timeout is 30 milliseconds"),
    ("Use git merge, not git rebase", "Use git rebase, not git merge"),
    ("Bob is older than Carol", "Carol is older than Bob"),
    ("Postgres is faster than MySQL for writes", "MySQL is faster than Postgres for writes"),
    ("The first migration failed", "The second migration failed"),
    ("The last release broke login", "The next release broke login"),
    ("Emma is married to Paul", "Emma was married to Paul"),
    ("Feature X ships before feature Y", "Feature Y ships before feature X"),
    ("The frontend calls the backend", "The backend calls the frontend"),
    ("Read access is granted to interns", "Write access is granted to interns"),
    ("The temperature is -5 degrees", "The temperature is 5 degrees"),
    ("The test suite covers unhappy paths", "The test suite covers happy paths"),
    ("The client is thread-safe", "The client is not thread-safe"),
    ("Nobody owns the release process", "Everybody owns the release process"),
    ("The meeting moved from Tuesday to Thursday", "The meeting moved from Thursday to Tuesday"),
    ("Data is encrypted in transit", "Data is encrypted at rest"),
    ("The team writes tests before code", "The team writes code before tests"),
    ("Python 3.1 is required", "Python 3.10 is required"),
    ("The store keeps the last 5 versions", "The store keeps the first 5 versions"),
    ("Logs are sent to Datadog through Vector", "Logs are sent to Vector through Datadog"),
    ("Marta teaches Leo", "Leo teaches Marta"),
    ("The service was deployed by Anna", "Anna was deployed by the service"),
    ("Ben always writes tests", "Ben sometimes writes tests"),
    ("Ben writes tests", "Ben always writes tests"),
    ("Priya disagrees with the design", "Priya agrees with the design"),
    ("The flag is deprecated in v2", "The flag is removed in v2"),
    ("The user wants short answers in German", "The user wants short answers in French"),
    ("The index is unique", "The index is not unique"),
    ("The worker can run without Redis", "The worker can run with Redis"),
    ("Paul manages Paula", "Paula manages Paul"),
    ("The release is blocked by the audit", "The audit is blocked by the release"),
    (
        "Retries are enabled in staging and disabled in production",
        "Retries are disabled in staging and enabled in production",
    ),
    ("Backups are stored in S3 and logs in GCS", "Backups are stored in GCS and logs in S3"),
    ("Nina will join in May", "Nina joined in May"),
    ("The project has a product team", "The project has a production team"),
    ("Redis caches sessions", "Sessions cache Redis"),
    ("The user is vegan", "The user is vegetarian"),
    ("The function returns a list of strings", "The function returns a string of lists"),
    ("The retry count went from 3 to 5", "The retry count went from 5 to 3"),
    ("Tom prefers Vim to Emacs", "Tom prefers Emacs to Vim"),
    ("The tests import the module", "The module imports the tests"),
    ("The owner of the repo is the manager of Tim", "The manager of the repo is the owner of Tim"),
    ("The API tests run nightly", "The API runs nightly"),
    ("The staging database is empty", "The database is empty"),
    ("Dave likes his coffee with milk", "Dave likes his milk with coffee"),
    ("Errors are logged to stderr", "Warnings are logged to stderr"),
    ("The cache is shared between processes", "The cache is shared between threads"),
    ("Rita cannot attend the Monday meeting", "Rita can attend the Monday meeting"),
    ("The window closes when the job ends", "The job ends when the window closes"),
    ("Ask before deleting files", "Delete files before asking"),
    ("The deploy needs approval", "The deploy needs no approval"),
    ("The deploy needed approval", "The deploy needs approval"),
    ("The server is idle", "The server isn't idle"),
    ("Sam lent the book to Kim", "Kim lent the book to Sam"),
    ("Sam was given the book by Kim", "Kim was given the book by Sam"),
    ("Tickets are closed automatically", "Tickets are opened automatically"),
    ("Each team owns one service", "One team owns each service"),
    ("The UI supports light mode", "The UI supports dark mode"),
    ("Version 2 supports Windows", "Version 2 supports Linux"),
    ("The user's name is Karin", "The user's name is Karen"),
    ("The contract runs 6 months", "The contract runs 6 weeks"),
]

SAME = [
    ("The nightly job runs at 2 AM", "The nightly job runs at 02:00"),
    ("The team doesn't deploy on Fridays", "The team does not deploy on Fridays"),
    ("The team uses pnpm", "Team uses pnpm."),
    ("Omar maintains the parser", "The parser is maintained by Omar"),
    ("The tests are run by GitHub Actions on every push", "GitHub Actions runs the tests on every push"),
    ("Backups are kept for 14 days", "Backups are kept for fourteen days"),
    ("Use tabs for indentation", "For indentation, use tabs"),
    ("The project's license is MIT", "The license of the project is MIT"),
    ("Errors are written to stderr", "Errors get written to stderr"),
    ("The user prefers short commit messages", "User prefers short commit messages"),
    ("The service has been migrated to Postgres", "The service was migrated to Postgres"),
    ("The release is scheduled for 5 April 2026", "The release is scheduled for April 5, 2026"),
    ("The app's config file is in TOML", "The config file of the application is in TOML"),
    ("The daily standup is at 9:30 AM", "The standup is at 09:30 every day"),
    ("The e-mail service is down", "The email service is down"),
    ("The dev environment runs on port 3000", "The development environment runs on port 3000"),
    ("Lena reviews every PR", "Every PR is reviewed by Lena"),
    ("Kafka is used for event streaming", "For event streaming, Kafka is used"),
    ("The budget is $5,000 per month", "The monthly budget is 5000 dollars"),
    ("The worker is restarted after each deployment", "The worker is restarted after every deployment"),
    ("The user dislikes emojis", "The user does not like emojis"),
    ("The default timeout is 10s", "The default timeout is ten seconds"),
    ("Max upload size is 5 MB", "The maximum upload size is 5MB"),
    ("Anna moved to Porto in 2021", "In 2021 Anna moved to Porto"),
    ("The team prefers Rust over Go", "Team prefers Rust over Go"),
    ("The user is working on a compiler", "The user works on a compiler"),
    ("Caches are invalidated on deploy", "The cache is invalidated on deploy"),
]


def compared(one: str, other: str) -> Comparison:
    return compare(Statement(one).reading, Statement(other).reading, english())


@pytest.mark.parametrize(("one", "other"), APART)
def test_it_objects_to_what_means_something_else(one: str, other: str) -> None:
    assert compared(one, other).objection
    assert compared(other, one).objection


@pytest.mark.parametrize(("one", "other"), SAME)
def test_it_lets_through_what_says_the_same(one: str, other: str) -> None:
    assert compared(one, other) == Comparison()
    assert compared(other, one) == Comparison()


@pytest.mark.parametrize(
    ("poorer", "richer", "more"),
    [
        ("The team uses Postgres", "The team uses Postgres in production", ("production",)),
        ("Omar maintains the parser", "Omar fully maintains the parser", ("fully",)),
    ],
)
def test_a_phrase_of_its_own_is_mere_detail(poorer: str, richer: str, more: tuple[str, ...]) -> None:
    assert compared(poorer, richer) == Comparison(only_right=more)
    assert compared(richer, poorer) == Comparison(only_left=more)


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("Port 8080 is open", "Port 8081 is open", "8080 / 8081"),
        ("Tim likes tea", "Tim does not like tea", "one is negated"),
        ("Alice owns billing", "Today Alicia owns billing", "Alicia"),
        ("Ben often tests", "Ben rarely tests", "often / rarely"),
        ("Alice reports to Bob", "Bob reports to Alice", "another relation"),
    ],
)
def test_the_objection_names_what_differs(one: str, other: str, words: str) -> None:
    assert words in (compared(one, other).objection or "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Das Team nutzt Redis und Kafka", "Redis und Kafka werden vom Team genutzt"),
        ("Команда использует Redis", "Команда пользуется Redis"),
        ("チームはRedisを使う", "チームはRedisを使わない"),
    ],
)
def test_what_is_not_english_is_not_judged_by_english_rules(one: str, other: str) -> None:
    assert "language" in (compared(one, other).objection or "")
