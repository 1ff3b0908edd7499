"""Completes a partial change log (``change_columns``) where all changes of a row are together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column_functions import first_of_groups
from ticdc_producer.model.event import Op
from ticdc_producer.model.shapes import ChangeBatch
from ticdc_producer.scenario.dataframe.key_columns import joined_texts
from ticdc_producer.scenario.dataframe.row_key import StoredKey

OldRows: TypeAlias = Literal["given", "previous", "preimages"]
"""Where the old image of an update is: in its own row; in the previous change of the row; or in the
``update_preimage`` of a change data feed."""

ROW = ("table_id", "row_key")
POSITION = ("commit_seq", "row_seq")
IN_ORDER = (*ROW, *POSITION)
"""The order of the changes that ``completed`` needs."""
Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RowHistories:
    """The rule that completes the changes of a table's rows.

    :param key: the key of the rows, for messages.
    :param number: the words for the number of a transaction, for messages.
    """

    key: StoredKey
    old_rows: OldRows
    number: str

    @property
    def group(self) -> tuple[str, ...]:
        """The columns that are equal in the changes that must be together."""
        return ROW if self.old_rows == "previous" else (*ROW, "commit_seq")

    def completed(self, changes: ChangeBatch) -> ChangeBatch:
        """Return complete changes of whole groups (shape ``CHANGE_LOG``).

        :param changes: a partial change log, in the order ``IN_ORDER``.
        :raises ScenarioError: for changes of a row that contradict each other.
        """
        self._check_positions(changes)
        if self.old_rows == "previous":
            return self._with_previous(changes)
        return self._joined(changes) if self.old_rows == "preimages" else changes

    def _check_positions(self, changes: ChangeBatch) -> None:
        same = ~first_of_groups(changes, IN_ORDER)
        if same.any():
            what = "two changes have the same position, those of row"
            hint = f"{self.number} and 'position' give the order of the changes of one row"
            raise self._error(what, changes, same, hint)

    def _with_previous(self, changes: ChangeBatch) -> ChangeBatch:
        """Take the old image from the previous change of the row."""
        ops = changes.column("op").to_numpy()
        rows = np.arange(changes.num_rows)
        before = changes.column("after").take(pa.array(rows - 1, mask=first_of_groups(changes, ROW)))
        exists = before.is_valid().to_numpy(zero_copy_only=False)
        inserts = ops == Op.INSERT
        if (inserts & exists).any():
            raise self._error("insert of a row that exists, row", changes, inserts & exists)
        if (~inserts & ~exists).any():
            what = "update or delete of a row that no earlier change of the batch inserted, row"
            hint = "give the old rows, in a struct column 'before'"
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
        if image is None:  # a delete of which only the key is known
            key = changes.column("row_key")[row].as_py().hex()
            return ScenarioError(f"{what} with the key 0x{key}", hint=hint)
        sent = self.key.table.sent
        text = joined_texts(image[sent.index(offset)] for offset in self.key.offsets)
        return ScenarioError(f"{what} {text!r} ({self.number} {number})", value=text, hint=hint)


def _with(changes: ChangeBatch, name: str, column: pa.Array) -> ChangeBatch:
    index = changes.schema.get_field_index(name)
    return changes.set_column(index, changes.schema.field(index), column)
