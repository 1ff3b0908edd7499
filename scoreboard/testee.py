"""A testee around a parser of another project: ``python -m scoreboard.testee NAME``.

At the level ``apply`` its tables are what a sink has that writes rows by their key as they arrive.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

import msgspec

from scoreboard.formats import FORMATS, Format, body_of
from tests.conformance.own_consumer import AsDelivered, IgnoresDDL, Stopped
from tests.conformance.own_decoder import decoded
from tests.peers.software import Refusal, Software
from ticdc_producer.conformance.wire import ApplyRequest, Event, Request
from ticdc_producer.errors import ProducerError
from ticdc_producer.model import event as model
from ticdc_producer.model.event import Op, RowEvent
from ticdc_producer.protocols import registry


class Skipped(Exception):
    """The parser does not offer what the case requests."""


class ParserTestee:
    """The answers of one parser.

    :param software: its running process.
    """

    def __init__(self, parser: Format, software: Software) -> None:
        self._format, self._software = parser, software

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request, without the id of the case."""
        try:
            self._check(request)
            if request["level"] == "decode":
                return {"events": msgspec.to_builtins(self._events(msgspec.convert(request, Request)))}
            consumer = _Upserts(self._format, self)
            tables = consumer.answer(msgspec.convert(request, ApplyRequest))
            return {"tables": msgspec.to_builtins(tables)}
        except Skipped as reason:
            return {"skipped": str(reason)}
        except (Stopped, ProducerError, ValueError, KeyError, TypeError, IndexError) as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def _check(self, request: dict[str, Any]) -> None:
        """Raise ``Skipped`` for what no parser does, or this one does not."""
        if request["protocol"] != self._format.protocol:
            raise Skipped("another protocol")
        if request["level"] == "restart":
            raise Skipped("a parser stores no offsets")
        if request.get("claims"):
            raise Skipped("no claim check")
        if request["options"].get("large-message-handle-compression", "none") != "none":
            raise Skipped("no compressed values")
        if request["level"] == "apply" and not self._format.applies:
            raise Skipped("it reads messages, and has no tables")
        if request.get("resolved_ts") is not None:
            raise Skipped("rows are applied as they arrive")
        if request.get("follows_ddl"):
            raise Skipped("it does not follow DDLs")

    def _events(self, request: Request) -> list[Event]:
        value = None if request.value is None else b64decode(request.value)
        key = None if request.key is None else b64decode(request.key)
        restored = self.restored(request.options, key, value)
        if restored is None:
            if _has_rows(request):
                return []
            raise Skipped("it returns nothing for this kind of event")
        as_read = msgspec.structs.replace(request, value=b64encode(restored).decode("ascii"))
        return decoded(as_read)

    def restored(self, options: dict[str, object], key: bytes | None, value: bytes | None) -> bytes | None:
        """Return a message with the values that the parser has; None if it returns no row.

        :raises Stopped: if the parser rejects the message.
        """
        parser, columns = self._format.parser(options), self._format.columns(value)
        answer = self._software.ask(parser, key=key, value=value, columns=columns)
        if isinstance(answer, Refusal):
            raise Stopped(f"{answer.type.rpartition('.')[2]}: {answer.message}")
        if not answer.content or value is None:  # a tombstone has no value
            return None
        body = self._format.restored(body_of(value), answer.content)
        return None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


class _Upserts(AsDelivered, IgnoresDDL):
    """A sink that writes the rows of a parser by their key."""

    def __init__(self, parser: Format, testee: ParserTestee) -> None:
        super().__init__()
        self._format, self._testee = parser, testee

    def events(self, request: ApplyRequest) -> Iterator[model.Event]:
        given = {name.replace("-", "_"): value for name, value in request.options.items()}
        options = registry.protocol_spec(request.protocol).select(given)
        decoder = registry.decoder(request.protocol, options)
        for message in request.messages:
            key, value = (None if part is None else b64decode(part) for part in (message.key, message.value))
            restored = self._testee.restored(request.options, key, value)
            for event in () if restored is None else decoder.events(key, restored):
                yield self._without_old_row(event)

    def _without_old_row(self, event: model.Event) -> model.Event:
        if isinstance(event, RowEvent) and event.op == Op.UPDATE and not self._format.old_rows:
            return msgspec.structs.replace(event, before=None)
        return event


def _has_rows(request: Request) -> bool:
    try:
        return any(event.kind == "row" for event in decoded(request)) or not decoded(request)
    except ProducerError:
        return True


def main(name: str) -> None:
    """Answer the lines of standard input. Java starts after the greeting, which has to come in a minute."""
    sys.stdout.write(sys.stdin.readline())
    sys.stdout.flush()
    with Software(FORMATS[name].project) as software:
        testee = ParserTestee(FORMATS[name], software)
        for line in sys.stdin:
            request = json.loads(line)
            sys.stdout.write(json.dumps({"case": request["case"], **testee.answer(request)}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
