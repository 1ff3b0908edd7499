"""The topics of the apply level, without Spark: stable ids, valid scenarios, traps that can be injected."""

from __future__ import annotations

import re

import pytest

from tests.tiers import one_in
from ticdc_producer.conformance.case_spec import PROTOCOLS, ApplyCaseSpec, apply_case_specs, decode_cases
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare

_ID = re.compile(
    rf"(required|recommended)\.({'|'.join(PROTOCOLS)})\.apply\.[a-z0-9_-]+(\.[a-z0-9]+(-[a-z0-9]+)*)?"
)
CASES = {spec.id: spec for spec in apply_case_specs()}


def prepared(spec: ApplyCaseSpec) -> Job:
    topic_spec = spec.topic_spec
    return prepare(
        topic_spec.scenario,
        sink_uri=spec.sink_uri,
        overrides=topic_spec.overrides,
        inject=topic_spec.inject,
        state_at=spec.moments,
    )


def test_ids_are_unique_well_formed_and_distinct_from_the_decode_level() -> None:
    ids = [spec.id for spec in apply_case_specs()]
    assert len(set(ids)) == len(ids)
    assert [name for name in ids if _ID.fullmatch(name) is None] == []
    assert not set(ids) & {spec.id for spec in decode_cases()}


def test_every_protocol_has_the_traps_that_break_consumers() -> None:
    required = {
        "duplicate-message", "replay-suffix", "resolved-fallback", "duplicate-ddl",
        "key-update-across-partitions", "raw-key-update", "changed-dispatch-column", "several-topics",
    }  # fmt: skip
    for protocol in PROTOCOLS:
        expected = {
            "avro": {"duplicate-message", "several-topics"},  # its messages lack what the others need
            "canal": required - {"resolved-fallback"},  # it has no resolved events
            # of all-traps, whose tables without keys it refuses
            "debezium-avro": required
            - {"replay-suffix", "resolved-fallback", "key-update-across-partitions"},
            "maxwell": set(),  # its rows do not name their key
        }
        assert expected.get(protocol, required) <= {
            spec.name.partition(".")[2] for spec in apply_case_specs() if spec.protocol == protocol
        }


def test_a_trap_is_legal_and_its_case_has_its_name() -> None:
    traps = catalogue()
    for spec in apply_case_specs():
        for setting in spec.topic_spec.inject:
            trap = setting.partition(":")[0]
            assert traps[trap].legal
            assert spec.name.endswith(f".{trap}")


@pytest.mark.parametrize("spec", one_in(4, ([spec] for spec in CASES.values())), ids=list(CASES))
def test_every_topic_has_commits_and_the_requested_tables(spec: ApplyCaseSpec) -> None:
    job = prepared(spec)
    tables = {table.qualified_name for table in job.stream.replicated}
    assert set(spec.topic_spec.tables) <= tables
    assert (job.faults is None) == (not spec.topic_spec.inject)
    if spec.topic_spec.resolved_ts is not None:
        clock = job.stream.resolved.clock
        assert clock.ts(0) < spec.topic_spec.resolved_ts < clock.ts(job.history.commits - 1)
        assert spec.topic_spec.resolved_ts in spec.moments
