"""Words of English that a scan goes by: they build a sentence, and mean nothing by themselves."""

FINITE = {"is": "be", "has": "have", "does": ""}
SWITCHES = {"on": "enabled", "off": "disabled"}
ARTICLES = frozenset({"a", "an", "the"})
DETERMINERS = frozenset({*ARTICLES, "'s", "its", "their", "his", "her", "our", "my", "your", "this", "these"})
RELATIVE = frozenset({"who", "which", "that"})
LONGEST_ABBREVIATION = 3
RENEWING = frozenset({"and", "or", "but", "who", "which", "that", "what"})
"""After one of these there may be another verb."""

FREQUENCIES = frozenset({"always", "usually", "often", "sometimes", "rarely", "still", "again"})
"""How often something is: before its verb, or right behind it."""

AUXILIARIES = {
    "is": "is", "be": "is", "being": "is", "get": "is", "gets": "is", "getting": "is",
    "was": "was", "been": "was", "got": "was", "had": "was", "did": "was",
    "has": "has", "does": "has",
}  # fmt: skip
