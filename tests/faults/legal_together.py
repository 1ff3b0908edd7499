"""Legal traps together: a history with all of them, and its verdict, without Kafka or from a topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from ticdc_producer import api
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.oracle.scenario import ScenarioOracle, expected_messages
from ticdc_producer.runs.verification import verify_messages
from ticdc_producer.simulate.encode import reencoded_events
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulate
from ticdc_producer.targets.record_batches import claim_objects
from ticdc_producer.verifier.match import ExpectedStream
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.verdict import Verdict

TOGETHER = Path(__file__).with_name("together.yaml")
_WATERMARKS = {"avro": "&avro-enable-watermark=true"}
"""Options without which a protocol has no resolved events."""
_REGISTRIES = {"avro": "&schema-registry=mock://together"}
"""The schema registry of topics; without Kafka none is required."""
ALONE = ("idle-partition", "handle-key-only")
"""A table's rows all go to one partition, and a row's keys alone are sent instead of a claim."""
_RATES = {
    "duplicate-event": "rate=0.3",
    "duplicate-message": "rate=0.3",
    "batch-boundaries": "rate=0.5",
    "regrouped-batches": "rate=1",
}
"""Settings under which a trap occurs often; the others occur once, or at every DDL."""


def legal_traps(protocol: str, profile: str = "classic") -> list[str]:
    """The legal traps that a run can have, in the order of the catalogue."""
    return [
        trap.id
        for trap in catalogue().values()
        if trap.legal
        and trap.mechanism != "scenario"
        and protocol in trap.protocols
        and profile in trap.profiles
    ]


def pairs(protocol: str, profile: str = "classic") -> Iterator[tuple[str, ...]]:
    """Each pair of legal traps, each trap alone, and the most that can occur together."""
    names = legal_traps(protocol, profile)
    yield from combinations(names, 2)
    yield from ((name,) for name in names)
    yield almost_all(protocol, profile)


def almost_all(protocol: str, profile: str = "classic") -> tuple[str, ...]:
    """Return the most legal traps that can occur together: all but those that occur without some other."""
    return tuple(name for name in legal_traps(protocol, profile) if name not in ALONE)


@dataclass(frozen=True)
class Outcome:
    """What the verifier says of a stream with some traps.

    :param occurred: the traps that are in the stream.
    """

    traps: tuple[str, ...]
    occurred: frozenset[str]
    verdict: Verdict

    @property
    def errors(self) -> list[str]:
        """Findings of severity error, with their counts, and differences from the scenario."""
        findings = [f"{finding.id} {finding.count}" for finding in self.verdict.of_severity("error")]
        return findings if self.verdict.ok or findings else ["comparison"]


def outcome(
    protocol: str, traps: Iterable[str], claims: Path, profile: str = "classic", rule: str = ""
) -> Outcome:
    """Simulate a changefeed with some traps, and verify what it sends.

    :param claims: folder for the objects of claim-check.
    :param rule: partition rule of the dispatchers, with its columns; empty: that of the scenario.
    """
    traps = tuple(traps)
    job = prepare(**run_arguments(protocol, traps, claims, profile, rule))
    with simulate(job, LocalEngine()) as simulation:
        sent = simulation.encoded
        for claim in claim_objects(sent.messages.batches()):
            (claims / claim.name).parent.mkdir(parents=True, exist_ok=True)
            (claims / claim.name).write_bytes(claim.content)
        expected = ExpectedStream(
            reencoded_events(job, simulation.events), wire=expected_messages(job, simulation.events)
        )
        verified = verify_messages(
            simulation.engine,
            job.changefeed,
            Messages(sent.messages.select(*MESSAGES.names)),
            ScenarioOracle(
                job,
                simulation.engine,
                simulation.log,
                expected,
                sent.rejected_tables,
            ),
            claims=str(claims) if "claim-check" in traps else "",
        )
        occurred = {count["trap"] for count in sent.fault_summary.counts if count["places"]}
        return Outcome(traps, frozenset(occurred), verified.verdict)


def outcome_of_topic(
    brokers: str,
    topic: str,
    protocol: str,
    traps: Iterable[str],
    claims: Path,
    profile: str = "classic",
    rule: str = "",
) -> Outcome:
    """Run a changefeed with some traps into a topic; the run reads the topic again and verifies it.

    :param brokers: ``HOST:PORT``.
    :param topic: a new one.
    :param claims: as for ``outcome``, as is ``rule``.
    """
    traps = tuple(traps)
    arguments = run_arguments(protocol, traps, claims, profile, rule, f"{brokers}/{topic}")
    arguments["sink_uri"] += _REGISTRIES.get(protocol, "")
    report = api.run(**arguments)
    assert report.verdict is not None
    occurred = frozenset(fault["trap"] for fault in report.faults.counts if fault["places"])
    return Outcome(traps, occurred, report.verdict)


def run_arguments(
    protocol: str,
    traps: Sequence[str],
    claims: Path,
    profile: str = "classic",
    rule: str = "",
    topic: str = "/together",
) -> dict[str, Any]:
    """Return the arguments of a run.

    :param topic: with its brokers.
    """
    size = "&max-message-bytes=700" if {"claim-check", "handle-key-only"} & {*traps} else ""
    storage = "sink.kafka-config.large-message-handle.claim-check-storage-uri"
    overrides = [f"changefeed.{storage}=file://{claims}"] if "claim-check" in traps else []
    if rule:
        overrides.append(f"changefeed.sink.dispatchers=[{{matcher: ['*.*'], partition: {rule}}}]")
    return {
        "scenario": TOGETHER,
        "sink_uri": f"kafka://{topic}?protocol={protocol}&partition-num=3&profile={profile}"
        f"&enable-tidb-extension=true&output-ddl=true{_WATERMARKS.get(protocol, '')}{size}",
        "overrides": overrides,
        "inject": [f"{name}:{_RATES[name]}" if name in _RATES else name for name in traps],
    }
