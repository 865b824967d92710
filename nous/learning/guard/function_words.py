"""Words of English that a scan goes by: they build a sentence, and mean nothing by themselves."""

FINITE = {"is": "be", "has": "have", "does": ""}
SWITCHES = {"on": "enabled", "off": "disabled"}
ARTICLES = frozenset({"a", "an", "the"})
DETERMINERS = frozenset({*ARTICLES, "'s", "its", "their", "his", "her", "our", "my", "your", "this", "these"})
SHOWING = frozenset({"this", "these"})
RELATIVE = frozenset({"who", "which", "that"})
SUBJECTS = frozenset({*RELATIVE, "i", "you", "he", "she", "it", "we", "they", "us", "them"})
"""After one of these there is a verb, even in `of us` and `if it`."""

NOMINATIVE = frozenset({"he", "she", "it", "we", "they"})
SINGLE = frozenset({"he", "she", "it"})
WHOLE = frozenset({"every", "any"})
WHOLES = frozenset({"everywhere", "anywhere", "last"})
"""What `but` takes something out of: what is counted so, where `all` is `every`, and what is a whole by itself."""

LONGEST_ABBREVIATION = 3
RENEWING = frozenset({"and", "or", "but", "who", "which", "that", "what"})
"""After one of these there may be another verb."""

NAMING = frozenset({"called", "named", "nicknamed"})
NAMED = frozenset({"command", "function", "method"})
INFLECTED = ("s", "ed", "ing")

FREQUENCIES = frozenset({"always", "usually", "often", "sometimes", "rarely", "still", "again"})
"""How often something is: before its verb, or right behind it."""

AUXILIARIES = {
    "is": "is", "be": "is", "being": "is", "get": "is", "gets": "is", "getting": "is",
    "was": "was", "been": "was", "got": "was", "had": "was", "did": "was",
    "has": "has", "does": "has",
}  # fmt: skip
