"""Names that arrive changed: where the partition of a row follows from others, it is not checked."""

from __future__ import annotations

import pytest

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.fidelity import AvroLosses
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.runs.observed_names import told_names

AVRO = AvroLosses.of(AvroOptions())


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


def test_other_protocols_tell_every_name() -> None:
    assert told_names(Losses(), None).hash_alike("a_b", "t", by_column=True)


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
def test_a_known_table_is_judged_by_its_own_names(
    table: tuple[str, str, str], by_column: bool, alike: bool
) -> None:
    told = [AVRO.told_name(name) for name in table[:2]]
    assert told_names(AVRO, _catalog(table)).hash_alike(*told, by_column=by_column) is alike


def test_of_two_tables_that_read_alike_neither_is_known() -> None:
    names = told_names(AVRO, _catalog(("s", "a-b", "c"), ("s", "a_b", "c")))
    assert not names.hash_alike("s", "a_b", by_column=False)


@pytest.mark.parametrize(
    ("schema", "table", "by_column", "alike"),
    [("s", "t", False, True), ("s", "a_b", False, False), ("s", "t", True, False)],
)
def test_without_a_scenario_only_sure_names_are_judged(
    schema: str, table: str, by_column: bool, alike: bool
) -> None:
    assert told_names(AVRO, None).hash_alike(schema, table, by_column=by_column) is alike
