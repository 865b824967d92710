"""Whether the list of mutants still fits the code: `make mutations` runs it, which takes minutes."""

from pathlib import Path

import pytest
from chaos.mutations import ROOT, Edit, Mutant, mutants, promises


def mutant(*, old: str = "a", test: str = "test_it.py::test_it") -> Mutant:
    edit = Edit(file="code.py", old=old, new="b")
    return Mutant(name="it", breaks=("G1",), edits=(edit,), tests=(test,))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A file of code in which "a" stands once, and a test."""
    (tmp_path / "code.py").write_text("a, c, c")
    (tmp_path / "test_it.py").write_text("def test_it() -> None: ...")
    return tmp_path


def test_every_mutant_finds_its_text_once_and_its_tests() -> None:
    assert [misfit for each in mutants() for misfit in each.misfits(ROOT)] == []


def test_every_mutant_has_a_name_of_its_own() -> None:
    assert len({each.name for each in mutants()}) == len(mutants())


def test_every_promise_is_broken_by_a_mutant() -> None:
    assert {promise for each in mutants() for promise in each.breaks} == set(promises())


def test_a_mutant_that_fits_has_nothing_to_complain_of(root: Path) -> None:
    assert list(mutant().misfits(root)) == []
    assert list(mutant(test="test_it.py::test_it[server]").misfits(root)) == []


@pytest.mark.parametrize(
    ("misfit", "said"),
    [
        (mutant(old="z"), "it: its text stands 0 times in code.py"),
        (mutant(old="c"), "it: its text stands 2 times in code.py"),
        (mutant(test="test_it.py::test_that"), "it: there is no test_it.py::test_that"),
        (mutant(test="test_gone.py::test_it"), "it: there is no test_gone.py::test_it"),
    ],
)
def test_a_mutant_that_does_not_fit_is_named(misfit: Mutant, said: str, root: Path) -> None:
    assert list(misfit.misfits(root)) == [said]
