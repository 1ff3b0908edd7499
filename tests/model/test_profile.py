"""The differences between the two TiCDC programs for the same table (ticdc ``initColumnFlags``,
``initIndexColumns``)."""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.model.column import ColumnFlag, ColumnInfo, Generated, IndexInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo

F = ColumnFlag


def _column(name: str, generated: Generated = "") -> ColumnInfo:
    return ColumnInfo(name=name, type=MySQLType.LONG, nullable=False, generated=generated)


def _unique(number: int, *offsets: int) -> IndexInfo:
    return IndexInfo(id=number, name=f"u{number}", offsets=offsets, unique=True)


def _table(*columns: ColumnInfo, indexes: tuple[IndexInfo, ...]) -> TableInfo:
    return TableInfo(schema="s", name="t", table_id=1, columns=columns, indexes=indexes)


def test_a_unique_key_on_a_virtual_column_makes_a_table_eligible_for_the_new_architecture_only() -> None:
    classic = _table(_column("a"), _column("v", "virtual"), indexes=(_unique(1, 1),))
    assert not classic.eligible
    new = replace(classic, profile="new")
    assert new.eligible
    assert new.handle_index == classic.indexes[0]
    assert not new.sent_flags[0] & F.HANDLE_KEY


def test_the_new_architecture_chooses_the_narrower_key_even_if_it_is_virtual() -> None:
    classic = _table(
        _column("a"), _column("b"), _column("v", "virtual"), indexes=(_unique(1, 0, 1), _unique(2, 2))
    )
    assert classic.handle_index == classic.indexes[0]
    assert replace(classic, profile="new").handle_index == classic.indexes[1]


def test_a_stored_generated_column_has_tidbs_own_index_flags_for_the_new_architecture() -> None:
    columns = (_column("a"), _column("s", "stored"))
    classic = _table(*columns, indexes=(_unique(1, 0, 1),))
    own = F.BINARY | F.GENERATED
    assert classic.flags[1] == own | F.UNIQUE_KEY | F.MULTIPLE_KEY | F.HANDLE_KEY
    assert replace(classic, profile="new").flags[1] == own | F.HANDLE_KEY
    leading = _table(*columns, indexes=(_unique(1, 1, 0),))
    assert replace(leading, profile="new").flags[1] == own | F.MULTIPLE_KEY | F.HANDLE_KEY
    alone = _table(*columns, indexes=(_unique(1, 0), _unique(2, 1)))
    assert replace(alone, profile="new").flags[1] == own | F.UNIQUE_KEY
