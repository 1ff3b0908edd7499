"""Options of Simple, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.profile import Profile
from ticdc_producer.protocols.large_message_handle import (
    DEFAULT_MAX_MESSAGE_BYTES,
    LargeMessageHandle,
    check_large_message_handle,
)

_FORMATS = ("json", "avro")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleOptions:
    """How events are written.

    :param profile: whose dialect is written.
    :param max_message_bytes: size limit of a message as TiCDC counts it, record overhead included.
    :param large_message_handle_option: what becomes of a row over that limit: ``none`` refuses it,
        ``handle-key-only`` sends its handle key alone, ``claim-check`` does so and stores the message.
    :param large_message_handle_compression: of every value: ``none``, ``snappy`` or ``lz4``.
    :param claim_check_storage_uri: where messages are stored, as those that are sent tell it.
    :param claim_check_raw_value: whether a stored object is the bare value.
    :param send_bootstrap_interval_in_sec: most seconds of the commit clock between two descriptions of a
        table; 0 sends none.
    :param send_bootstrap_in_msg_count: most rows of a table between two; 0 sends none.
    :param time_zone: in which values show TIMESTAMP; messages name it.
    :param build_ts_ms: time at which messages are built (``buildTs``), in Unix milliseconds; None for the
        commit time of each event.
    :param encoding_format: ``json`` or ``avro``.
    :raises ChangefeedError: for an unknown form or way to handle large messages; in
        Avro there is no way, and no compression.
    """

    profile: Profile = "classic"
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    large_message_handle_option: LargeMessageHandle = "none"
    large_message_handle_compression: str = "none"
    claim_check_storage_uri: str = ""
    claim_check_raw_value: bool = False
    send_bootstrap_interval_in_sec: int = 0
    send_bootstrap_in_msg_count: int = 0
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

    @property
    def sends_bootstrap(self) -> bool:
        """Whether tables are described before their rows; TiCDC does so where neither bound is 0."""
        return self.send_bootstrap_interval_in_sec > 0 and self.send_bootstrap_in_msg_count > 0
