"""The topics of the apply level, without Spark: stable ids, valid scenarios, traps that can be injected."""

from __future__ import annotations

import re

import pytest

from ticdc_producer.conformance.case_spec import PROTOCOLS, ApplyCaseSpec, apply_case_specs, decode_cases
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare

_ID = re.compile(
    rf"(required|recommended)\.({'|'.join(PROTOCOLS)})\.apply\.[a-z0-9_-]+(\.[a-z0-9]+(-[a-z0-9]+)*)?"
)
CASES = {one.id: one for one in apply_case_specs()}


def prepared(one: ApplyCaseSpec) -> Job:
    topic_spec = one.topic_spec
    return prepare(
        topic_spec.scenario,
        sink_uri=one.sink_uri,
        overrides=topic_spec.overrides,
        inject=topic_spec.inject,
        state_at=one.moments,
    )


def test_ids_are_unique_well_formed_and_distinct_from_the_decode_level() -> None:
    ids = [one.id for one in apply_case_specs()]
    assert len(set(ids)) == len(ids)
    assert [one for one in ids if _ID.fullmatch(one) is None] == []
    assert not set(ids) & {one.id for one in decode_cases()}


def test_every_protocol_has_the_traps_that_break_consumers() -> None:
    required = {
        "duplicate-message", "replay-suffix", "resolved-fallback", "duplicate-ddl",
        "key-update-across-partitions", "raw-key-update", "changed-dispatch-column", "several-topics",
    }  # fmt: skip
    for protocol in PROTOCOLS:
        expected = {
            "avro": {"duplicate-message", "several-topics"},  # its messages lack what the others need
            "canal": required - {"resolved-fallback"},  # it has no resolved events
            "maxwell": set(),  # its rows do not name their key
        }
        assert expected.get(protocol, required) <= {
            one.name.partition(".")[2] for one in apply_case_specs() if one.protocol == protocol
        }


def test_a_trap_is_legal_and_its_case_has_its_name() -> None:
    traps = catalogue()
    for one in apply_case_specs():
        for setting in one.topic_spec.inject:
            trap = setting.partition(":")[0]
            assert traps[trap].legal
            assert one.name.endswith(f".{trap}")


@pytest.mark.parametrize("one", CASES.values(), ids=list(CASES))
def test_every_topic_has_commits_and_the_requested_tables(one: ApplyCaseSpec) -> None:
    job = prepared(one)
    tables = {table.qualified_name for table in job.stream.replicated}
    assert set(one.topic_spec.tables) <= tables
    assert (job.faults is None) == (not one.topic_spec.inject)
    if one.topic_spec.resolved_ts is not None:
        clock = job.stream.resolved.clock
        assert clock.ts(0) < one.topic_spec.resolved_ts < clock.ts(job.history.commits - 1)
        assert one.topic_spec.resolved_ts in one.moments
