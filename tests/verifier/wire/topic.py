"""The topic of a scenario in a protocol, as its messages, and the verdict on any other messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from tests.verifier.wire import forms
from tests.verifier.wire.forms import Form
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.oracle.scenario import ScenarioOracle, oracle_of_scenario
from ticdc_producer.runs.verification import verify_messages
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.verdict import Verdict

SCENARIOS = Path(__file__).parents[3] / "scenarios"
PROTOCOLS: Mapping[str, str] = {
    "open-protocol": "open-protocol",
    "craft": "craft",
    "canal-json": "canal-json",
    "canal-json with the TiDB extension": "canal-json&enable-tidb-extension=true",
    "debezium": "debezium&output-ddl=true",
    "simple": "simple",
    "simple in Avro": "simple&encoding-format=avro",
    "avro": "avro&enable-tidb-extension=true&avro-enable-watermark=true",
    "maxwell": "maxwell",
    "canal": "canal",
}
"""The sink URI's protocol and its options, by the name in the table of results."""
_FORMS = {
    "open-protocol": forms.OPEN,
    "craft": forms.CRAFT,
    "simple in Avro": forms.SIMPLE_AVRO,
    "maxwell": forms.MAXWELL,
    "canal": forms.CANAL,
}

Row = dict[str, Any]
"""A message (``shapes.MESSAGES``)."""


class Wire(Protocol):
    """The messages of a scenario, and the verdict on any others."""

    @property
    def job(self) -> Job: ...

    @property
    def messages(self) -> Sequence[Row]:
        """The messages, in the order of their partitions and offsets."""

    @property
    def form(self) -> Form: ...

    def delivered(self, messages: Sequence[Row]) -> list[Row]:
        """Return messages as a reader gets them."""

    def verdict(self, messages: Sequence[Row]) -> Verdict:
        """Verify messages in place of the scenario's."""


@dataclass(frozen=True)
class WireTopic:
    """The messages of a scenario.

    :param messages: in the order of their partitions and offsets.
    """

    oracle: ScenarioOracle
    messages: Sequence[Row]
    form: Form

    @property
    def job(self) -> Job:
        return self.oracle.job

    def delivered(self, messages: Sequence[Row]) -> list[Row]:
        """Return messages in the order of their partitions, with the offsets that a broker gives them."""
        return [*_with_offsets(messages)]

    def verdict(self, messages: Sequence[Row]) -> Verdict:
        """Verify messages in place of the topic's; their offsets follow from their order."""
        batches = pa.Table.from_pylist(self.delivered(messages), MESSAGES).to_batches()
        engine = self.oracle.engine
        rows = Messages(engine.of_batches(batches, MESSAGES))
        return verify_messages(engine, self.job.changefeed, rows, self.oracle).verdict


def _with_offsets(messages: Sequence[Row]) -> Iterator[Row]:
    offsets: dict[tuple[str, int], int] = {}
    for row in sorted(messages, key=lambda row: (row["topic"], row["partition"])):
        partition = row["topic"], row["partition"]
        yield {**row, "offset": offsets.get(partition, 0)}
        offsets[partition] = offsets.get(partition, 0) + 1


@contextmanager
def wire_topic(scenario: str, protocol: str) -> Iterator[WireTopic]:
    """Yield the topic of a shipped scenario in two partitions.

    :param protocol: a key of ``PROTOCOLS``.
    """
    job = prepare(
        SCENARIOS / f"{scenario}.yaml",
        sink_uri=f"kafka:///{scenario}?protocol={PROTOCOLS[protocol]}&partition-num=2",
        overrides=["changefeed.force-replicate=false"],
    )
    form = forms.avro_form(job.known_schemas) if protocol == "avro" else _FORMS.get(protocol, forms.JSON)
    rows = simulated_topic(job).messages.select(MESSAGES.names).to_pylist()
    with oracle_of_scenario(job, LocalEngine()) as oracle:
        assert oracle is not None
        yield WireTopic(oracle, [*_with_offsets(rows)], form)
