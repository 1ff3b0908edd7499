"""What is known of one of two streams before its rows are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.verifier.event_layouts import (
    DescribedColumn,
)
from ticdc_producer.verifier.history.common_form import CommonForm
from ticdc_producer.verifier.history.definitions import TableDefinitions
from ticdc_producer.verifier.history.history_rows import TableName


@dataclass(frozen=True, kw_only=True)
class KnownSide:
    """What is known of one side before its rows are read.

    :param side: its number, 0 or 1.
    :param definitions: what is known of tables beside the descriptions in messages.
    :param keys: by table the handle key of the other side, if it is known and never changes.
    :param described: by table the columns as the other side describes them.
    :param keyless: tables whose rows are compared without their key.
    :param patterns: ``SCHEMA.TABLE`` of the tables that are compared, with ``*``; empty: all.
    """

    form: CommonForm
    side: int
    definitions: TableDefinitions
    keys: Mapping[TableName, tuple[str, ...]] = field(default_factory=dict)
    described: Mapping[TableName, Mapping[str, DescribedColumn]] = field(default_factory=dict)
    keyless: Collection[TableName] = ()
    patterns: Sequence[str] = ()

    @property
    def fidelity(self) -> Fidelity:
        """What this side carries."""
        return self.form.fidelities[self.side]

    def includes(self, schema: str, table: str) -> bool:
        """Return whether a table is compared."""
        name = f"{schema}.{table}"
        matches = any(fnmatchcase(name, pattern) for pattern in self.patterns)
        return not self.patterns or (bool(table) and matches)
