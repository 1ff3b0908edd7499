"""The report of a recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ticdc_producer.config import Changefeed
from ticdc_producer.model.fidelity import COARSE
from ticdc_producer.recording.topic_history import TopicHistory

KINDS = ("row", "ddl", "resolved")


@dataclass(frozen=True, kw_only=True)
class Recording:
    """The result of a recording.

    :param folder: the scenario.
    :param protocol: of the messages.
    :param partitions: number of partitions that were read.
    :param events: number of recorded events by kind; a DDL or resolved event of several partitions is one.
    :param start_ts: of the scenario, if tables or rows existed before.
    :param snapshot_rows: number of recorded rows that existed before.
    :param repeated: number of row events that were delivered again.
    :param repetitions: the messages of the first of them, each with that of the first delivery.
    :param damaged: number of messages that were left out.
    :param damages: number of those that do not decode and are faults of the recording.
    :param notes: what the messages do not carry.
    :param source: what was recorded, if it was not a topic.
    """

    folder: Path
    protocol: str
    partitions: int
    events: Counter[str]
    start_ts: int | None = None
    snapshot_rows: int = 0
    repeated: int = 0
    repetitions: tuple[tuple[str, str], ...] = ()
    damaged: int = 0
    damages: int = 0
    notes: tuple[str, ...] = ()
    source: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**content, "folder": str(self.folder), "events": dict(self.events)}

    @property
    def size(self) -> str:
        """Number of events and partitions, as text."""
        count = ", ".join(f"{self.events[kind]:,} {kind}" for kind in KINDS)
        if self.source:
            return f"{count} events of {self.source}"
        where = f"{self.partitions} partition{'s' * (self.partitions != 1)}"
        return f"{count} events of {where} in {self.protocol}"

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        yield f"recorded {self.size} as {self.folder}"
        yield from self.details()

    def details(self) -> Iterator[str]:
        """Yield what is particular to the messages, as text."""
        if self.start_ts is not None:
            snapshot = f"a snapshot of {self.snapshot_rows:,} rows"
            yield f"it starts at {self.start_ts}, with {snapshot} that its events change"
        if self.repeated:
            again, first = self.repetitions[0]
            yield f"{self.repeated:,} row events came again, as faults of the recording: {again} as {first}"
        if self.damaged:
            recorded = f"; {self.damages:,} are faults of the recording" if self.damages else ""
            yield f"{self.damaged:,} messages are damaged, and were left out{recorded}"
        yield from self.notes


def history_notes(changefeed: Changefeed, history: TopicHistory) -> Iterator[str]:
    """Yield what the messages do not carry, and what the recording has in its place."""
    protocol, fidelity = changefeed.protocol, history.fidelity
    if fidelity.commit_ts in COARSE:
        yield (
            f"{protocol} has no commit-ts but {fidelity.commit_ts}: each row is a transaction of its own,"
            " in the order of its partition; equal changes of a row in one unit of time are recorded once"
        )
    if fidelity.commit_ts == "not deletes":
        yield f"{protocol} has no commit-ts of deletes: each follows the event before it in its partition"
    if fidelity.float_decimals:
        yield f"{protocol} sends DECIMAL as float64: digits after the 15th may differ"
    if not fidelity.resolved:
        yield f"{protocol} has no resolved events: the scenario sends one after each transaction"
    if fidelity.old_values != "all":
        yield f"{protocol} has not all old values: they are those of the row's change before"
    if history.from_rows:
        yield (
            f"the definition of {', '.join(history.from_rows)} follows from rows alone: lengths, indexes and"
            " DEFAULTs are not known; `schema` gives them"
        )
    if history.mask is not None:
        yield from history.mask.notes(history.summary.first_rows)
    if tables := ", ".join(history.without_key):
        yield f"no handle key is known of {tables}: the scenario has force-replicate"
