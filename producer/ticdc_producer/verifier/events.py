"""The events as the invariants read them: columns of numbers, without images."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from ticdc_producer.model.event import MAX_EVENTS
from ticdc_producer.verifier.event_columns import (
    EventColumns,
    FlagColumn,
    Int8Column,
    Int32Column,
    Int64Column,
    TextColumn,
)
from ticdc_producer.verifier.fingerprint import Numbers

INDEX_BITS = MAX_EVENTS.bit_length() - 1
NOTHING = -1
"""A time stamp or position of no event."""


class EventKind(IntEnum):
    """Kind of an observed event; the first three numbers are those of ``model.event.Kind``."""

    ROW = 1
    DDL = 2
    RESOLVED = 3
    ERROR = 4
    LEFT_KEY = 5
    """The old key of an update that changes the handle key: the row with that key is gone."""


class Rule(IntEnum):
    """The dispatch rule of an event's table."""

    UNKNOWN = 0
    TABLE = 1
    INDEX_VALUE = 2
    COLUMNS = 3
    TS = 4


class Effect(IntEnum):
    """What a DDL does to the known rows of its table.

    - ``CREATES``: a new table without rows.
    - ``CLEARS``: the table, or all tables of the database, lose all rows.
    - ``MOVES``: rows move between tables; the event names only one of them.
    - ``CHANGES``: anything else. The values of a column, or the handle key, may have changed.
    """

    CREATES = 1
    CLEARS = 2
    MOVES = 3
    CHANGES = 4


@dataclass(frozen=True, kw_only=True)
class KeyedEvents(EventColumns):
    """Events that are brought together by key.

    :param key, key_check: 128 bits of the row key of a row with handle key; of the content of a row without;
        of kind and time stamp of other events. Events of one group are processed together.
    """

    key: Int64Column
    key_check: Int64Column


@dataclass(frozen=True, kw_only=True)
class Events(KeyedEvents):
    """Observed events, one element of each column per event.

    :param op: ``model.event.Op``; 0 for other events than rows.
    :param keyed: a row with handle key.
    :param identity: 64 bits that identical events of a group share.
    :param shape: 64 bits of names, types and flags of the columns, 0 without columns.
    :param whole: all columns of the row are in the event, not the handle key only.
    :param old, new: 64 bits of the images, 0 if there is none or it is not whole; an old image of the updated
        columns only is completed with the columns that did not change.
    :param content: 64 bits of the new image, whole or not; 0 for a delete.
    :param moves: an update that changes the handle key.
    :param key_change: names of the unique or handle columns that an update changes, separated by commas.
    :param hashes_handle: the rule hashes the handle key.
    :param dispatch_key: -1 if unknown.
    :param untracked: the rows of the table cannot be tracked.
    :param effect: ``Effect`` of a DDL; 0 for other events.
    :param slice: number of the part of the stream that was read in one piece. The following are relative to
        it until ``carried_marks`` adds what came before.
    :param resolved_ts, resolved_position: the newest resolved event before it in its partition, -1 if none.
    :param ddl_ts, ddl_position: likewise the newest DDL.
    :param own_ddl_ts, own_ddl_position: likewise the newest DDL of the event's table or database.
    :param table_ts, table_position: likewise the newest row of the event's table partition.
    :param insert_ts: commit-ts of the newest insert before it in its partition, -1 if none.
    """

    key_change: TextColumn
    kind: Int8Column
    table_id: Int64Column
    op: Int8Column
    keyed: FlagColumn
    identity: Int64Column
    shape: Int64Column
    whole: FlagColumn
    old: Int64Column
    new: Int64Column
    content: Int64Column
    moves: FlagColumn
    rule: Int8Column
    hashes_handle: FlagColumn
    dispatch_key: Int64Column
    untracked: FlagColumn
    effect: Int8Column
    slice: Int32Column
    resolved_ts: Int64Column
    resolved_position: Int64Column
    ddl_ts: Int64Column
    ddl_position: Int64Column
    own_ddl_ts: Int64Column
    own_ddl_position: Int64Column
    table_ts: Int64Column
    table_position: Int64Column
    insert_ts: Int64Column

    @cached_property
    def batch_value(self) -> Numbers:
        """The value that rows of a table share to be in one batch; -1 if the table alone decides.

        TiCDC's batcher preserves the order of the rows of a table partition with equal values.
        """
        by_value = (self.rule == Rule.INDEX_VALUE) | (self.rule == Rule.COLUMNS)
        return np.where(by_value, self.dispatch_key, NOTHING)


def positions(offsets: Numbers, indexes: Numbers) -> Numbers:
    """Offset and index of events in one number.

    :param offsets: at most ``model.event.MAX_OFFSET``.
    :param indexes: less than ``model.event.MAX_EVENTS``.
    """
    return (offsets << INDEX_BITS) + indexes


def offset_and_index(position: int) -> tuple[int, int]:
    """The offset of an event's message, and its index in the message."""
    return position >> INDEX_BITS, position & ((1 << INDEX_BITS) - 1)
