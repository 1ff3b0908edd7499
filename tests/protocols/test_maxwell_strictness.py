"""Messages of Maxwell that are damaged, and rows that share a message."""

from __future__ import annotations

import pytest

from tests.protocols.encoding import ID_AND_TEXT, messages_of
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Op
from ticdc_producer.protocols.batch_options import MAX_ROWS, WorkerOptions
from ticdc_producer.protocols.maxwell.decoder import VERSION, MaxwellDecoder
from ticdc_producer.protocols.maxwell.encoder import MaxwellEncoder

ROW = b'{"database":"s","table":"t","type":"insert","ts":1,"data":{"id":1}}'
DDL_KEY = b'{"ts":262144000,"scm":"s","tbl":"t","t":2}'
DDL = b'{"type":"table-create","database":"s","table":"t","old":{},"def":{},"ts":262144000,"sql":"x"}'


@pytest.mark.parametrize(
    ("key", "value", "code", "byte"),
    [
        (None, ROW, "MAXWELL-KEY", 0),
        (VERSION + b"\0", ROW, "MAXWELL-KEY", 0),
        (VERSION, None, "MAXWELL-JSON", 0),
        (VERSION, ROW + ROW[:-1], "MAXWELL-JSON", 2 * len(ROW) - 1),
        (VERSION, ROW + b"]", "MAXWELL-JSON", len(ROW) + 1),
        (VERSION, ROW + ROW.replace(b'"s"', b"5"), "MAXWELL-MEMBER", len(ROW)),
        (VERSION, ROW.replace(b'"ts":1', b'"ts":-1'), "MAXWELL-MEMBER", 0),
        (VERSION, ROW.replace(b'"ts":1', b'"ts":99999999999999'), "MAXWELL-MEMBER", 0),
        (VERSION, ROW.replace(b'{"id":1}', b'{"id":[1]}'), "MAXWELL-MEMBER", 0),
        (VERSION, ROW.replace(b"insert", b"bootstrap-insert"), "MAXWELL-TYPE", 0),
        (VERSION, ROW.replace(b'{"id":1}', b"{}"), "MAXWELL-ROW", 0),
        (VERSION, ROW.replace(b"insert", b"delete"), "MAXWELL-ROW", 0),
        (VERSION, ROW + ROW.replace(b'insert","ts":1', b'update","ts":1,"old":{"a":1}'), "MAXWELL-ROW", 67),
        (VERSION, ROW.replace(b'{"id":1}', b"[" * 100_000), "MAXWELL-MEMBER", 0),
        (DDL_KEY.replace(b'"t":2', b'"t":1'), DDL, "MAXWELL-KEY", 0),
        (DDL_KEY.replace(b"262144000", b"262144001"), DDL, "MAXWELL-KEY", 0),
        (DDL_KEY[:-1], DDL, "MAXWELL-KEY", len(DDL_KEY) - 1),
        (DDL_KEY, DDL.replace(b"table-create", b"table-make"), "MAXWELL-TYPE", 0),
        (DDL_KEY, DDL[:-1], "MAXWELL-JSON", len(DDL) - 1),
    ],
)  # fmt: skip
def test_a_damaged_message_is_a_decode_error(
    key: bytes | None, value: bytes | None, code: str, byte: int
) -> None:
    with pytest.raises(DecodeError) as error:
        list(MaxwellDecoder().events(key, value))
    assert (error.value.code, error.value.byte) == (code, byte)


TEXTS = [b'}{"database":', b'"}{"', b"}{", b'\\"}{"a":', b'}} {{"a"', "\u2028}{".encode()]


def test_texts_that_look_like_the_end_of_a_row_are_texts() -> None:
    changes = [(Op.INSERT, 1 << 18, (), (b"%d" % n, text)) for n, text in enumerate(TEXTS)]
    (message,) = messages_of(MaxwellEncoder(), ID_AND_TEXT, changes)
    events = list(MaxwellDecoder().events(message.key, message.value))
    assert [event.after["v"] for event in events] == TEXTS  # type: ignore[union-attr, index]


def test_a_message_ends_after_2048_rows_and_before_it_is_too_large() -> None:
    changes = [(Op.INSERT, 1 << 18, (), (b"1", b"abc"))] * (MAX_ROWS + 1)
    sizes = [message.events for message in messages_of(MaxwellEncoder(), ID_AND_TEXT, changes)]
    assert sizes == [MAX_ROWS, 1]
    limited = messages_of(MaxwellEncoder(WorkerOptions(max_message_bytes=1000)), ID_AND_TEXT, changes)
    assert all(message.size <= 1000 for message in limited)
    assert {message.events for message in limited[:-1]} == {limited[0].events}
    large = messages_of(MaxwellEncoder(WorkerOptions(max_message_bytes=10)), ID_AND_TEXT, changes[:2])
    assert [message.events for message in large] == [1, 1]
