"""One small word, one ending or one sense of a word makes another statement; beside it, what does not."""

import pytest

from nous.learning.guard.compare import Comparison, compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

APART = [
    # a negation ends with its phrase
    ("No, the guests can use the pool", "No guests can use the pool"),
    ("The lift works. Not in the annex", "The lift works not. In annex"),
    ("No, letters get burned at home", "No letter gets burned at home"),
    ("Cook. Always taste the first", "Cook always. Taste first"),
    # past and present, whoever the subject is
    ("I lived in Oslo", "I live in Oslo"),
    ("I moved to Oslo", "I am moving to Oslo"),
    ("We heated the pool with gas", "We heat the pool with gas"),
    ("I never rode a horse", "I never ride a horse"),
    ("It stood on floor 7", "It stands on floor 7"),
    ("This cleaned the pipes", "This cleans the pipes"),
    ("Nobody cooked at home", "Nobody cooks at home"),
    ("Both ate fish", "Both eat fish"),
    ("The lamps that flickered are old", "The lamps that flicker are old"),
    ("If it rang, hide", "If it rings, hide"),
    ("All of us ate fish", "All of us eat fish"),
    ("Who paints the gate is known", "Who painted the gate is known"),
    ("Erik was Judith's boss", "Erik manages Judith"),
    # a preposition is of the verb it stands behind
    ("The limit was lifted by 10 MB", "The limit was lifted to 10 MB"),
    ("Lift the cap by 10%", "Lift the cap to 10%"),
    ("The cover was painted by Kim", "The cover was painted with Kim"),
    ("Fixed fees rose to 5", "Fixed fees rose at 5"),
    ("The set was carried to Rome", "The set was carried at Rome"),
    ("Access was bought from Kim", "Access was bought with Kim"),
    ("Save it as root", "Save it to root"),
    ("I prefer talking to Noor", "I prefer talking over Noor"),
    ("Run it at root", "Run it with root"),
    ("Run the pump with the heater", "Run the pump on the heater"),
    ("Letters are sent with stickers", "Stickers send letters"),
    ("Build with the API", "Build the API"),
    ("Call me in 4 hours", "Call me at 4 hours"),
    # how much, how often, in which case
    ("Bake even if guests stay away", "Bake if guests stay away"),
    ("Just doctors can open the safe", "Doctors can open the safe"),
    ("We sell just bread", "We sell bread"),
    ("The oven is too small for bread", "The oven is small for bread"),
    ("Noor sleeps so much", "Noor sleeps too much"),
    ("The lift is not as slow as before", "The lift is not slow"),
    ("Do not wash plates but cups", "Do not wash plates and cups"),
    ("Noor does not cook rice but fish", "Noor does not cook rice or fish"),
    ("The hall has between 3 and 5 doors", "The hall has 3 and 5 doors"),
    ("Paint once per room", "Paint every room"),
    ("Cook on Tuesday", "Cook on Tuesdays"),
    ("Split up the orchestra", "Break down the orchestra"),
    ("There is little plum jam", "There is a little plum jam"),
    ("Noor speaks little Greek", "Noor speaks a little Greek"),
    ("A number of lamps flickered", "The number of lamps flickered"),
    ("Guests mostly eat fish", "Most guests eat fish"),
    ("Cook as if guests stay", "Cook if guests stay"),
    ("The oven is too hot too", "The oven is hot too"),
    ("Noor sings too loudly", "Noor sings loudly"),
    ("Noor ate too many plums", "Noor ate many plums"),
    # what is put in the place of something, or taken out of a whole
    ("The cook fries no fish, but rice", "The cook fries no fish or rice"),
    ("The API doesn't return XML, but JSON", "The API doesn't return XML or JSON"),
    ("The guest is not in Rome, but in Oslo", "The guest is not in Rome and in Oslo"),
    ("All lamps but Kim's flicker", "All lamps and Kim's flicker"),
    ("Everyone but Kim may cook", "Everyone and Kim may cook"),
    ("Noor eats everything but plums", "Noor eats everything and plums"),
    ("Sell all but the oldest lamps", "Sell all the oldest lamps"),
    ("All but two lamps flicker", "All two lamps flicker"),
    ("None but doctors can cook", "None of the doctors can cook"),
    ("The barn is all but finished", "The barn is all finished"),
    ("All old guests but Kim can sing", "All old guests and Kim can sing"),
    ("Every old guest but Kim sings", "Every old guest and Kim sings"),
    ("Any fish but cod is fine", "Any fish and cod is fine"),
    ("Snow falls everywhere but in Oslo", "Snow falls everywhere and in Oslo"),
    ("Noor sings every month but May", "Noor sings every month and May"),
    ("Take the last but one", "Take the last one"),
    # past without a mark of it
    ("He read the letter every week", "He reads the letter every week"),
    ("It cost 5 euros a month", "It costs 5 euros a month"),
    ("Everyone hit the wall", "Everyone hits the wall"),
    ("The new lamp cost Kim 5 euros", "The new lamp costs Kim 5 euros"),
    ("She spread the news", "She spreads the news"),
    ("Old Kim spread rumours", "Old Kim spreads rumours"),
    ("Tom cast the net", "Tom casts the net"),
    # what is planned
    ("The barn is to be sold", "The barn is sold"),
    ("The barn is not to be sold", "The barn is not sold"),
    ("Noor is not to sing", "Noor does not sing"),
    ("We had to paint the gate", "We had painted the gate"),
    ("Noor was to marry Tom", "Noor married Tom"),
    ("Noor was about to leave", "Noor left"),
    ("The pump is to run at night", "The pump is run at night"),
    # what takes a statement back
    ("Noor reportedly owns the barn", "Noor owns the barn"),
    ("Noor jokingly said that rice is fine", "Noor said that rice is fine"),
    ("The rules are internally documented", "The rules are documented"),
    ("The lift carries 9 guests at best", "The lift carries 9 guests"),
    ("The pool is open where allowed", "The pool is open"),
    ("The pool is open if asked", "The pool is open"),
    # names that are common words
    ("Run yarn start there", "Run yarn begin there"),
    ("Use git stash drop", "Use git stash remove"),
    ("Run 'apt remove' there", "Run 'apt delete' there"),
    ("The tool is called fetch", "The tool is called retrieve"),
    ("The field is named created", "The field is named generated"),
    ("The cat is called Max", "The cat is called maximum"),
    ("The guest's name is Rich", "The guest's name is Wealthy"),
    ("Call the remove method there", "Call the delete method there"),
    ("The script b.sh is short", "The package b.sh is short"),
    # words with two senses
    ("This is a hard fork", "This is a difficult fork"),
    ("The process is stuck", "The handle is stuck"),
    ("We use torch", "We use flashlight"),
    ("Resolve the host", "Fix the host"),
    ("The left pane is wide", "The departed pane is wide"),
    ("Start the watch task", "Start the monitor task"),
    ("Drop the table", "Erase the table"),
    ("Data is in a flat file", "Data is in an apartment file"),
]

SAME = [
    ("I used to live in Oslo", "I formerly lived in Oslo"),
    ("Usually, the pool is open", "Usually the pool is open"),
    ("Even if guests stay away, bake", "Bake even if guests stay away"),
    ("Bake even when guests stay away", "Bake even if guests stay away"),
    ("Water the roses once a week", "Water the roses every week"),
    ("The choir sings on Mondays", "The choir sings every Monday"),
    ("Leave on Tues", "Leave on Tuesday"),
    ("Noor cooks rice, too", "Noor cooks rice"),
    ("The lamp isn't old but it is dim", "The lamp isn't old, but it is dim"),
    ("Do not wash plates but cups", "Do not wash plates, but cups"),
    ("It isn't a lamp but a torch", "It is not a lamp, but a torch"),
    ("All guests sing but Kim sleeps", "All guests sing, but Kim sleeps"),
    ("Every guest sings but Kim sleeps", "Every guest sings, but Kim sleeps"),
    ("The pool takes all guests but is cold", "The pool takes all guests, but is cold"),
    ("Noor cooks every fish but not in May", "Noor cooks every fish, but not in May"),
    ("All guests but Kim sing", "All guests except Kim sing"),
    ("All but Kim sing", "All except Kim sing"),
    ("Noor plays chess too with Kim", "Noor also plays chess with Kim"),
    ("Noor cooks rice too but no fish", "Noor also cooks rice but no fish"),
    ("Guests can cook too if they pay", "Guests can also cook if they pay"),
    ("The delivery method is mail", "The method of delivery is mail"),
    ("The growth function is linear", "The function of growth is linear"),
    ("Drafts are saved as CSV, as agreed", "Drafts are saved in CSV, as agreed"),
    ("As far as I know, guests pay", "Guests pay, as far as I know"),
    ("As though it were warm, Noor sings", "Noor sings as if it were warm"),
    ("The job splits the list", "The list is split by the job"),
    ("The nearest pool is to the left", "The pool to the left is nearest"),
    ("Letters are sent with Mailgun", "Mailgun sends letters"),
    ("The fee is capped at 10 euro", "The fee is limited to 10 euro"),
    ("From old roofs, moss is removed by the robot", "The robot removes moss of old roofs"),
    ("The file b.sh is short", "b.sh is short"),
    ("The task is called asynchronously", "The task is asynchronously called"),
    ("Drafts are in a git repository", "Drafts are in a git repo"),
    ("We use git to store drafts", "We use git to save drafts"),
]


def compared(one: str, other: str) -> Comparison:
    return compare(Statement(one).reading, Statement(other).reading, english())


@pytest.mark.parametrize(("one", "other"), APART)
def test_another_sense_is_another_statement_either_way(one: str, other: str) -> None:
    assert compared(one, other).objection
    assert compared(other, one).objection


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_sense_is_the_same_statement_either_way(one: str, other: str) -> None:
    assert compared(one, other) == Comparison()
    assert compared(other, one) == Comparison()
