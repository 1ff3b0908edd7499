"""The sums of the expected rows of a table, which the manifest of a golden folder has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.verifier.consumer_state.row_sums import RowSums, row_sums
from ticdc_producer.verifier.consumer_state.typed_columns import typed_texts

FORM = 1
"""Increases if equal rows have other sums than before."""


def sums_of_images(columns: Sequence[ColumnInfo], images: pa.Array) -> RowSums | None:
    """Return the sums of row images; None if a value has no typed form, such as a zero date.

    :param images: shape ``IMAGE``.
    """
    values, width = images.flatten(), len(columns)
    try:
        typed = [
            typed_texts(column, values.take(pa.array(np.arange(at, len(values), width))))
            for at, column in enumerate(columns)
        ]
    except pa.ArrowInvalid:
        return None
    return row_sums(typed, len(images))


def sums_json(sums: RowSums) -> dict[str, object]:
    """Return the sums of a file as the manifest has them, but for the sha256 of the file."""
    return {"form": FORM, "sums": sums.to_text()}


def sums_of_folder(file: str, manifest: Mapping[str, object]) -> RowSums | None:
    """Return the sums of the rows of a file; None if the manifest has none of its content.

    :param file: path of the file in the folder.
    """
    of_files, files = manifest.get("row_sums"), manifest.get("files")
    entry = of_files.get(file) if isinstance(of_files, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(files, Mapping):
        return None
    if entry.get("form") != FORM or entry.get("sha256") != files.get(file):
        return None
    try:
        return RowSums.of_text(str(entry.get("sums")))
    except ValueError:
        return None
