"""How that looks by which people are known to a service."""

from collections.abc import Callable, Sequence

import pytest

from nous.summary.looks import addresses_in, full_names_in, phone_numbers_in, user_ids_in

LENGTH = 200_000
Find = Callable[[str], Sequence[str]]


@pytest.mark.parametrize("find", [addresses_in, user_ids_in, phone_numbers_in, full_names_in])
@pytest.mark.parametrize("piece", ["a", ".", "-", "a.", "a_", "a_b_", "1", "1 ", "a@", "@", "a@b.", "It's Aa", "Aa "])
def test_in_a_run_of_characters_without_an_end_nothing_is_found(find: Find, piece: str) -> None:
    assert find(piece * (LENGTH // len(piece))) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ann.lee+x@mail.x.example.", ["ann.lee+x@mail.x.example"]),
        ("<ann@x.example>, bob@y.example; ann@x.example", ["ann@x.example", "bob@y.example"]),
        (f"{'a' * 65}@x.example", []),
        ("ann@localhost", []),
    ],
)
def test_each_address_is_found_once_and_as_a_whole(text: str, found: list[str]) -> None:
    assert addresses_in(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It's +1 (555) 010-0199.", ["+1 (555) 010-0199"]),
        ("555 010 0199", ["555 010 0199"]),
        ("1990-05-25", []),
        ("order #5550100199", []),
        ("room 12", []),
        ("4111 1111 1111 1111", []),
    ],
)
def test_a_phone_number_is_neither_a_date_nor_a_card_nor_an_order(text: str, found: list[str]) -> None:
    assert phone_numbers_in(text) == found
