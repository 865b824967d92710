"""Small words change places, and the sense is another; beside it, what may well be put in another way."""

import pytest

from nous.learning.guard.compare import Comparison, compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

APART = [
    # how many, and how often
    ("Rooms need at most 5 desks and at least 3 lamps", "Rooms need at least 5 desks and at most 3 lamps"),
    ("Rooms need 5 desks at most and 3 lamps at least", "Rooms need 5 desks at least and 3 lamps at most"),
    ("The fee is over 90 for firms and under 20 for pupils", "The fee is under 90 for firms and over 20 for pupils"),
    ("The fee is over 90 for firms and under 20 for pupils", "The fee is over 90 for pupils and under 20 for firms"),
    ("Files over 5 GB and under 9 days are kept", "Files under 5 GB and over 9 days are kept"),
    ("The buffer holds at least 8 rows for up to 40 s", "The buffer holds up to 8 rows for at least 40 s"),
    ("Exactly 4 cooks and about 9 waiters work here", "About 4 cooks and exactly 9 waiters work here"),
    ("All nurses can open some doors", "Some nurses can open all doors"),
    ("Every pilot must read some manuals", "Some pilots must read every manual"),
    ("Most readers buy few books", "Few readers buy most books"),
    ("Both nurses and some doctors smoke", "Some nurses and both doctors smoke"),
    ("Half the pupils and most teachers left", "Most pupils and half the teachers left"),
    ("Kim always cooks and sometimes bakes", "Kim sometimes cooks and always bakes"),
    ("If the oven fails, Kim usually bakes at home", "If the oven usually fails, Kim bakes at home"),
    ("Noor repairs the bike that often breaks", "Noor often repairs the bike that breaks"),
    ("Letters that are opened always burn", "Letters that are always opened burn"),
    ("The lift does not always stop", "The lift always does not stop"),
    ("The roof is still not sealed", "The roof is not still sealed"),
    ("Kim usually cooks and rarely bakes", "Kim rarely cooks and usually bakes"),
    ("The shop is open all day", "The shop is open every day"),
    ("The quota of each team is 40", "The quota of all teams is 40"),
    ("Few guests complain", "A few guests complain"),
    ("Few guests complain", "Several guests complain"),
    ("All nurses can open doors", "Nurses can open all doors"),
    ("Jobs use at most 4 cores and 8 GB", "Jobs use 4 cores and at most 8 GB"),
    ("At most 3 of 5 lamps are on", "3 of at most 5 lamps are on"),
    # what must, may and will be
    ("Nurses must sign and doctors read", "Nurses sign and doctors must read"),
    ("Nurses must sign reports and doctors may sign reports", "Nurses may sign reports and doctors must sign reports"),
    ("Apps must start on Linux and should start on Windows", "Apps should start on Linux and must start on Windows"),
    ("The roof might be replaced", "The roof can be replaced"),
    ("Pupils could leave early", "Pupils can leave early"),
    # and, or; is, was
    ("The vault needs a key and a code or a card", "The vault needs a key or a code and a card"),
    ("The fee is 40 and was 60", "The fee was 40 and is 60"),
    ("The capital is Bonn and was Berlin", "The capital was Bonn and is Berlin"),
    ("The shop is in Rome and was in Oslo", "The shop was in Rome and is in Oslo"),
    ("Noor is the coach and Felix was the coach", "Noor was the coach and Felix is the coach"),
    # not
    ("Noor does not smoke and Felix smokes", "Noor smokes and Felix does not smoke"),
    ("Jobs do not use Redis and tests use Redis", "Jobs use Redis and tests do not use Redis"),
    ("The door does not send mail to Kim, it sends text", "The door sends mail to Kim, it does not send text"),
    ("The sofa barely fits", "The sofa does not fit"),
    ("Trains run except on Sundays", "Trains run not on Sundays"),
    ("Guests vote unless admins vote", "Guests vote, not admins vote"),
    # who does it to whom
    ("He coaches her", "She coaches him"),
    ("He is coached by her", "He coaches her"),
    ("We rent them the hall", "They rent us the hall"),
    ("We rent the hall", "They rent us the hall"),
    ("We admire them", "They admire us"),
    ("I sign their letters", "They sign my letters"),
    ("You keep my keys", "I keep your keys"),
    ("Our guide knows their road", "Their guide knows our road"),
    ("My key opens his door", "His key opens my door"),
    ("He paints the walls and she paints the walls", "She paints the walls and he paints the walls"),
    ("He and she share his desk", "He and she share her desk"),
    ("Call me if she falls", "Call her if I fall"),
    ("They pay if we lose", "We pay if they lose"),
    ("We clean the hall on Mondays", "They clean the hall on Mondays"),
    ("Mine is bigger than yours", "Yours is bigger than mine"),
    ("This extends that", "That extends this"),
    ("These tools extend those", "Those tools extend these"),
    ("Noor checks letters", "We check the letters of Noor"),
    ("Noor must check letters", "We must check letters of Noor"),
    ("The robot clears tables", "Tables are cleared for the robot"),
    ("The robot takes parcels", "Parcels are taken from the robot"),
    # other small words
    ("Each flat has its own kitchen", "Each flat has the same kitchen"),
    ("Both flats use the same kitchen", "Both flats use a kitchen"),
    ("Keep a torch in case the light fails", "Keep a torch if the light fails"),
    ("Answer within 5 minutes", "Answer in 5 minutes"),
    ("The key can be used to sign", "The key formerly signs"),
    ("The key is not used to sign", "The key once used to sign"),
]

SAME = [
    ("All nurses can open some doors", "Some doors can be opened by all nurses"),
    ("Every pilot must read some manuals", "Some manuals must be read by every pilot"),
    ("Every day Kim usually cooks", "Kim usually cooks every day"),
    ("The lift always runs on this track", "The lift runs always on this track"),
    ("Kim may edit most pages", "Most pages can be edited by Kim"),
    ("Python 3.11 or newer and at most 4 workers are needed", "Python >= 3.11 and at most 4 workers are needed"),
    ("All jobs are logged", "Each job is logged"),
    ("All backups run at 02:00", "Every backup runs at 02:00"),
    ("The key may be copied", "The key can be copied"),
    ("The sofa barely fits", "The sofa hardly fits"),
    ("She coaches him", "He is coached by her"),
    ("If she falls, call me", "Call me if she falls"),
    ("We keep our keys in a safe", "Our keys are kept in a safe"),
    ("We keep our keys in a safe", "Keys are kept in a safe"),
    ("You must sign your letters", "Letters must be signed"),
    ("We test our services before they ship", "Our services are tested before they ship"),
    ("The guest likes his tea with milk", "The guest likes tea with milk"),
    ("In June the coach is Noor", "Noor is the coach in June"),
    ("Each flat has its own kitchen", "Each flat has a kitchen"),
    ("The letter box of Noor is full", "Noor's letter box is full"),
    ("Roofs must be checked by pilots", "Pilots must check roofs"),
]


def compared(one: str, other: str) -> Comparison:
    return compare(Statement(one).reading, Statement(other).reading, english())


@pytest.mark.parametrize(("one", "other"), APART)
def test_small_words_that_change_places_change_the_sense_for_certain(one: str, other: str) -> None:
    for found in (compared(one, other), compared(other, one)):
        assert found.objection
        assert not found.is_open


@pytest.mark.parametrize(("one", "other"), SAME)
def test_small_words_before_the_same_words_say_the_same(one: str, other: str) -> None:
    assert compared(one, other) == Comparison()
    assert compared(other, one) == Comparison()
