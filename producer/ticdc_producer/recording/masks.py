"""The masks of a recording: the rules, checked with the definitions of all tables of the messages.

The definitions come from one pass over the messages, which keeps DDLs alone, because a protocol may send them
after rows of another partition.
"""

from __future__ import annotations

from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.errors import ProducerError, RecordingError
from ticdc_producer.masks.events import EventMasks
from ticdc_producer.masks.rules import MaskRules
from ticdc_producer.masks.tables import MaskedTables
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.recording.definitions import CreatedNames, EarlierTable, described_tables, dumped_tables
from ticdc_producer.recording.selection import Accepts
from ticdc_producer.recording.summary import Summary
from ticdc_producer.recording.topic_history import DefinitionSource
from ticdc_producer.replica.stream_ddl import StreamDDL, apply_ddls

_NOTHING = CreatedNames(frozenset(), frozenset())


def event_masks(
    rules: MaskRules,
    messages: Dataset,
    decode: BatchFunction,
    source: DefinitionSource,
    fidelity: Fidelity,
    profile: Profile,
    accepts: Accepts,
) -> EventMasks:
    """Return the masks of the events of messages.

    :param messages: shape ``MESSAGES``.
    :param decode: decodes messages to events (shape ``DECODED``).
    :param accepts: the tables that are recorded.
    :raises RecordingError: for a rule that does not fit a table, with the name of the column.
    """

    def summary_of(_part: Part, batches: Batches) -> Summary:
        summary = Summary()
        for batch in decode(batches):
            summary.see_recorded(batch)
        return summary

    sent = Summary()
    sent.merge(messages.results(summary_of))
    tables = MaskedTables(rules)
    ddls = [*_definitions(source), *sent.stream_ddls()]
    versions = apply_ddls(ddls, fidelity, profile)
    tables.see_versions(version for version in versions if accepts(*version.name))
    masks = EventMasks(tables)
    for ddl in ddls:
        masks.statements.see_partitions(ddl.query, ddl.schema)
    return masks


def _definitions(source: DefinitionSource) -> list[StreamDDL]:
    """Return the CREATE TABLE statements of tables that existed before."""
    tables = list[EarlierTable]()
    if source.dump is not None:
        try:
            tables += dumped_tables(source.dump, _all, _NOTHING)
        except ProducerError as error:
            raise RecordingError("the dump cannot be read", where=error.where).about("schema") from None
    if source.describe is not None:
        tables += described_tables(source.describe, source.descriptions, _all, _NOTHING)
    return [
        StreamDDL(commit_ts=0, order=(number,), schema=table.schema, table=table.table, query=table.create)
        for number, table in enumerate(tables)
    ]


def _all(_schema: str, _table: str) -> bool:
    return True
