"""One of two streams that are compared, as messages and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.shapes import DECODED, BatchFunction
from ticdc_producer.verifier.findings import events_at
from ticdc_producer.verifier.history.definitions import KnownDefinition
from ticdc_producer.verifier.history.history_rows import (
    TableName,
)
from ticdc_producer.verifier.passes.slices import Messages
from ticdc_producer.verifier.violations import EventID


@dataclass(frozen=True, kw_only=True)
class HistorySide:
    """One of two streams that are compared.

    :param name: as the user named it.
    :param decode: decodes messages (shape ``MESSAGES``) to events (shape ``DECODED``).
    :param tables: what is known of tables without their DDLs.
    :param ddls: DDLs that are in no message: commit-ts, schema, table, text and action code.
    :param without_ddls: why the stream has no DDLs; empty: it has them.
    :param ordered: whether positions order the changes of a partition.
    """

    name: str
    protocol: str
    profile: Profile
    fidelity: Fidelity
    messages: Messages
    decode: BatchFunction
    tables: Mapping[TableName, KnownDefinition] = field(default_factory=dict)
    ddls: Sequence[tuple[int, str, str, str, int]] = ()
    without_ddls: str = ""
    ordered: bool = True

    @property
    def events(self) -> Dataset:
        """The events (shape ``DECODED``), decoded whenever they are read."""
        return self.messages.rows.merged().map(self.decode, DECODED)

    def at(self, positions: Iterable[EventID]) -> dict[EventID, DecodedRow]:
        """Return the events at some positions; only their messages are decoded."""
        events = sorted(set(positions))
        if not events:
            return {}
        offsets = sorted({event[:3] for event in events})
        return events_at(self.messages.at(offsets).map(self.decode, DECODED), events)
