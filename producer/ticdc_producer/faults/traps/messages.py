"""Traps of encoded messages: a legal retry, and bytes that TiCDC never writes."""

from __future__ import annotations

from collections.abc import Sequence

from ticdc_producer.faults.message_traps import (
    IllegalMessageTrap,
    MessageFaultInput,
    RepeatTrap,
    Replacement,
    corrupted,
    foreign,
    joined,
    truncated,
    with_wrong_checksum,
)
from ticdc_producer.model.event import Message
from ticdc_producer.model.trap_coverage import seen_as

_OF_LOST_EVENTS = (
    "EXPECTED-EVENTS",
    "INV-DDL-BROADCAST",
    "INV-RESOLVED-BROADCAST",
    "INV-ROW-STATE",
    "INV-OLD-IMAGE",
    "INV-DDL-BARRIER-AFTER",
)
"""The invariants that a reader may report because it misses the events of a damaged message."""


class DuplicateMessage(RepeatTrap):
    id = "duplicate-message"
    summary = "A whole message is delivered twice in a row, as after a retry of the Kafka producer."
    consumer_action = "Applies each row event once, or applies events idempotently."
    kafka_consumer = "Survives it."
    distances = 3
    coverage = seen_as("event", "repeated and index = 0")


class LostMessage(IllegalMessageTrap):
    id = "lost-message"
    summary = "One message never arrives."
    violates = ("EXPECTED-EVENTS",)
    may_report = (
        "INV-ROW-STATE",
        "INV-OLD-IMAGE",
        "INV-RESOLVED-BROADCAST",
        "INV-DDL-BROADCAST",
        "INV-DDL-BARRIER-AFTER",
    )
    consumer_action = (
        "Cannot detect it alone, unless an old image or an absent row reveals it; compares with the source."
    )

    def replacement(self, *_: object) -> Replacement:
        return 1, []


class CorruptBytes(IllegalMessageTrap):
    id = "corrupt-bytes"
    summary = "Bytes inside a message are overwritten."
    violates = ("INV-FRAME",)
    may_report = _OF_LOST_EVENTS
    consumer_action = "Reports topic, partition and offset, and loses none of the neighbouring messages."

    def replacement(self, messages: Sequence[Message], facts: MessageFaultInput) -> Replacement | None:
        damaged = corrupted(messages[0], facts.decode, facts.seed)
        return None if damaged is None else (1, [(damaged, 0)])


class WrongChecksum(IllegalMessageTrap):
    id = "wrong-checksum"
    summary = "The checksum in the message of a row is not that of its columns."
    protocols = ("avro", "simple")
    violates = ("INV-CHECKSUM",)
    may_report = _OF_LOST_EVENTS
    requires = "rows with checksums: integrity-check-level=correctness, and a message that is not compressed"
    needs_tables = True
    consumer_action = "Computes the checksum of each row, and reports topic, partition and offset of the row."

    def replacement(self, messages: Sequence[Message], facts: MessageFaultInput) -> Replacement | None:
        wrong = with_wrong_checksum(messages[0], facts.decode)
        return None if wrong is None else (1, [(wrong, 0)])


class Truncated(IllegalMessageTrap):
    id = "truncated"
    summary = "A message ends in the middle."
    violates = ("INV-FRAME",)
    may_report = _OF_LOST_EVENTS
    consumer_action = "Reports topic, partition and offset, and loses none of the neighbouring messages."

    def replacement(self, messages: Sequence[Message], facts: MessageFaultInput) -> Replacement | None:
        damaged = truncated(messages[0], facts.decode, facts.seed)
        return None if damaged is None else (1, [(damaged, 0)])


class Poison(IllegalMessageTrap):
    id = "poison"
    summary = "A message that TiCDC never writes appears between valid ones."
    issues = ("apache/flink#26172",)
    violates = ("INV-FRAME",)
    may_report = ("EXPECTED-EVENTS",)
    consumer_action = (
        "Moves it to a dead-letter store with its offset and continues; the neighbouring messages are not "
        "lost."
    )
    keeps_events = True

    def replacement(self, messages: Sequence[Message], *_: object) -> Replacement:
        return 1, [(foreign(messages[0]), 0), (messages[0], 0)]


class MixedKinds(IllegalMessageTrap):
    id = "mixed-kinds"
    summary = "One message holds rows and a DDL or resolved event."
    # In the others a message says once of which kind it is (Craft, Maxwell), or its events are in no batch.
    protocols = ("open-protocol",)
    violates = ("INV-BATCH-KIND",)
    may_report = ("INV-BATCH-SIZE", "EXPECTED-EVENTS")
    requires = "a row message directly followed by a DDL or resolved message"
    consumer_action = "Handles each event of a message according to its kind, and reports the message."
    keeps_events = True

    def replacement(self, messages: Sequence[Message], *_: object) -> Replacement | None:
        if len(messages) < 2 or messages[1].type == messages[0].type:
            return None
        return 2, [(joined(messages[0], messages[1]), 0)]


class Oversized(IllegalMessageTrap):
    id = "oversized"
    summary = "One message holds more events than max-batch-size."
    # Messages of Maxwell and Canal would need 2049 rows; those of Craft share a dictionary.
    protocols = ("open-protocol",)
    issues = ("pingcap/tiflow#4201", "pingcap/tiflow#1079")
    violates = ("INV-BATCH-SIZE",)
    may_report = ("INV-BATCH-KEY",)
    requires = "max-batch-size + 1 consecutive rows of one partition"
    consumer_action = "Reads all events of a message regardless of their number; TiCDC's own consumer stops."
    keeps_events = True

    def replacement(self, messages: Sequence[Message], facts: MessageFaultInput) -> Replacement | None:
        whole = messages[0]
        for used, other in enumerate(messages[1:], start=2):
            if other.type != whole.type:
                return None
            whole = joined(whole, other)
            if whole.events > facts.max_batch_size:
                return used, [(whole, 0)]
        return None
