"""Which tables of a large frame get hidden row ids."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.sql.store.followed_tables import FollowedTables


def counted_tables(
    followed: FollowedTables,
    earlier: Iterable[FramePlan],
    unordered: Callable[[Collection[str]], Collection[str]],
) -> tuple[dict[int, int], frozenset[int], dict[str, str]]:
    """Return the tables whose rows get hidden row ids, and why those of others do not.

    :param followed: the tables of a frame, after its statements.
    :param earlier: the frames that filled some of them before.
    :param unordered: returns those of some names of tables of which two rows have one position.
    :return: by the id of a table the last id before the frame; those of these tables whose AUTO_INCREMENT
        column has the same counter; by the name of a table the reason.
    """
    filled_before = {number for plan in earlier for number in plan.table_ids}
    names: dict[int, set[str]] = {}
    tables: dict[int, TableInfo] = {}
    for entry in followed.entries:
        if entry.table is not None and entry.table.clustered_key is None and followed.fills(entry.table):
            tables[entry.table.table_id] = entry.table
            names.setdefault(entry.table.table_id, set()).add(entry.name[1])
    without_order = unordered({name for each in names.values() for name in each}) if names else ()
    counters, sharing, reasons = dict[int, int](), set[int](), dict[str, str]()
    for number, table in tables.items():
        ids, now = followed.counters[number]
        if names[number] & {*without_order}:
            reason = "two of its rows have one position: a column with the position of a row is needed"
        elif number in filled_before:
            reason = "an earlier large DataFrame has filled it"
        elif ids.cache != 1 and not all(_counts_signed(table.columns[i]) for i in table.auto_increment):
            reason = "the values of its AUTO_INCREMENT column are no signed integers"
        elif ids.shard_bits:
            reason = "it has SHARD_ROW_ID_BITS"
        elif ids != now:
            reason = "a statement of the DataFrame changes its counter"
        else:
            counters[number] = ids.last_row_id if ids.cache == 1 else ids.base
            sharing |= {number} if table.auto_increment and ids.cache != 1 else set()
            continue
        reasons[table.qualified_name] = reason
    return counters, frozenset(sharing), reasons


def _counts_signed(column: ColumnInfo) -> bool:
    """Return whether all values of a column are integers of 64 bits with a sign."""
    return column.type in INTEGERS and not (column.type == MySQLType.LONGLONG and column.unsigned)
