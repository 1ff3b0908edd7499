"""What a verifier does not find of a changed topic is documented in docs/verifying.md, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from tests.conftest import EXHAUSTIVE
from tests.verifier.wire.campaign import Mutant, Results, mutants, stream_mutants, tried
from tests.verifier.wire.storage import FILE_PROTOCOLS, storage_folder
from tests.verifier.wire.topic import PROTOCOLS, Row, Wire, wire_topic
from ticdc_producer.protocols.registry import wire_digests

SEED = 20210
MEANINGLESS = frozenset({"in another order", "with an escape"})
"""Changes of JSON without a meaning: the order of members, and other spellings of a text."""
OTHER_FORM = frozenset({"removed", "renamed", "added twin", "null", "other type", "text"})
"""Changes that are found also in a member whose values are not compared."""
SEEN_TWICE = frozenset({"twice", "again at the end", "also in another partition"})
"""Repetitions, which at-least-once delivery allows."""
TWINS = frozenset({"events[]", "value.events[]", "value[]"})
"""The events of a message, and the lines of a row in CSV, which at-least-once delivery may repeat."""
FAST = frozenset({"open-protocol", "canal-json", "simple"})
"""Protocols with and without resolved events, and with and without eventless messages."""
OF_PACKETS = frozenset(("added twin", f"value.head.{name}") for name in ("version", "type"))
"""A field of Canal's packet that comes twice: the last one counts."""
MAPS = frozenset({"value.data.*[]", "value.old.*[]"})
"""The columns of a row in Simple's Avro encoding, in random order."""


def documented(wire: Wire, protocol: str, mutant: Mutant) -> bool:
    """Whether the page says that the verifier does not find a change."""
    path, change = mutant.path.removeprefix("events[]").removeprefix("."), mutant.change
    if change == "added twin" and mutant.path in TWINS:
        return True
    if wire.job.changefeed.protocol == "csv":
        return False
    digests = wire_digests(wire.job.changefeed.protocol, wire.job.options)
    assert digests is not None
    path = path.replace(".message.payload.value", "")
    if path in digests.not_compared:
        return change not in OTHER_FORM
    if protocol == "simple in Avro" and path in MAPS:
        return change == "swapped"
    if protocol == "canal" and (change == "in more bytes" or (change, path) in OF_PACKETS):
        return True  # Protocol Buffers allow it
    return change in MEANINGLESS


def documented_in_stream(wire: Wire, mutant: Mutant) -> bool:
    """Whether a lost, repeated or moved message is no violation."""
    same = _events_and_others(wire, mutant.messages) == _events_and_others(wire, wire.messages)
    return same or mutant.change in SEEN_TWICE


def _events_and_others(wire: Wire, messages: Sequence[Row]) -> tuple[list[Row], set[int]]:
    """Return the messages with events in their order, and the others, which are compared once per topic."""
    delivered, digests = (
        wire.delivered(messages),
        wire_digests(wire.job.changefeed.protocol, wire.job.options),
    )
    assert digests is not None
    others = digests.eventless([row["key"] for row in delivered], [row["value"] for row in delivered])
    eventless = {index for index, _ in others}
    events = [{**row, "offset": 0} for index, row in enumerate(delivered) if index not in eventless]
    return events, {digest for _, digest in others}


def unexpected(wire: Wire, protocol: str, results: Results) -> list[str]:
    return [str(mutant) for mutant in results.survivors if not documented(wire, protocol, mutant)]


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
        drawn = islice(mutants(topic, SEED, sites=1, changes=1), None, None, 8)
        assert unexpected(topic, protocol, tried(topic, drawn)) == []


TOPICS = [
    (protocol, scenario)
    for protocol in PROTOCOLS
    for scenario in ("seed_t1", "all-traps")
    if (protocol, scenario) != ("maxwell", "all-traps")  # TiCDC cannot send it: its encoder panics
]


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "scenario"), TOPICS)
def test_every_change_of_every_path_that_is_not_found_is_documented(protocol: str, scenario: str) -> None:
    """Every path of both scenarios with every change of ``seed_t1``, and one of ``all-traps``."""
    changes = None if EXHAUSTIVE or scenario == "seed_t1" else 1
    with wire_topic(scenario, protocol) as topic:
        assert topic.verdict(topic.messages).ok
        results = tried(topic, mutants(topic, SEED, sites=1, changes=changes))
    print(f"| {protocol} | {scenario} | {results} |")
    assert unexpected(topic, protocol, results) == []


@pytest.mark.parametrize("protocol", FILE_PROTOCOLS)
def test_changes_of_files_that_are_not_found_are_documented(protocol: str, tmp_path: Path) -> None:
    folder = storage_folder("seed_t1", protocol, tmp_path)
    assert folder.verdict(folder.messages).ok
    drawn = islice(mutants(folder, SEED, sites=1, changes=1), None, None, 2)
    assert unexpected(folder, protocol, tried(folder, drawn)) == []


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["seed_t1", "all-types"])
@pytest.mark.parametrize("protocol", FILE_PROTOCOLS)
def test_every_change_of_files_that_is_not_found_is_documented(
    protocol: str, scenario: str, tmp_path: Path
) -> None:
    folder = storage_folder(scenario, protocol, tmp_path)
    assert folder.verdict(folder.messages).ok
    results = tried(folder, mutants(folder, SEED, sites=1))
    print(f"| {protocol} in files | {scenario} | {results} |")
    assert unexpected(folder, protocol, results) == []


@pytest.mark.parametrize("protocol", FILE_PROTOCOLS)
def test_rows_of_files_that_are_lost_or_moved_are_found(protocol: str, tmp_path: Path) -> None:
    folder = storage_folder("seed_t1", protocol, tmp_path)
    survivors = tried(folder, stream_mutants(folder, SEED, sites=1)).survivors
    assert [str(mutant) for mutant in survivors if not documented_in_stream(folder, mutant)] == []


@pytest.mark.parametrize("sites", [1, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "protocol", [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in PROTOCOLS]
)
def test_messages_that_are_lost_or_moved_are_found(protocol: str, sites: int) -> None:
    with wire_topic("seed_t1", protocol) as topic:
        survivors = tried(topic, stream_mutants(topic, SEED, sites)).survivors
        assert [str(mutant) for mutant in survivors if not documented_in_stream(topic, mutant)] == []
