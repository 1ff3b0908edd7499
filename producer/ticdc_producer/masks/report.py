"""The report: which columns are masked, what stays in clear, and which rules match nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ticdc_producer.masks.rules import MaskRules
from ticdc_producer.model.column import ColumnInfo

ALWAYS_CLEAR = (
    "in clear: names of databases, tables, columns and indexes, numbers of rows, members of JSON objects"
)


def mask_notes(rules: MaskRules, columns: Iterable[tuple[str, str, ColumnInfo]]) -> Iterator[str]:
    """Yield the report, a line per table and kind.

    :param columns: schema, table and definition of all columns.
    """
    masked: dict[str, list[str]] = {}
    clear: dict[str, list[str]] = {}
    used = set()
    for schema, table, column in columns:
        number = rules.rule_of(schema, table, column)
        mask = None if column.generated else rules.mask_of(schema, table, column)
        used.add(number)
        texts = (masked if mask else clear).setdefault(f"{schema}.{table}", [])
        texts.append(
            f"{column.name} ({mask.method})" if mask else column.name + " (computed)" * bool(column.generated)
        )
    for table, texts in sorted(masked.items()):
        yield f"masked in {table}: {', '.join(texts)}"
    for table, texts in sorted(clear.items()):
        literals = "" if table in masked else "; its DDLs stay as they are"
        yield f"in clear in {table}: {', '.join(texts)}{literals}"
    yield ALWAYS_CLEAR
    for number in range(len(rules.rules)):
        if number not in used:
            yield f"rule {number + 1} matches no column: {', '.join(rules.rules[number].columns)}"
