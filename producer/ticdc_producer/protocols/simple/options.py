"""The options of Simple."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.tso import physical
from ticdc_producer.protocols.compression import (
    DEFAULT_MAX_MESSAGE_BYTES,
    LargeMessageHandle,
    check_large_message_handle,
)

_FORMATS = ("json", "avro")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleOptions:
    """Options of the encoding.

    :param profile: the TiCDC program whose output is written.
    :param max_message_bytes: maximum size of a message as TiCDC counts it, including the record overhead.
    :param large_message_handle_option: handling of rows over that limit: ``none`` refuses them,
        ``handle-key-only`` sends only the handle key, ``claim-check`` also stores the whole message.
    :param large_message_handle_compression: compression of each value: ``none``, ``snappy`` or ``lz4``.
    :param claim_check_storage_uri: URI of the storage of messages; sent messages contain the location.
    :param claim_check_raw_value: whether a stored object is only the message value.
    :param send_bootstrap_interval_in_sec: maximum seconds of the commit clock between two BOOTSTRAP messages
        of a table; 0 sends none.
    :param send_bootstrap_in_msg_count: maximum rows of a table between two BOOTSTRAP messages; 0 sends none.
    :param send_bootstrap_to_all_partition: whether a partition has the BOOTSTRAP messages of its rows;
        otherwise partition 0 has those of all rows of the topic.
    :param time_zone: time zone in which TIMESTAMP values are sent; messages name it.
    :param build_ts_ms: time at which messages are built (``buildTs``), in Unix milliseconds; None for the
        commit time of each event.
    :param encoding_format: ``json`` or ``avro``.
    :raises ChangefeedError: for an unknown encoding format or large message option, and for Avro with
        handling or compression of large messages.
    """

    profile: Profile = "classic"
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    large_message_handle_option: LargeMessageHandle = "none"
    large_message_handle_compression: str = "none"
    claim_check_storage_uri: str = ""
    claim_check_raw_value: bool = False
    send_bootstrap_interval_in_sec: int = 0
    send_bootstrap_in_msg_count: int = 0
    send_bootstrap_to_all_partition: bool = True
    time_zone: str = "UTC"
    build_ts_ms: int | None = None
    encoding_format: str = "json"

    def __post_init__(self) -> None:
        check_large_message_handle(self.large_message_handle_option)
        if self.encoding_format not in _FORMATS:
            what, hint = f"unknown encoding-format {self.encoding_format!r}", "allowed: json, avro"
            raise ChangefeedError(what, parameter="encoding-format", hint=hint)
        for name in ("large_message_handle_option", "large_message_handle_compression"):
            if self.encoding_format == "avro" and getattr(self, name) != "none":
                option = name.replace("_", "-")
                raise ChangefeedError(
                    f"{option} of Simple's Avro form is not simulated",
                    parameter=option,
                    hint="leave it at none, or encoding-format at json",
                )

    def build_ts(self, ts: int) -> int:
        """Return ``buildTs`` of the message of an event with this commit-ts, in Unix milliseconds."""
        return physical(ts) if self.build_ts_ms is None else self.build_ts_ms

    @property
    def sends_bootstrap(self) -> bool:
        """Whether BOOTSTRAP messages are sent: TiCDC sends them if neither bound is 0."""
        return self.send_bootstrap_interval_in_sec > 0 and self.send_bootstrap_in_msg_count > 0
