"""Which secrets the rules find, and what they leave alone."""

import re

import pytest
from builders.secrets import CORPUS, secrets, survives

from nous.redaction.redactor import Redaction, Redactor
from nous.redaction.rules import Rule, RuleSet, built_in, default_rules

NOT_FOUND = {
    "kubernetes-secret-base64",  # base64 alone in a line, below a command
    "powershell-secure-string",  # `net use Z: \\files\share PASSWORD`
    "terraform-variable",  # the name stands in the line before
}
"""Kinds of the corpus that need more context than a line."""

KEPT_IN_VAIN = ("Linux-pip-02d6", "prod/db-Xk29aQ", "XoU3DlVeldJ99o")
"""Innocents that are replaced: a cache key with a hash, the name of a secret, and the x of a public key."""


def test_nearly_every_secret_of_the_corpus_is_replaced() -> None:
    known = secrets()

    missed = {kind for kind, text, secret in known if survives(secret, Redaction(Redactor()).text(text))}

    assert len(known) >= 470
    assert missed <= NOT_FOUND


def test_what_only_looks_like_a_secret_stays() -> None:
    innocent = (CORPUS / "innocent.txt").read_text("utf-8")

    found = [innocent[span.start : span.end] for span in default_rules().find(innocent)]

    assert [text for text in found if not text.startswith(KEPT_IN_VAIN)] == []


@pytest.mark.parametrize("rule", built_in(), ids=lambda rule: f"{rule.id}: {rule.pattern[:20]}")
def test_a_rule_has_a_name_for_placeholders_and_keywords_in_lower_case(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,60}", rule.id)
    assert rule.keywords == tuple(keyword.lower() for keyword in rule.keywords)
    assert rule.compiled.groups >= 0
    assert not rule.keywords or not rule.least


def test_a_rule_of_one_s_own_replaces_its_group() -> None:
    own = RuleSet([Rule(id="own", pattern=r"ticket (ACME-\d+)")])

    assert Redaction(Redactor(rules=lambda: own)).text("see ticket ACME-1234") == "see ticket [secret:own]"


def test_what_is_allowed_is_no_secret() -> None:
    redactor = Redactor(allow=re.compile("hunter[0-9]+"))

    assert Redaction(redactor).text("password=hunter22 password=geheim99") == (
        "password=hunter22 password=[secret:password]"
    )


def test_a_match_that_goes_on_behind_the_searched_stretch_is_found_whole() -> None:
    token = "ops_eyJ" + "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuV" * 100

    assert Redaction(Redactor()).text(f"export X={token} # end") == (
        "export X=[secret:1password-service-account-token] # end"
    )


def test_letters_that_change_their_length_in_lower_case_shift_nothing() -> None:
    assert Redaction(Redactor()).text("İİİ password=hunter22") == "İİİ password=[secret:password]"
