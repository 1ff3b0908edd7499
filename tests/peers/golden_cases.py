"""The golden messages, and our messages of the same events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.golden_events import GoldenDDL, GoldenEvent, GoldenResolved, GoldenRow
from tests.protocols import canal_json_messages, debezium_events, test_debezium_golden
from tests.protocols.debezium_events import DebeziumDDL
from tests.protocols.expected_events import expected_row
from tests.protocols.golden_messages import GoldenMessage, encode_other, load_messages, row_messages
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Image, Message, RowEvent
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder

CANAL_FILES = canal_json_messages.FILES
DEBEZIUM_FILES = test_debezium_golden.FILES
CANAL, DEBEZIUM = "canal-json", "debezium"
"""The variants without options."""

Event = GoldenEvent | DebeziumDDL


@dataclass(frozen=True, kw_only=True)
class Case:
    """One event and its messages.

    :param variant: the messages' options; those of the newer TiCDC begin with ``new-``.
    :param golden: the message of real TiCDC; ``error`` is set if its encoder refused or panicked.
    :param ours: the message of our encoder; None if it refuses, too.
    :param row: for a row event, the event as visible to a reader of the protocol.
    """

    variant: str
    event: Event
    golden: GoldenMessage
    ours: Message | None
    row: RowEvent | None

    @property
    def columns(self) -> tuple[ColumnInfo, ...]:
        """Columns of a row event's table that messages can have."""
        return self.event.table.sent_columns if isinstance(self.event, GoldenRow) else ()

    @property
    def sent(self) -> list[tuple[bytes | None, bytes | None]]:
        """Key and value of TiCDC's message, if it exists, and of ours."""
        messages = [] if self.golden.error else [(self.golden.key, self.golden.value)]
        return messages if self.ours is None else [*messages, (self.ours.key, self.ours.value)]

    def images(self) -> Iterator[Image]:
        """The images of a row event; none for other events."""
        if self.row:
            yield from (image for image in (self.row.before, self.row.after) if image is not None)


def ident(file: tuple[Path, str]) -> str:
    """Name of a file for pytest."""
    return f"{file[0].name.split('.')[0]}-{file[1]}"


def plain(files: list[tuple[Path, str]], variant: str) -> list[tuple[Path, str]]:
    """The files of one variant."""
    return [file for file in files if file[1] == variant]


def canal_cases(path: Path, variant: str) -> Iterator[Case]:
    encoder = CanalJSONEncoder(canal_json_messages.VARIANTS[variant])
    events = canal_json_messages.events_of(path)
    for golden in load_messages(path):
        event = events[golden.events[0]]
        too_large = b'"onlyHandleKey":true' in (golden.value or b"")
        yield Case(
            variant=variant,
            event=event,
            golden=golden,
            ours=_canal_message(encoder, event),
            row=expected_row(event, encoder.fidelity, too_large=too_large)
            if isinstance(event, GoldenRow)
            else None,
        )


def _canal_message(encoder: CanalJSONEncoder, event: GoldenEvent) -> Message | None:
    if isinstance(event, GoldenRow):
        return _row_message(encoder, event)
    assert isinstance(event, GoldenDDL | GoldenResolved)
    return encode_other(encoder, event)


def _row_message(encoder: Encoder, event: GoldenRow) -> Message:
    (message,) = row_messages(encoder, [event])
    return message


def debezium_cases(path: Path, variant: str) -> Iterator[Case]:
    """Cases whose ``row`` has the text of the JSON values, regardless of the schema."""
    options = test_debezium_golden.VARIANTS[variant]
    encoder, events = DebeziumEncoder(options), debezium_events.events_of(path)
    untyped = DebeziumEncoder(replace(options, debezium_disable_schema=True)).fidelity
    for golden in load_messages(path):
        event = events[golden.events[0]]
        rejected = golden.error and not golden.error.startswith("PANIC")
        row = expected_row(event, untyped) if isinstance(event, GoldenRow) else None
        yield Case(
            variant=variant,
            event=event,
            golden=golden,
            ours=None if rejected else test_debezium_golden.encoded(encoder, event),
            row=row,
        )
