"""Whether the list of mutants still fits the code: `make mutations` runs it, which takes minutes."""

from chaos.mutations import ROOT, mutants, promises


def test_every_mutant_finds_its_text_once_and_its_tests() -> None:
    assert [misfit for each in mutants() for misfit in each.misfits(ROOT)] == []


def test_every_mutant_has_a_name_of_its_own() -> None:
    assert len({each.name for each in mutants()}) == len(mutants())


def test_every_promise_is_broken_by_a_mutant() -> None:
    assert {promise for each in mutants() for promise in each.breaks} == set(promises())
