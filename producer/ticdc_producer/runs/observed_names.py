"""Names that do not arrive as they are, where TiCDC hashes them.

The partition of a row follows from the names of its database, table and columns. A reader who gets other
names cannot work it out, and must not take that for a fault.
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.model.table import TableInfo

_STANDS_IN = "_"


@dataclass(frozen=True, slots=True)
class ToldNames:
    """What is known of the names in a stream.

    :param changed: whether some names arrive changed.
    :param same: tables whose names arrive as they are, and whether those of their columns do; None where
        nobody knows the tables.
    """

    changed: bool
    same: dict[tuple[str, str], bool] | None = None

    def hash_alike(self, schema: str, table: str, *, by_column: bool) -> bool:
        """Whether a table's names, as they arrive, are those that were hashed.

        :param by_column: whether names of columns are hashed, too.
        """
        if not self.changed:
            return True
        if self.same is None:  # a name without the character that stands for others is surely itself
            return not by_column and _STANDS_IN not in schema + table
        return (schema, table) in self.same and (not by_column or self.same[schema, table])


def told_names(losses: Losses, catalog: Catalog | None) -> ToldNames:
    """Of a protocol with its options.

    :param catalog: the tables, where they are known.
    """
    if losses.told_name("-") == "-":
        return ToldNames(changed=False)
    if catalog is None:
        return ToldNames(changed=True)
    same: dict[tuple[str, str], bool] = {}
    ambiguous: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for table in catalog.tables:
        real = table.schema, table.name
        told = losses.told_name(table.schema), losses.told_name(table.name)
        ambiguous.setdefault(told, set()).add(real)
        same[told] = same.get(told, True) and _columns_stay(losses, table)
    return ToldNames(
        changed=True, same={told: same[told] for told, real in ambiguous.items() if real == {told}}
    )


def _columns_stay(losses: Losses, table: TableInfo) -> bool:
    return all(losses.told_name(column.name) == column.name for column in table.sent_columns)
