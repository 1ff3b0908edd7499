"""An event as one line of text."""

from __future__ import annotations

import pytest

from ticdc_producer.model.event_line import event_text


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
    row = {**position, "kind": "row", "commit_ts": 0, "schema": "test", "table": "t", "op": "update"}
    text = event_text({**row, "before": before, "after": {"id": b"1", "v": b"b"}})
    assert text.endswith(f" update test.t {values}")
