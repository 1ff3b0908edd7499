"""Hints that name the nearest name."""

from __future__ import annotations

import pytest

from ticdc_producer.hints import MAX_LISTED, nearest

MANY = [f"word-{number:03}" for number in range(100)]


@pytest.mark.parametrize(
    ("name", "allowed", "hint"),
    [
        ("canl-json", ["canal-json", "craft"], "did you mean 'canal-json'?"),
        ("CANAL-JSON", ["canal-json", "craft"], "did you mean 'canal-json'?"),
        ("hexx", ["HEX", "MID"], "did you mean 'HEX'?"),
        ("xyz", ["b", "a"], "allowed: a, b"),
        ("xyz", [], ""),
    ],
)
def test_the_nearest_word_or_all_of_them(name: str, allowed: list[str], hint: str) -> None:
    assert nearest(name, allowed) == hint


def test_many_words_do_not_hide_the_sentence() -> None:
    assert nearest("xyz", MANY, listed="traps list") == "traps list prints the 100 allowed ones"
    hint_text = nearest("xyz", MANY)
    assert hint_text.endswith(f", and {100 - MAX_LISTED} more")
    assert hint_text.count("word-") == MAX_LISTED
