"""Options of TiCDC that are accepted and change no message, so that a real changefeed works as it is."""

from __future__ import annotations

from ticdc_producer.config.option_type import Anything, Flag, Text, ValueRule, Whole, Word
from ticdc_producer.config.parameter import KAFKA, STORAGE, Parameter, State

_COUNT = Whole(0, (1 << 63) - 1)
_TUNING = "it tunes a running TiCDC"
_SIMPLE = "of the protocol Simple, which refuses it"
_NO_EXPIRY = "a run ends before its files expire"
_SPOOL = "rows wait in Spark, not in a spool of files"
_MYSQL = "of MySQL sinks"


def _unused(
    name: str, value: ValueRule, reason: str, *, file_key: str = "", in_uri: bool = False
) -> Parameter:
    return Parameter(
        name=name, value=value, in_uri=in_uri, file_key=file_key, state=State.NO_EFFECT, effect=reason
    )


_CLIENT = (
    *(
        _unused(name, Text(), "this client has its own", file_key=KAFKA + name, in_uri=True)
        for name in ("kafka-version", "dial-timeout", "read-timeout", "write-timeout")
    ),
    _unused("max-retry", _COUNT, "a message is tried again for 60 s", in_uri=True),
    _unused("enable-kafka-sink-v2", Flag(), "another client, the same messages",
            file_key="sink.enable-kafka-sink-v2"),
)  # fmt: skip
_PROGRAM = (
    _unused("transaction-atomicity", Word(choices=("none",)), "the only one that Kafka sinks have",
            file_key="sink.transaction-atomicity", in_uri=True),
    _unused("encoder-concurrency", _COUNT, _TUNING, file_key="sink.encoder-concurrency"),
    _unused("advance-timeout-in-sec", _COUNT, _TUNING, file_key="sink.advance-timeout-in-sec"),
    _unused("memory-quota", _COUNT, _TUNING, file_key="memory-quota"),
    _unused("check-gc-safe-point", Flag(), _TUNING, file_key="check-gc-safe-point"),
    _unused("changefeed-error-stuck-duration", Text(), _TUNING, file_key="changefeed-error-stuck-duration"),
    _unused("worker-num", _COUNT, _TUNING, file_key="mounter.worker-num"),
    _unused("enable-table-monitor", Flag(), _TUNING, file_key="enable-table-monitor"),
    _unused("scheduler", Anything(), "one node is simulated, so no table is spread", file_key="scheduler"),
    _unused("consistent", Anything(), "redo logs change no message", file_key="consistent"),
    _unused("integrity", Anything(), "only Avro and Simple carry checksums; refused with both",
            file_key="integrity"),
    _unused("ignore-ineligible-table", Flag(), "tables without a handle key are left out and told",
            file_key="ignore-ineligible-table"),
    _unused("sql-mode", Text(), "the scenario's session has its own", file_key="sql-mode"),
)  # fmt: skip
_STORAGE = (
    _unused("worker-count", _COUNT, _TUNING, file_key=STORAGE + "worker-count", in_uri=True),
    _unused("flush-concurrency", _COUNT, _TUNING, file_key=STORAGE + "flush-concurrency"),
    _unused("file-expiration-days", _COUNT, _NO_EXPIRY, file_key=STORAGE + "file-expiration-days"),
    _unused("file-cleanup-cron-spec", Text(), _NO_EXPIRY, file_key=STORAGE + "file-cleanup-cron-spec"),
    _unused("spool-disk-quota", _COUNT, _SPOOL, file_key=STORAGE + "spool-disk-quota", in_uri=True),
    _unused("spool-base-dir", Text(), _SPOOL, file_key=STORAGE + "spool-base-dir", in_uri=True),
)
_ELSEWHERE = (
    _unused("enable-sync-point", Flag(), _MYSQL, file_key="enable-sync-point"),
    _unused("sync-point-interval", Text(), _MYSQL, file_key="sync-point-interval"),
    _unused("sync-point-retention", Text(), _MYSQL, file_key="sync-point-retention"),
    _unused("safe-mode", Flag(), _MYSQL, file_key="sink.safe-mode"),
    _unused("mysql-config", Anything(), _MYSQL, file_key="sink.mysql-config"),
    _unused("pulsar-config", Anything(), "of Pulsar sinks", file_key="sink.pulsar-config"),
    _unused("send-bootstrap-to-all-partition", Flag(), _SIMPLE,
            file_key="sink.send-bootstrap-to-all-partition"),
    _unused("send-all-bootstrap-at-start", Flag(), _SIMPLE, file_key="sink.send-all-bootstrap-at-start"),
    _unused("glue-schema-registry-config", Anything(), "of Avro, which refuses it",
            file_key=KAFKA + "glue-schema-registry-config"),
)  # fmt: skip

WITHOUT_EFFECT = (*_CLIENT, *_PROGRAM, *_STORAGE, *_ELSEWHERE)
