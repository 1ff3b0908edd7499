"""Legal traps stay legal together: no pair of them, nor all at once, is an error to the verifier."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import EXHAUSTIVE
from tests.faults.legal_together import (
    ALONE,
    Outcome,
    almost_all,
    legal_traps,
    outcome,
    outcome_of_topic,
    pairs,
)
from ticdc_producer.kafka.embedded import EmbeddedKafka

ALMOST_ALL = tuple(
    name
    for name in legal_traps("open-protocol")
    if name not in ("idle-partition", "handle-key-only", "claim-check")
)
FAST = [
    ("open-protocol", "classic", "", ("regrouped-batches", "batch-boundaries")),
    ("open-protocol", "classic", "ts", ("regrouped-batches",)),
    ("open-protocol", "classic", "columns, columns: [id]", ("regrouped-batches", "raw-key-update")),
    ("open-protocol", "classic", "", ALMOST_ALL),
    ("canal-json", "new", "", ("duplicate-message", "replay-partial")),
    ("debezium", "new", "", ("replay-one-table", "raw-key-update")),
    ("avro", "classic", "", ("duplicate-message", "replay-suffix")),
    ("craft", "classic", "", ("duplicate-event", "replay-suffix")),
    ("maxwell", "classic", "", ("regrouped-batches", "batch-boundaries", "duplicate-event")),
    ("canal", "classic", "", ("regrouped-batches", "batch-boundaries", "replay-suffix")),
]
FAST_TOPICS = [
    ("open-protocol", "classic", "", ALMOST_ALL),
    ("canal-json", "new", "", ("claim-check", "duplicate-ddl")),
    ("simple", "classic", "", ("duplicate-ddl", "duplicate-message")),
]
MATRIX = [
    ("open-protocol", "classic", ""), ("open-protocol", "new", ""), ("open-protocol", "classic", "ts"),
    ("open-protocol", "new", "table"), ("open-protocol", "classic", "columns, columns: [id]"),
    ("craft", "classic", ""), ("canal-json", "classic", ""), ("canal-json", "new", ""),
    ("debezium", "new", ""), ("debezium", "classic", ""), ("simple", "classic", ""), ("simple", "new", "ts"),
    ("avro", "classic", ""), ("avro", "new", ""),
]  # fmt: skip


def printed(outcome: Outcome) -> str:
    return f"{' + '.join(outcome.traps):60} {' '.join(outcome.errors) or '-'}"


@pytest.mark.parametrize(("protocol", "profile", "rule", "traps"), FAST)
def test_legal_traps_together_are_no_error(
    protocol: str, profile: str, rule: str, traps: tuple[str, ...], tmp_path: Path
) -> None:
    observed = outcome(protocol, traps, tmp_path, profile, rule)
    assert {*traps} == observed.occurred
    assert not observed.errors


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "profile", "rule"), MATRIX)
def test_every_pair_of_legal_traps_is_no_error(
    protocol: str, profile: str, rule: str, tmp_path: Path
) -> None:
    outcomes = [outcome(protocol, traps, tmp_path, profile, rule) for traps in pairs(protocol, profile)]
    print("\n".join(map(printed, outcomes)))
    assert not [(pair.traps, pair.errors) for pair in outcomes if pair.errors]
    never = {*legal_traps(protocol, profile)} - {trap for pair in outcomes for trap in pair.occurred}
    assert not never


@pytest.mark.parametrize(("protocol", "profile", "rule", "traps"), FAST_TOPICS)
def test_legal_traps_together_are_no_error_in_a_topic(
    kafka: EmbeddedKafka, protocol: str, profile: str, rule: str, traps: tuple[str, ...], tmp_path: Path
) -> None:
    observed = outcome_of_topic(
        kafka.bootstrap, f"together-{protocol}", protocol, traps, tmp_path, profile, rule
    )
    assert {*traps} == observed.occurred
    assert not observed.errors


def of_topic(number: int) -> list[tuple[str, ...]]:
    """The traps of the runs into topics for a line of the matrix."""
    having: dict[tuple[str, ...], list[int]] = {}
    for line, (protocol, profile, _) in enumerate(MATRIX):
        for traps in pairs(protocol, profile):
            having.setdefault(traps, []).append(line)
    own = {almost_all(*MATRIX[number][:2]), *((name,) for name in ALONE)}
    return [
        traps
        for index, (traps, lines) in enumerate(having.items())
        if number in (lines if EXHAUSTIVE or traps in own else lines[index % len(lines) :][:1])
    ]


def test_topics_have_every_pair() -> None:
    every = {traps for protocol, profile, _ in MATRIX for traps in pairs(protocol, profile)}
    assert {traps for number in range(len(MATRIX)) for traps in of_topic(number)} == every


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(MATRIX)), ids=lambda number: "-".join(MATRIX[number]))
def test_every_pair_of_legal_traps_is_no_error_in_a_topic(
    kafka: EmbeddedKafka, number: int, tmp_path: Path
) -> None:
    """Each pair is in a topic of one line of the matrix, and in each line each trap occurs.

    Without Kafka each pair is in each line; a topic differs by how its messages are sent and read, which is
    the same for all traps.
    """
    protocol, profile, rule = MATRIX[number]
    outcomes = [
        outcome_of_topic(kafka.bootstrap, f"pairs-{number}-{run}", protocol, traps, tmp_path, profile, rule)
        for run, traps in enumerate(of_topic(number))
    ]
    print("\n".join(map(printed, outcomes)))
    assert not [(pair.traps, pair.errors) for pair in outcomes if pair.errors]
    never = {*legal_traps(protocol, profile)} - {trap for pair in outcomes for trap in pair.occurred}
    assert not never
