"""Completes a partial change log (``change_columns``) where all changes of a row are together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Order
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column_functions import Flags, first_of_groups
from ticdc_producer.model.event import Op
from ticdc_producer.model.shapes import CHANGE_LOG, ChangeBatch
from ticdc_producer.scenario.columns.key_columns import StoredKey, joined_texts

OldRows: TypeAlias = Literal["given", "previous", "preimages"]
"""Where the old image of an update is: in its own row; in the previous change of the row; or in the
``update_preimage`` of a change data feed."""

ROW = ("table_id", "row_key")
POSITION = ("commit_seq", "row_seq")
IN_ORDER = (*ROW, *POSITION)
"""The order of the changes of a row."""


@dataclass(frozen=True)
class RowHistories:
    """The rule that completes the changes of a table's rows.

    :param key: the key of the rows, for messages.
    :param number: the words for the number of a transaction, for messages.
    """

    key: StoredKey
    old_rows: OldRows
    number: str

    def complete(self, changes: Dataset) -> Dataset:
        """Return complete changes (shape ``CHANGE_LOG``).

        Where old images are in other rows, the changes of a row are together, in ``IN_ORDER``. Given old
        images need no other rows: the pipeline, which groups by key, checks the positions.

        :param changes: a partial change log, in any order.
        """
        if self.old_rows == "given":
            return changes
        by_row = changes.shuffle(ROW, Order(IN_ORDER))
        if self.old_rows == "previous":
            return by_row.map(self._following, CHANGE_LOG)
        return by_row.map_groups(self._paired, (*ROW, "commit_seq"), CHANGE_LOG)

    def _following(self, batches: Batches) -> Batches:
        """Complete batches that follow each other: of those before, one change is enough."""
        last = None
        for batch in batches:
            if batch.num_rows:
                yield self._with_previous(batch, last)
                last = batch.slice(batch.num_rows - 1)

    def _paired(self, changes: ChangeBatch) -> ChangeBatch:
        """Return the complete changes of whole transactions, in which an update is two rows.

        :raises ScenarioError: for changes of a row that contradict each other.
        """
        self._check_positions(changes, first_of_groups(changes, IN_ORDER))
        return self._joined(changes)

    def _check_positions(self, changes: ChangeBatch, different: Flags) -> None:
        if not different.all():
            what = "two changes have the same position, those of row"
            hint = "a column with the position in the transaction gives the order of the changes of one row"
            raise self._error(what, changes, ~different, hint)

    def _with_previous(self, changes: ChangeBatch, last: ChangeBatch | None) -> ChangeBatch:
        """Take the old image from the previous change of the row.

        :param last: the change before the first one; None: it is of another row.
        """
        known = changes if last is None else pa.concat_batches([last, changes])
        given = known.num_rows - changes.num_rows
        self._check_positions(changes, first_of_groups(known, IN_ORDER)[given:])
        first = first_of_groups(known, ROW)[given:]
        ops = changes.column("op").to_numpy()
        rows = np.arange(given - 1, given - 1 + changes.num_rows)
        before = known.column("after").take(pa.array(rows, mask=first))
        exists = before.is_valid().to_numpy(zero_copy_only=False)
        inserts = ops == Op.INSERT
        if (inserts & exists).any():
            raise self._error("insert of a row that exists, row", changes, inserts & exists)
        if (~inserts & ~exists).any():
            what = "update or delete of a row that no earlier change inserted, row"
            hint = "other rows, and updates that change a key, need the old row in a struct column `before`"
            raise self._error(what, changes, ~inserts & ~exists, hint)
        return _with(changes, "before", before)

    def _joined(self, changes: ChangeBatch) -> ChangeBatch:
        """Join the two rows of each update."""
        updates = changes.column("op").to_numpy() == Op.UPDATE
        old = updates & changes.column("before").is_valid().to_numpy(zero_copy_only=False)
        new = updates & ~old
        follows = ~first_of_groups(changes, (*ROW, "commit_seq"))
        after_old = np.concatenate([[False], old[:-1]]) & follows
        before_new = np.concatenate([new[1:] & follows[1:], [False]])
        if (new & ~after_old).any():
            what = "an update_postimage has no update_preimage, that of row"
            hint = "an update that changes the key needs the old row in a struct column"
            raise self._error(what, changes, new & ~after_old, hint)
        if (old & ~before_new).any():
            raise self._error(
                "an update_preimage has no update_postimage, that of row", changes, old & ~before_new
            )
        images = changes.column("before").take(pa.array(np.arange(changes.num_rows) - 1, mask=~new))
        before = pc.if_else(pa.array(new), images, changes.column("before"))
        return _with(changes, "before", before).filter(pa.array(~old))

    def _error(self, what: str, changes: ChangeBatch, wrong: Flags, hint: str = "") -> ScenarioError:
        row = int(np.flatnonzero(wrong)[0])
        image = changes.column("after")[row].as_py() or changes.column("before")[row].as_py()
        number = changes.column("commit_seq")[row].as_py()
        sent = self.key.table.sent
        text = joined_texts(image[sent.index(offset)] for offset in self.key.offsets)
        return ScenarioError(f"{what} {text!r} ({self.number} {number})", value=text, hint=hint)


def _with(changes: ChangeBatch, name: str, column: pa.Array) -> ChangeBatch:
    index = changes.schema.get_field_index(name)
    return changes.set_column(index, changes.schema.field(index), column)
