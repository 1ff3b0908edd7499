"""Our own decoders as a testee in this process."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping

from ticdc_producer.conformance.wire import ApplyRequest, Event, Request, event_of
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import TOMBSTONE, Record
from ticdc_producer.model.event_line import event_line
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.targets.claims import ClaimCheckDecoder, ClaimReader
from ticdc_producer.targets.decode import event_rows


class Objects(ClaimReader):
    """The claim-check objects of a request."""

    def __init__(self, claims: Mapping[str, str]) -> None:
        self._claims = claims

    def read(self, location: str) -> bytes:
        return b64decode(self._claims[location.rpartition("/")[2]])


def with_claims(decoder: Decoder, request: Request | ApplyRequest) -> Decoder:
    """A decoder that reads the claim-check objects of a request."""
    return ClaimCheckDecoder(decoder, Objects(request.claims)) if request.claims else decoder


def decoded(request: Request) -> list[Event]:
    """:raises DecodeError: for a message that cannot be decoded."""
    given = {name.replace("-", "_"): value for name, value in request.options.items()}
    options = registry.protocol_spec(request.protocol).select(given)
    schemas = {int(number): schema for number, schema in (request.schemas or {}).items()}
    decoder = with_claims(registry.decoder(request.protocol, {**options, "schemas": schemas}), request)
    for described in request.described or ():
        list(decoder.events(None, b64decode(described)))
    key, value = (None if part is None else b64decode(part) for part in (request.key, request.value))
    list(decoder.events(key, value))
    record = Record(topic="", partition=0, offset=0, key=key, value=value)
    position = ("topic", "partition", "offset", "index")
    lines = [event_line(row) for row in event_rows(record, decoder) if row["kind"] != TOMBSTONE]
    return [event_of({name: line[name] for name in line if name not in position}) for line in lines]


def refuses(request: Request) -> bool:
    """Whether a message cannot be decoded."""
    try:
        decoded(request)
    except DecodeError:
        return True
    return False
