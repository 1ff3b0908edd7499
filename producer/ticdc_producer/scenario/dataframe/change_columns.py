"""Converts batches of rows to a change log (``docs/design.md#change-log``).

The change log of a part of the rows is *partial*: an update can lack its old image, which is in another row.
``row_histories`` completes it where all changes of a row are together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.event import OP_OF_LABEL, Op
from ticdc_producer.model.shapes import CHANGE_LOG, IMAGE, ChangeBatch
from ticdc_producer.model.values.sql_value import display_value
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.scenario.columns.key_columns import key_texts, row_keys
from ticdc_producer.scenario.columns.row_images import Values, images_of
from ticdc_producer.scenario.columns.value_columns import canonical_column, null_error
from ticdc_producer.scenario.dataframe.change_form import CHANGE_TYPES, ChangeForm
from ticdc_producer.scenario.dataframe.tables import ValueSources


def partial_changes(form: ChangeForm, rows: pa.RecordBatch) -> ChangeBatch:
    """Return the partial change log of some rows (shape ``CHANGE_LOG``), in their order.

    :raises ScenarioError: for a value that does not fit its column.
    """
    ops, positions = _operations(form, rows)
    new = ops != Op.DELETE
    complete = form.paired or form.old is not None
    values = _values(form.row, rows, None if complete else new, always=form.key.offsets)
    keys, ids = row_keys(form.key, values)
    columns = {
        "commit_seq": _integers(rows, form.number),
        "row_seq": positions if form.paired else _integers(rows, form.position),
        "table_version": pa.repeat(form.table.version, len(ops)),
        "table_id": pa.repeat(form.table.table_id, len(ops)),
        "row_key": keys,
        "row_id": ids,
        "op": pa.array(ops),
        **_images(form, rows, values, ops, positions, keys),
    }
    typed = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(len(ops), field.type)
        for field in CHANGE_LOG
    ]
    changes: ChangeBatch = pa.record_batch(typed, schema=CHANGE_LOG)
    return changes


def changes_digest(changes: ChangeBatch) -> int:
    """Return a number of 64 bits that follows from the rows, whatever their order and their division."""
    hashes = xx_hash(changes.num_rows, *_hashed(changes))
    with np.errstate(over="ignore"):
        return int(hashes.sum(dtype=np.uint64))


def _hashed(changes: ChangeBatch) -> Iterator[pa.Array]:
    yield from (changes.column(name) for name in ("commit_seq", "row_seq", "row_key"))
    yield changes.column("op").cast(pa.int32())
    for name in ("before", "after"):
        images = changes.column(name)
        yield images.is_valid().cast(pa.int32())
        for index in range(_width(images)):
            value = pc.list_element(pc.if_else(images.is_valid(), images, _nulls_of(images)), index)
            yield value.is_valid().cast(pa.int32())
            yield value


def _width(images: pa.ListArray) -> int:
    return int(pc.max(pc.list_value_length(images)).as_py() or 0)


def _nulls_of(images: pa.ListArray) -> pa.Scalar:
    return pa.scalar([None] * _width(images), IMAGE)


def _operations(form: ChangeForm, rows: pa.RecordBatch) -> tuple[npt.NDArray[np.int8], pa.Array]:
    """Return the operation of each row, and its position in a change data feed."""
    by_label = CHANGE_TYPES if form.paired else {label: (op, 0) for label, op in OP_OF_LABEL.items()}
    labels = rows.column(form.op).cast(pa.string())
    index = pc.index_in(labels if form.paired else pc.utf8_lower(labels), pa.array([*by_label]))
    if index.null_count:
        value = labels.filter(index.is_null())[0].as_py()
        words = ", ".join(CHANGE_TYPES) if form.paired else "insert, update or delete"
        text = display_value("NULL" if value is None else value)
        raise ScenarioError(f"column {form.op!r} must be {words}, not {text!r}", column=form.op, value=text)
    operations, positions = (np.array(column, np.int8) for column in zip(*by_label.values(), strict=True))
    numbers = index.to_numpy(zero_copy_only=False)
    return operations[numbers], pa.array(positions[numbers]).cast(pa.int64())


def _integers(rows: pa.RecordBatch, name: str) -> pa.Array:
    """Return the numbers of a column, or zeros if there is none."""
    if not name:
        return pa.repeat(pa.scalar(0, pa.int64()), rows.num_rows)
    numbers = rows.column(name).cast(pa.int64())
    wrong = pc.fill_null(pc.less(numbers, 0), True)
    if pc.any(wrong).as_py():
        value = numbers.filter(wrong)[0].as_py()
        what = f"column {name!r} must be 0 or greater, not {value if value is not None else 'NULL'}"
        raise ScenarioError(what, column=name, value=str(value))
    return numbers


def _values(
    sources: ValueSources,
    rows: pa.RecordBatch | pa.StructArray,
    read: Flags | None,
    always: tuple[int, ...] = (),
) -> dict[int, pa.Array]:
    """Return the canonical values of rows.

    :param read: the rows whose values are converted, and in which NULL in a NOT NULL column is rejected; the
        others have NULL; None: all.
    :param always: offsets of columns that are read in every row.
    :raises ScenarioError: for a value that does not fit its column.
    """
    values: dict[int, pa.Array] = {}
    count = len(rows)
    for offset in sources.table.sent:
        column = sources.table.columns[offset]
        if offset not in sources.fields:
            values[offset] = pa.repeat(pa.scalar(sources.defaults[offset], pa.binary()), count)
            continue
        name = sources.fields[offset].name
        given = rows.column(name) if isinstance(rows, pa.RecordBatch) else _member(rows, name)
        in_all = offset in always or read is None or bool(read.all())
        values[offset] = canonical_column(
            column, given if in_all else pc.if_else(pa.array(read), given, None)
        )
        if (column.nullable and offset not in always) or not values[offset].null_count:
            continue
        missing = values[offset].is_null().to_numpy(zero_copy_only=False)
        if (missing if in_all else missing & read).any():
            raise null_error(column)
    return values


def _member(structs: pa.StructArray, name: str) -> pa.Array:
    """Return a field of structs, NULL where the struct is."""
    return pc.struct_field(structs, structs.type.get_field_index(name))


def _images(
    form: ChangeForm,
    rows: pa.RecordBatch,
    values: Values,
    ops: npt.NDArray[np.int8],
    positions: pa.Array,
    keys: pa.Array,
) -> dict[str, pa.Array]:
    """Return the images of the rows, and where updates took them from."""
    deletes = ops == Op.DELETE
    if form.paired:
        first = positions.to_numpy() <= CHANGE_TYPES["update_preimage"][1]
        return {"before": images_of(values, first), "after": images_of(values, ~first)}
    if form.old is None:
        # The key of a deleted row, for messages: the image itself is in another row.
        return {"before": images_of(values, deletes), "after": images_of(values, ~deletes)}
    struct = rows.column(form.before)
    has_old = struct.is_valid().to_numpy(zero_copy_only=False)
    _check_old_rows(form, has_old, ops == Op.UPDATE, values)
    old_values = _values(form.old, struct, has_old)
    merged = {offset: pc.if_else(pa.array(deletes), values[offset], old_values[offset]) for offset in values}
    old_keys, old_ids = row_keys(form.key, old_values)
    moved = has_old & pc.fill_null(pc.not_equal(old_keys, keys), False).to_numpy(zero_copy_only=False)
    old_table = pa.repeat(form.table.table_id, len(ops)).cast(pa.int64())
    return {
        "before": images_of(merged, deletes | has_old),
        "after": images_of(values, ~deletes),
        **{
            name: pc.if_else(pa.array(moved), column, None)
            for name, column in (
                ("old_table_id", old_table), ("old_row_key", old_keys), ("old_row_id", old_ids),
            )
        },
    }  # fmt: skip


def _check_old_rows(form: ChangeForm, has_old: Flags, updates: Flags, values: Values) -> None:
    """Check that the updates have an old row, and no others."""
    wrong = np.flatnonzero(has_old != updates)
    if not len(wrong):
        return
    row, key = int(wrong[0]), key_texts(form.key, values, int(wrong[0]))
    if updates[row]:
        what = f"{form.before!r} is NULL for the update of row {key!r}"
    else:
        what = f"{form.before!r} must be NULL for inserts and deletes, and is not for row {key!r}"
    raise ScenarioError(what, column=form.before, value=key)
