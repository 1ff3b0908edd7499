"""Large and compressed messages of Simple against the bytes of real TiCDC, encoded and decoded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.protocols.debezium_events import events_of
from tests.protocols.golden_messages import Compared, GoldenMessage, load_messages
from tests.protocols.large_messages import LargeFile, files
from tests.protocols.simple_golden import BUILT, encoded
from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import Message, RowEvent
from ticdc_producer.protocols.compression import claimed_message
from ticdc_producer.protocols.row_options import SimpleOptions
from ticdc_producer.protocols.simple.decoder import SimpleDecoder
from ticdc_producer.protocols.simple.encoder import SimpleEncoder

FILES = files("simple")


def _id(file: LargeFile) -> str:
    return file.id


def test_the_number_of_golden_files() -> None:
    assert len(FILES) == 6 * 19
    assert sum(len(load_messages(file.path)) for file in FILES) == 7980
    assert sum(len(file.claims()) for file in FILES) == 66


@pytest.mark.usefixtures("compressor")
@pytest.mark.parametrize("file", FILES, ids=_id)
def test_golden_events_give_golden_bytes(file: LargeFile, compared: Compared) -> None:
    events, names = events_of(file.events), iter([claim.name for claim in file.claims()])
    options = SimpleOptions(
        build_ts_ms=BUILT, claim_check_raw_value="raw-value" in file.variant, **file.options
    )
    encoder = SimpleEncoder(options, name_claim=lambda _: next(names))
    messages, ours = load_messages(file.path), list[Message]()
    for message in messages:
        (seq,) = message.events
        if message.error:
            with pytest.raises(EncodeError) as refusal:
                encoded(encoder, events[seq])
            assert refusal.value.what == message.error.replace("]", ": ", 1).removeprefix("[")
        else:
            ours.append(encoded(encoder, events[seq]))
            assert (ours[-1].key, ours[-1].value) == (message.key, message.value)
    claims = [(claim.name, claim.content) for message in ours for claim in message.claims]
    assert claims == [(claim.name, claim.content) for claim in file.claims()]
    compared("simple, large and compressed, encoded", len(messages))


@pytest.mark.parametrize("file", FILES, ids=_id)
def test_golden_bytes_give_the_events_of_the_plain_file(file: LargeFile, compared: Compared) -> None:
    """Each row is complete or has only its handle key; with its claim-check object it is complete."""
    plain = [message for message in load_messages(file.plain) if not message.error]
    decoder = SimpleDecoder([message.value or b"" for message in plain])
    whole = {message.events: list(_events(decoder, message)) for message in plain}
    claims = {claim.name: claim.content for claim in file.claims()}
    sent = [message for message in load_messages(file.path) if not message.error]
    for message in sent:
        (event,), (full,) = _events(decoder, message), whole[message.events]
        if isinstance(event, RowEvent) and event.handle_key_only:
            assert isinstance(full, RowEvent)
            assert dict(event.after or {}).items() <= dict(full.after or {}).items()
            assert 0 < len(event.columns) < len(full.columns)
            if event.claim_check:
                content = claims.pop(event.claim_check.rpartition("/")[2])
                (event,) = decoder.events(*claimed_message(content))
            else:
                continue
        assert event == full
    assert not claims
    compared("simple, large and compressed, decoded", len(sent))


def _events(decoder: SimpleDecoder, message: GoldenMessage) -> Iterator[object]:
    return decoder.events(message.key, message.value)
