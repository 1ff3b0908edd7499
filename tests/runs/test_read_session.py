"""The upper limit of rows in a number of messages."""

from __future__ import annotations

import pytest

from ticdc_producer.runs.prepare import changefeed_of
from ticdc_producer.runs.read_session import max_rows


@pytest.mark.parametrize(
    ("uri", "rows"),
    [
        ("kafka:///t?protocol=open-protocol&max-batch-size=4", 400),
        ("kafka:///t?protocol=craft", 1600),
        ("kafka:///t?protocol=canal-json", 100),
        ("kafka:///t?protocol=debezium", 100),
    ],
)
def test_a_message_may_hold_a_whole_batch(uri: str, rows: int) -> None:
    assert max_rows(changefeed_of(uri, None), 100) == rows
