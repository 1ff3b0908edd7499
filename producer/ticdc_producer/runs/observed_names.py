"""Identifiers that a protocol alters, so that the partition of a row cannot be recomputed.

TiCDC hashes the names of database, table and columns to choose a partition. A reader of altered names gets
another hash, which is not a violation.
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import TableInfo

_SUBSTITUTE = "_"


@dataclass(frozen=True, slots=True)
class ObservedNames:
    """How the names in a stream differ from the original names.

    :param changed: whether the protocol alters some names.
    :param same: by (schema, table) the tables whose names are unaltered; the value says whether their column
        names are, too. None if the tables are unknown.
    """

    changed: bool
    same: dict[tuple[str, str], bool] | None = None

    def match_hashed(self, schema: str, table: str, *, by_column: bool) -> bool:
        """Whether a table's names in the stream equal the names that TiCDC hashed.

        :param by_column: whether column names are hashed, too.
        """
        if not self.changed:
            return True
        if self.same is None:  # a name without the substitute character is unaltered
            return not by_column and _SUBSTITUTE not in schema + table
        return (schema, table) in self.same and (not by_column or self.same[schema, table])


def observed_names(fidelity: Fidelity, catalog: Catalog | None) -> ObservedNames:
    """The names as the messages of a protocol carry them.

    :param catalog: the tables; None if they are unknown.
    """
    if fidelity.visible_name("-") == "-":
        return ObservedNames(changed=False)
    if catalog is None:
        return ObservedNames(changed=True)
    same: dict[tuple[str, str], bool] = {}
    ambiguous: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for table in catalog.tables:
        real = table.schema, table.name
        observed = fidelity.visible_name(table.schema), fidelity.visible_name(table.name)
        ambiguous.setdefault(observed, set()).add(real)
        same[observed] = same.get(observed, True) and _columns_stay(fidelity, table)
    return ObservedNames(
        changed=True,
        same={observed: same[observed] for observed, real in ambiguous.items() if real == {observed}},
    )


def _columns_stay(fidelity: Fidelity, table: TableInfo) -> bool:
    return all(fidelity.visible_name(column.name) == column.name for column in table.sent_columns)
