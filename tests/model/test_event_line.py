"""An event as one line of text."""

from __future__ import annotations

from typing import Any

import pytest

from ticdc_producer.model.event_line import event_content, event_text


@pytest.mark.parametrize(
    ("before", "values"),
    [
        ({"id": b"1", "v": b"a"}, "id='1' v='b' (was v='a')"),
        ({"id": b"1", "v": b"b"}, "id='1' v='b'"),
        (None, "id='1' v='b'"),
    ],
)
def test_an_update_shows_the_old_values_that_differ(before: dict[str, bytes] | None, values: str) -> None:
    position = {"topic": "t", "partition": 0, "offset": 7, "index": 0}
    row: dict[str, Any] = {**position, "kind": "row", "commit_ts": 0, "schema": "test", "table": "t"}
    row |= {"op": "update", "before": before, "after": {"id": b"1", "v": b"b"}}
    text = event_text(row)
    assert text == f"t/0@7[0] update test.t {values}", "without commit-ts there is no time"
    assert event_text({**row, "commit_ts": 1 << 18}) == (
        f"t/0@7[0] 1970-01-01 00:00:00.001 262144 update test.t {values}"
    )
    assert event_content(row) == f"update test.t {values}"


def test_values_are_printed_in_the_order_of_the_table() -> None:
    columns = [{"name": name, "type": "int", "flag": 0} for name in ("id", "created_at")]
    row: dict[str, Any] = {
        "topic": "t",
        "partition": 0,
        "offset": 7,
        "index": 0,
        "kind": "row",
        "commit_ts": 0,
    }
    row |= {"schema": "test", "table": "t", "op": "insert", "columns": columns, "before": None}
    assert event_content(row | {"after": {"created_at": b"2", "id": b"1"}}).endswith("id='1' created_at='2'")
