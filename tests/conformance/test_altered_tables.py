"""Cases of tables that a DDL altered: a consumer that parses DDLs has their rows, others have not."""

from __future__ import annotations

from base64 import b64encode

import msgspec
import pytest

from tests.conformance.fuzz.follows_ddl import follow_ddls
from tests.conformance.own_consumer import Consumer
from ticdc_producer.conformance.case_spec import PROTOCOLS, ApplyCaseSpec, apply_case_specs
from ticdc_producer.conformance.compare import ExpectedRows, table_differences
from ticdc_producer.conformance.wire import ApplyRequest, KafkaRecord
from ticdc_producer.runs.topic_cache import consumer_state_of_sql
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic

ALTERED = [spec for spec in apply_case_specs() if spec.topic_spec.follows_ddl]
CHANGES_CONTENT = ("added-column", "dropped-column", "renamed-column", "renamed-table")


def request_and_rows(spec: ApplyCaseSpec) -> tuple[ApplyRequest, list[ExpectedRows], Job]:
    job = prepare(spec.topic_spec.scenario, sink_uri=spec.sink_uri, overrides=spec.topic_spec.overrides)
    tables = msgspec.convert(consumer_state_of_sql(job, follows_ddl=True), list[ExpectedRows])
    messages = [
        KafkaRecord(
            topic=topic,
            partition=partition,
            offset=offset,
            key=None if message.key is None else b64encode(message.key).decode(),
            value=None if message.value is None else b64encode(message.value).decode(),
        )
        for (topic, partition), sent in simulated_topic(job).partitions.items()
        for offset, message in enumerate(sent)
    ]
    request = ApplyRequest(
        case=spec.id,
        level="apply",
        protocol=spec.protocol,
        options=dict(spec.options),
        messages=messages,
        tables=[table.name for table in tables],
        schemas={str(number): schema for number, schema in job.known_schemas.items()} or msgspec.UNSET,
        follows_ddl=True,
    )
    return request, tables, job


def test_every_protocol_has_them() -> None:
    for protocol in PROTOCOLS:
        names = {spec.name for spec in ALTERED if spec.protocol == protocol}
        # Avro sends no DDLs that say what they changed, and rows of Maxwell do not name their key.
        assert len(names) == (0 if protocol in ("avro", "maxwell") else 6)
    assert all(spec.id.startswith("recommended.") for spec in ALTERED)


@pytest.mark.parametrize("spec", ALTERED, ids=lambda spec: spec.id)
def test_a_consumer_that_parses_ddls_has_the_rows(spec: ApplyCaseSpec) -> None:
    request, tables, job = request_and_rows(spec)
    assert tables
    assert set(request.tables) > {
        table["schema"] + "." + table["table"] for table in consumer_state_of_sql(job)
    }
    assert table_differences(tables, follow_ddls(request).tables or {}) == []
    if spec.name.partition(".")[2] in CHANGES_CONTENT:
        assert table_differences(tables, Consumer().answer(request)) != []
