"""Claim-check objects: written, read as the row that they hold, and validated."""

from __future__ import annotations

from pathlib import Path

import fsspec
import pytest
from msgspec.structs import replace

from ticdc_producer.errors import ChangefeedError, DecodeError, StorageError
from ticdc_producer.model.event import ClaimObject, Event, Kind, Message, RowEvent
from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder
from ticdc_producer.protocols.open_protocol.encoder import framed
from ticdc_producer.targets.claims import ClaimReader, ClaimWriter, with_claim_check

LOCATION = "s3://elsewhere/claims/row.json"
WHOLE = b'{"u":{"id":{"t":3,"h":true,"f":11,"v":1},"v":{"t":15,"f":64,"v":"a"}}}'
HANDLE_KEY = b'{"u":{"id":{"t":3,"h":true,"f":11,"v":1}}}'


def _key(ts: int = 5, location: str = "", table: str = "t") -> bytes:
    ccl = b',"ccl":"%b"' % location.encode() if location else b""
    return b'{"ts":%d,"scm":"s","tbl":"%b","t":1%b}' % (ts, table.encode(), ccl)


def _message(location: str = LOCATION) -> Message:
    return framed(_key(location=location), HANDLE_KEY, Kind.ROW, 5)


def _stored(key: bytes, value: bytes = WHOLE) -> bytes:
    from ticdc_producer.protocols.compression import claim_content

    message = framed(key, value, Kind.ROW, 5)
    return claim_content(message.key, message.value or b"", raw_value=False)


def _read(uri: str, message: Message) -> list[Event]:
    return list(with_claim_check(OpenDecoder(), uri).events(message.key, message.value))


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    ClaimWriter(f"file://{tmp_path}/claims/").write([ClaimObject("row.json", _stored(_key()))])
    return tmp_path / "claims"


def test_a_stored_row_is_whole_again(storage: Path) -> None:
    (expected,) = OpenDecoder().events(*_pair(framed(_key(), WHOLE, Kind.ROW, 5)))
    assert isinstance(expected, RowEvent)
    for uri in (str(storage), f"file://{storage}", f"file://{storage}/"):
        assert _read(uri, _message()) == [replace(expected, claim_check=LOCATION)]


def test_any_file_system_that_fsspec_knows_will_do() -> None:
    ClaimWriter("memory://claims/here").write([ClaimObject("row.json", _stored(_key()))])
    assert fsspec.filesystem("memory").exists("/claims/here/row.json")
    (row,) = _read("memory://claims/here", _message())
    assert isinstance(row, RowEvent)
    assert row.after == {"id": b"1", "v": b"a"}


def test_without_a_storage_the_handle_key_stays_alone() -> None:
    (row,) = _read("", _message())
    assert isinstance(row, RowEvent)
    assert row.handle_key_only
    assert (row.after, row.claim_check) == ({"id": b"1"}, LOCATION)


@pytest.mark.parametrize(
    "location",
    ["", "/", "row.json/", "a/..", "..", "a/.", "a\\\\..\\\\row.json", "%2e%2e", "a/.hidden", "a/x\\u0000",
     "a/row.json?v=1", "a/" + "x" * 300],
)  # fmt: skip
def test_a_location_names_a_file_and_nothing_else(storage: Path, location: str) -> None:
    if location:
        with pytest.raises(DecodeError, match="CLAIM-NAME") as refusal:
            _read(str(storage), _message(location))
        assert refusal.value.part == "claim"


def test_a_location_does_not_lead_out_of_the_storage(storage: Path) -> None:
    (storage.parent / "secret").write_bytes(_stored(_key()))
    for location in ("../secret", f"{storage.parent}/secret", f"file://{storage.parent}/secret"):
        with pytest.raises(DecodeError, match="CLAIM-MISSING"):
            _read(str(storage), _message(location))


def test_a_missing_object_is_an_error_with_its_location(storage: Path) -> None:
    (storage / "row.json").unlink()
    with pytest.raises(DecodeError, match=f"CLAIM-MISSING.*{LOCATION}"):
        _read(str(storage), _message())


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "CLAIM-EMPTY"),
        (b'{"key":null,"value":""}', "OPEN-KEY-SHORT"),
        (_stored(_key())[:-9], "OPEN-KEY-SHORT"),
        (b"\xff\xfe\x00", "OPEN-KEY-SHORT"),
        (_stored(_key(), WHOLE[:-1]), "OPEN-VALUE-JSON"),
        (_stored(_key(ts=6)), "CLAIM-OTHER"),
        (_stored(_key(table="u")), "CLAIM-OTHER"),
        (_stored(_key(), WHOLE.replace(b'"v":1}', b'"v":2}')), "CLAIM-OTHER"),
        (_stored(_key(location="s3://b/row.json")), "CLAIM-OTHER"),
        (_stored(b'{"ts":5,"t":3}', b""), "CLAIM-OTHER"),
    ],
)
def test_a_damaged_or_wrong_object_is_an_error(storage: Path, content: bytes, code: str) -> None:
    (storage / "row.json").write_bytes(content)
    with pytest.raises(DecodeError) as refusal:
        _read(str(storage), _message())
    assert (refusal.value.code, refusal.value.part) == (code, "claim")
    assert LOCATION in refusal.value.expected


def test_an_object_is_never_read_beyond_the_limit(storage: Path) -> None:
    with (storage / "row.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(DecodeError, match="CLAIM-SIZE"):
        ClaimReader(str(storage), max_bytes=1000).read(LOCATION)


def test_a_storage_that_takes_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be written to file://"):
        ClaimWriter(f"file://{tmp_path}/file/claims")


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(ChangefeedError, match="no file system for 'nowhere://a'"):
        ClaimWriter("nowhere://a")


def _pair(message: Message) -> tuple[bytes | None, bytes | None]:
    return message.key, message.value
