"""Options of Debezium, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.profile import Profile

InvalidUTF8: TypeAlias = Literal["raw", "replace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumOptions:
    """How events are written.

    :param profile: whose dialect is written.
    :param disable_schema: leave out ``schema``; the ``payload`` wrapper stays.
    :param output_old_value: whether updates carry ``before``; deletes always do.
    :param enable_tidb_extension: name each column's TiDB type, and send watermarks.
    :param include_start_ts: whether ``source`` of rows tells when the transaction began; the new program
        alone can. Transactions here begin one TSO before they commit.
    :param cluster_id: TiCDC's cluster, Debezium's logical server name.
    :param output_ddl: send DDL events, which the documented protocol does not.
    :param invalid_utf8: bytes of text columns that are not UTF-8: ``raw`` as TiCDC copies them, although
        the message is not JSON then, or ``replace`` each by U+FFFD.
    :param time_zone: the changefeed's, in which TIMESTAMP values stand; an IANA name.
    :param large_message_handle_compression: of every key and every value: ``none``, ``snappy`` or
        ``lz4``.
    :param build_ts_ms: ``payload.ts_ms``, Unix milliseconds; None for the physical time of the commit.
    :raises ChangefeedError: for what TiCDC would not accept together.
    """

    profile: Profile = "classic"
    disable_schema: bool = False
    output_old_value: bool = True
    enable_tidb_extension: bool = False
    include_start_ts: bool = False
    cluster_id: str = "default"
    output_ddl: bool = False
    invalid_utf8: InvalidUTF8 = "raw"
    time_zone: str = "UTC"
    large_message_handle_compression: str = "none"
    build_ts_ms: int | None = None

    def __post_init__(self) -> None:
        if self.include_start_ts and self.profile != "new":
            raise ChangefeedError(
                "debezium-include-start-ts is an option of the new TiCDC only",
                parameter="debezium-include-start-ts",
                hint="set profile=new",
            )
