"""What a verifier does not find of a changed topic is documented in docs/verifying.md, and nothing else."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.verifier.wire.campaign import Mutant, Results, mutants, stream_mutants, tried
from tests.verifier.wire.topic import PROTOCOLS, WireTopic, wire_topic
from ticdc_producer.protocols.registry import wire_digests

SEED = 20210
MEANINGLESS = frozenset({"in another order", "with an escape"})
"""Changes of JSON without a meaning: the order of members, and other spellings of a text."""
OTHER_FORM = frozenset({"removed", "renamed", "added twin", "null", "other type", "text"})
"""Changes that are found also in a member whose values are not compared."""
SEEN_TWICE = frozenset({"twice", "again at the end", "also in another partition"})
"""Repetitions, which at-least-once delivery allows."""
ELSEWHERE = frozenset({
    "lost", "swapped with the next", "last", "first", "in another partition",
})  # fmt: skip
"""Changes of a message without events, if another partition has the same: it is compared once per topic."""
MAPS = frozenset({"value.data.*[]", "value.old.*[]"})
"""The columns of a row in Simple's Avro encoding, in random order."""


def documented(topic: WireTopic, protocol: str, mutant: Mutant) -> bool:
    """Whether the page says that the verifier does not find a change."""
    path, change = mutant.path.removeprefix("events[]").removeprefix("."), mutant.change
    if change == "added twin" and mutant.path in ("events[]", "value.events[]"):
        return True
    digests = wire_digests(protocol.split(" ")[0], topic.oracle.job.options)
    assert digests is not None
    path = path.replace(".message.payload.value", "")
    if path in digests.not_compared:
        return change not in OTHER_FORM
    if protocol == "simple in Avro" and path in MAPS:
        return change == "swapped"
    return change in MEANINGLESS


def documented_in_stream(mutant: Mutant) -> bool:
    """Whether a lost, repeated or moved message is no violation."""
    return mutant.change in SEEN_TWICE or (mutant.path == "bootstrap" and mutant.change in ELSEWHERE)


def unexpected(topic: WireTopic, protocol: str, results: Results) -> list[str]:
    return [str(mutant) for mutant in results.survivors if not documented(topic, protocol, mutant)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_message_can_be_written_again(protocol: str) -> None:
    with wire_topic("all-traps", protocol) as topic:
        for message in topic.messages:
            key, value = message["key"], message["value"]
            assert topic.form.written(topic.form.parsed(key, value)) == (key, value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_changes_that_are_not_found_are_documented(protocol: str) -> None:
    with wire_topic("seed_t1", protocol) as topic:
        assert topic.verdict(topic.messages).ok
        drawn = islice(mutants(topic, SEED, sites=1, changes=1), None, None, 4)
        assert unexpected(topic, protocol, tried(topic, drawn)) == []


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["seed_t1", "all-traps"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_change_of_every_path_that_is_not_found_is_documented(protocol: str, scenario: str) -> None:
    with wire_topic(scenario, protocol) as topic:
        assert topic.verdict(topic.messages).ok
        results = tried(topic, mutants(topic, SEED, sites=1))
    survivors = len(results.survivors)
    print(f"| {protocol} | {scenario} | {results.tried.total()} | {results.found} | {survivors} |")
    assert unexpected(topic, protocol, results) == []


@pytest.mark.parametrize("sites", [1, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_messages_that_are_lost_or_moved_are_found(protocol: str, sites: int) -> None:
    with wire_topic("seed_t1", protocol) as topic:
        survivors = tried(topic, stream_mutants(topic, SEED, sites)).survivors
        assert [str(one) for one in survivors if not documented_in_stream(one)] == []
