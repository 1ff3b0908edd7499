"""URIs in texts keep what a reader needs, and lose their secrets."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ticdc_producer.errors import ChangefeedError, RegistryError, StorageError
from ticdc_producer.masking import masked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kafka://h:1/t?protocol=avro", "kafka://h:1/t?protocol=avro"),
        ("mysql://ann:p@h:3306/shop?ssl_key=k&charset=utf8", "mysql://ann:***@h:3306/shop?ssl_key=***&charset=utf8"),
        ("https://token@h/x", "https://***@h/x"),
        ("mysql://ann@h/x", "mysql://ann@h/x"),
        ("kafka://ann%3Ap@h:1/t", "kafka://***@h:1/t"),
        ("DIALECT://USER:PASSWORD@HOST:PORT/DATABASE", "DIALECT://USER:PASSWORD@HOST:PORT/DATABASE"),
        ("kafka://h:1/t?schema-registry=http://ann:p@h&a=b", "kafka://h:1/t?schema-registry=http://ann:***@h&a=b"),
        ("s3://b/p?access-key=a&secret-access-key=s&region=r", "s3://b/p?access-key=***&secret-access-key=***&region=r"),
        ("topic 't&sasl-password=p' is bad", "topic 't&sasl-password=***' is bad"),
        ("WHERE key=1 AND mail='ann@h'", "WHERE key=1 AND mail='ann@h'"),
        ("?sasl-mechanism=plain&primary-key-encoding=x", "?sasl-mechanism=plain&primary-key-encoding=x"),
        ("sasl-password=", "sasl-password="),
        ("s3:/ann:p@b/p", "s3:/ann:***@b/p"),
        ("https:/token@h/x", "https:/***@h/x"),
        ("s3://ann%3Ap%40b/p", "s3://***%40b/p"),
        ("'ann:p@h:1' is no URL", "'ann:***@h:1' is no URL"),
        ("http://ann:a://b@h:1/x", "http://ann:***@h:1/x"),
        ("s3:/ann:a:/b@c/p", "s3:/ann:***@c/p"),
        ("mysql://ann:a?b=c://d@e@h/x", "mysql://ann:***@h/x"),
        ("mysql://ann:12/a://b@h/x", "mysql://ann:***@h/x"),
        ("mysql://ann:12?a://b@h/x", "mysql://ann:***@h/x"),
        ("mysql://ann:12,b:/c@h/x", "mysql://ann:***@h/x"),
        ("mysql://ann:3306/t?a=b://c@h/x", "mysql://ann:***@h/x"),
        ("s3:/ann:1/a:/b@c/p", "s3:/ann:***@c/p"),
        ("kafka://a:1,b:2/t?x=1&schema-registry=http://ann:1/p@h", "kafka://a:1,b:2/t?x=1&schema-registry=http://ann:***@h"),
        ("kafka://h:1/t?schema-registry=http://ann:1://p@h", "kafka://h:1/t?schema-registry=http://ann:***@h"),
        ("at shop/0@12: ann@h, 1:2", "at shop/0@12: ann@h, 1:2"),
    ],
)  # fmt: skip
def test_secrets_are_masked_and_nothing_else(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("part", ["a", "a1", "?", "a://b", "a:/b", ":a", "?a=", ":/%4"])
def test_a_hostile_text_costs_no_more_than_its_length(part: str) -> None:
    """Minutes if each part was searched up to the end."""
    text = part * 200_000 + "=@"
    assert len(masked(text)) == len(text)


@pytest.mark.parametrize("part", ["://:1?a=", "&uri=://:1?uri=", "://:1,b:1", "://:1/a?b=&"])
def test_many_ports_cost_no_more_than_their_length(part: str) -> None:
    assert masked(part * 100_000 + "=@").endswith("***@")


def test_parameters_of_uris_in_uris_are_read_to_a_limit() -> None:
    text = "?a=" * 20_000 + "%25" + "25" * 20_000 + "@"
    assert masked(text).startswith("?a=")
    assert masked("kafka://h?a=x%3A%2F%2Fann%3As3cret%40h") == "kafka://h?a=x%3A%2F%2Fann%3A%2A%2A%2A%40h"


@pytest.mark.parametrize("digits", ["1/", "12?", "123,", "12345/t?a=", "1"])
@given(st.text(st.characters(exclude_categories=["Z", "C"], exclude_characters="'\"@=&"), min_size=1))
def test_a_password_may_begin_like_a_port(digits: str, password: str) -> None:
    uri = f"mysql://ann:{digits}{password}s3cret@h/x"
    assert masked(f"cannot reach {uri} now") == "cannot reach mysql://ann:***@h/x now"


@given(st.text(st.characters(exclude_categories=["Z", "C"], exclude_characters="'\"@"), min_size=1))
@example("a/b?c#d:e&f;g=h:/i")
@example("://b:1/c?d=://")
def test_a_password_may_have_any_character(password: str) -> None:
    uri = f"mysql://ann:s3cret{password}s3cret@h/x"
    assert masked(f"cannot reach {uri} now") == "cannot reach mysql://ann:***@h/x now"


def test_fields_of_errors_are_masked() -> None:
    uri = "http://ann:s3cret@h/x"
    for error in (
        RegistryError(f"{uri} fails", address=uri, hint=uri),
        StorageError(uri, location=uri),
        ChangefeedError(uri, parameter="schema-registry", where=uri, hint=uri),
    ):
        assert "s3cret" not in f"{error} {error!r} {error.args} {vars(error)}"


@pytest.mark.parametrize("slashes", ["//", "/"])
def test_a_long_word_takes_little_time(slashes: str) -> None:
    """A search that tries each division of the word would take hours."""
    text = f":{slashes}{'a' * 200_000} @"
    assert masked(text) == text
