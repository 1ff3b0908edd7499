"""Names that a protocol alters: partitions computed from altered names are not checked."""

from __future__ import annotations

import pytest

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.encoder import AvroFidelity
from ticdc_producer.protocols.row_options import AvroOptions
from ticdc_producer.runs.verify_options import observed_names

AVRO = AvroFidelity.of(AvroOptions())


def _catalog(*tables: tuple[str, str, str]) -> Catalog:
    return Catalog(
        tables=tuple(
            TableInfo(
                schema=schema,
                name=name,
                table_id=number,
                version=number,
                columns=(ColumnInfo(name=column, type=MySQLType.LONG),),
            )
            for number, (schema, name, column) in enumerate(tables)
        ),
        ddls=(),
    )


def test_other_protocols_send_every_name_unchanged() -> None:
    assert observed_names(Fidelity(), None).match_hashed("a_b", "t", by_column=True)


@pytest.mark.parametrize(
    ("table", "by_column", "alike"),
    [
        (("s", "t", "a"), False, True),
        (("s", "t", "a"), True, True),
        (("s", "a_b", "a_b"), True, True),
        (("s", "t", "a-b"), False, True),
        (("s", "t", "a-b"), True, False),
        (("s", "a-b", "a"), False, False),
    ],
)
def test_a_known_table_is_checked_by_its_own_names(
    table: tuple[str, str, str], by_column: bool, alike: bool
) -> None:
    visible = [AVRO.visible_name(name) for name in table[:2]]
    assert observed_names(AVRO, _catalog(table)).match_hashed(*visible, by_column=by_column) is alike


def test_two_tables_with_equal_visible_names_are_unknown() -> None:
    names = observed_names(AVRO, _catalog(("s", "a-b", "c"), ("s", "a_b", "c")))
    assert not names.match_hashed("s", "a_b", by_column=False)


@pytest.mark.parametrize(
    ("schema", "table", "by_column", "alike"),
    [("s", "t", False, True), ("s", "a_b", False, False), ("s", "t", True, False)],
)
def test_without_a_scenario_only_unambiguous_names_are_checked(
    schema: str, table: str, by_column: bool, alike: bool
) -> None:
    assert observed_names(AVRO, None).match_hashed(schema, table, by_column=by_column) is alike
