"""Decoded events as an Arrow batch: what Arrow itself makes of the same rows, one by one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.shapes import DECODED
from ticdc_producer.targets.decoded_events import batch_of_columns

DESCRIBED = [
    [{"name": "id", "type": "BIGINT", "flag": 11}, {"name": "note", "type": "TEXT", "flag": 64}],
    [{"name": "id", "type": "INT", "flag": 0}],
    [],
]
NOTHING = dict.fromkeys(DECODED.names)
OFFSET = {**NOTHING, "topic": "t", "partition": 0, "offset": 7, "index": 0, "events": 1, "size": 30}
IMAGES = st.none() | st.dictionaries(st.text(max_size=3), st.none() | st.binary(max_size=4), max_size=3)
ROWS = st.builds(
    lambda columns, before, after: {
        **OFFSET,
        "kind": "row",
        "commit_ts": 5,
        "op": "update",
        "columns": columns,
        "before": before,
        "after": after,
    },
    st.sampled_from(DESCRIBED),
    IMAGES,
    IMAGES,
)
OTHERS = st.sampled_from(
    [
        {**OFFSET, "kind": "resolved", "commit_ts": 9},
        {**OFFSET, "kind": "error", "error": "OPEN-TYPE", "error_byte": 3, "error_expected": "1, 2 or 3"},
    ]
)


@given(st.lists(ROWS | OTHERS, max_size=6))
def test_rows_become_what_arrow_makes_of_them(rows: list[dict[str, Any]]) -> None:
    batch = batch_of_columns({name: [row[name] for row in rows] for name in DECODED.names}, DECODED)
    pairs = [
        {name: list(cell.items()) if isinstance(cell, dict) else cell for name, cell in row.items()}
        for row in rows
    ]
    assert batch.equals(pa.RecordBatch.from_pylist(pairs, schema=batch.schema))
    batch.validate(full=True)
