"""The options of Debezium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.tso import physical

InvalidUTF8: TypeAlias = Literal["raw", "replace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumOptions:
    """Options of the encoding.

    :param profile: the TiCDC program whose output is written.
    :param debezium_disable_schema: omit ``schema``; the ``payload`` wrapper stays.
    :param output_old_value: whether updates have ``before``; deletes always have it.
    :param enable_tidb_extension: add the TiDB type of each column, and send watermarks.
    :param debezium_include_start_ts: whether ``source`` of rows has the start-ts of the transaction; TiCDC
        new architecture only. Transactions here start one TSO before they commit.
    :param cluster_id: the cluster id of TiCDC, which is Debezium's logical server name.
    :param output_ddl: send DDL events; the documented protocol has none.
    :param invalid_utf8: handling of bytes in text columns that are not UTF-8: ``raw`` copies them as TiCDC
        does, so that the message is not valid JSON; ``replace`` replaces each with U+FFFD.
    :param time_zone: IANA name of the changefeed's time zone, in which TIMESTAMP values are given.
    :param large_message_handle_compression: compression of each key and value: ``none``, ``snappy`` or
        ``lz4``.
    :param build_ts_ms: ``payload.ts_ms`` in Unix milliseconds; None for the physical time of the commit.
    :raises ChangefeedError: for a combination that TiCDC does not accept.
    """

    profile: Profile = "classic"
    debezium_disable_schema: bool = False
    output_old_value: bool = True
    enable_tidb_extension: bool = False
    debezium_include_start_ts: bool = False
    cluster_id: str = "default"
    output_ddl: bool = False
    invalid_utf8: InvalidUTF8 = "raw"
    time_zone: str = "UTC"
    large_message_handle_compression: str = "none"
    build_ts_ms: int | None = None

    def __post_init__(self) -> None:
        if self.debezium_include_start_ts and self.profile != "new":
            raise ChangefeedError(
                "debezium-include-start-ts is an option of TiCDC new architecture only",
                parameter="debezium-include-start-ts",
                hint="set profile=new",
            )

    def ts_ms(self, commit_ts: int) -> int:
        """Return ``payload.ts_ms`` of the message of an event with this commit-ts."""
        return physical(commit_ts) if self.build_ts_ms is None else self.build_ts_ms
