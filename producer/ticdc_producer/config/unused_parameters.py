"""Options of TiCDC without effect here: those that are ignored, and those that are rejected with a reason."""

from __future__ import annotations

from ticdc_producer.model.option_type import Anything, Boolean, Choice, IntRange, OptionType, Text
from ticdc_producer.model.parameter import KAFKA, STORAGE, Parameter, State

_COUNT = IntRange(0, (1 << 63) - 1)
_TUNING = "it tunes a running TiCDC"
_SIMPLE = "an option of the protocol Simple; rejected with Simple"
_NO_EXPIRY = "a run ends before its files expire"
_SPOOL = "rows are buffered in Spark, not in spool files"
_MYSQL = "an option of MySQL sinks"


def _ignored(
    name: str, value: OptionType, reason: str, *, file_key: str = "", in_uri: bool = False
) -> Parameter:
    return Parameter(
        name=name, value=value, in_uri=in_uri, file_key=file_key, state=State.NO_EFFECT, effect=reason
    )


_CLIENT = (
    *(
        _ignored(name, Text(), "the client of this tool has its own", file_key=KAFKA + name, in_uri=True)
        for name in ("kafka-version", "dial-timeout", "read-timeout", "write-timeout")
    ),
    _ignored("max-retry", _COUNT, "a message is retried for 60 s", in_uri=True),
    _ignored("enable-kafka-sink-v2", Boolean(), "it selects another client; the messages are the same",
            file_key="sink.enable-kafka-sink-v2"),
)  # fmt: skip
_PROGRAM = (
    _ignored("transaction-atomicity", Choice(choices=("none",)), "the only value that Kafka sinks have",
            file_key="sink.transaction-atomicity", in_uri=True),
    _ignored("encoder-concurrency", _COUNT, _TUNING, file_key="sink.encoder-concurrency"),
    _ignored("advance-timeout-in-sec", _COUNT, _TUNING, file_key="sink.advance-timeout-in-sec"),
    _ignored("memory-quota", _COUNT, _TUNING, file_key="memory-quota"),
    _ignored("check-gc-safe-point", Boolean(), _TUNING, file_key="check-gc-safe-point"),
    _ignored("changefeed-error-stuck-duration", Text(), _TUNING, file_key="changefeed-error-stuck-duration"),
    _ignored("worker-num", _COUNT, _TUNING, file_key="mounter.worker-num"),
    _ignored("enable-table-monitor", Boolean(), _TUNING, file_key="enable-table-monitor"),
    _ignored("scheduler", Anything(), "one node is simulated, so no table is split", file_key="scheduler"),
    _ignored("consistent", Anything(), "redo logs change no message", file_key="consistent"),
    _ignored("integrity", Anything(), "only Avro and Simple carry checksums; rejected with both",
            file_key="integrity"),
    _ignored("ignore-ineligible-table", Boolean(), "tables without a handle key are left out and reported",
            file_key="ignore-ineligible-table"),
    _ignored("sql-mode", Text(), "the scenario's session has its own", file_key="sql-mode"),
)  # fmt: skip
_STORAGE = (
    _ignored("worker-count", _COUNT, _TUNING, file_key=STORAGE + "worker-count", in_uri=True),
    _ignored("flush-concurrency", _COUNT, _TUNING, file_key=STORAGE + "flush-concurrency"),
    _ignored("file-expiration-days", _COUNT, _NO_EXPIRY, file_key=STORAGE + "file-expiration-days"),
    _ignored("file-cleanup-cron-spec", Text(), _NO_EXPIRY, file_key=STORAGE + "file-cleanup-cron-spec"),
    _ignored("spool-disk-quota", _COUNT, _SPOOL, file_key=STORAGE + "spool-disk-quota", in_uri=True),
    _ignored("spool-base-dir", Text(), _SPOOL, file_key=STORAGE + "spool-base-dir", in_uri=True),
)
_ELSEWHERE = (
    _ignored("enable-sync-point", Boolean(), _MYSQL, file_key="enable-sync-point"),
    _ignored("sync-point-interval", Text(), _MYSQL, file_key="sync-point-interval"),
    _ignored("sync-point-retention", Text(), _MYSQL, file_key="sync-point-retention"),
    _ignored("safe-mode", Boolean(), _MYSQL, file_key="sink.safe-mode"),
    _ignored("mysql-config", Anything(), _MYSQL, file_key="sink.mysql-config"),
    _ignored("pulsar-config", Anything(), "an option of Pulsar sinks", file_key="sink.pulsar-config"),
    _ignored("send-bootstrap-to-all-partition", Boolean(), _SIMPLE,
            file_key="sink.send-bootstrap-to-all-partition"),
    _ignored("send-all-bootstrap-at-start", Boolean(), _SIMPLE, file_key="sink.send-all-bootstrap-at-start"),
    _ignored("glue-schema-registry-config", Anything(), "an option of Avro; rejected with Avro",
            file_key=KAFKA + "glue-schema-registry-config"),
)  # fmt: skip

WITHOUT_EFFECT = (*_CLIENT, *_PROGRAM, *_STORAGE, *_ELSEWHERE)


_KERBEROS = "the Kafka client that pip installs is built without Kerberos"
_OAUTH = "use -X sasl.mechanism=OAUTHBEARER and -X sasl.oauthbearer.…"
_CREDENTIALS = (
    "the file system reads them from its environment, as s3fs AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL"
)
_BY_NAME = "files of a table are always in a directory named after the table"
_BIDIRECTIONAL = "rows that come back from another cluster, and DDL by its role, are not simulated"


def _rejected(name: str, reason: str, *, file_key: str, in_uri: bool = True) -> Parameter:
    return Parameter(
        name=name, value=Text(), state=State.REJECTED, effect=reason, file_key=file_key, in_uri=in_uri
    )


REJECTED = (
    *(
        _rejected(f"sasl-gssapi-{name}", _KERBEROS, file_key=f"{KAFKA}sasl-gssapi-{name}")
        for name in (
            "auth-type", "keytab-path", "kerberos-config-path", "service-name", "user", "password", "realm",
            "disable-pafxfast",
        )
    ),
    *(
        _rejected(f"sasl-oauth-{name}", _OAUTH, file_key=f"{KAFKA}sasl-oauth-{name}")
        for name in ("client-id", "client-secret", "token-url", "scopes", "grant-type", "audience")
    ),
    *(
        _rejected(name, _CREDENTIALS, file_key="")
        for name in (
            "access-key", "secret-access-key", "session-token", "endpoint", "region", "force-path-style",
            "provider", "storage-class", "sse", "sse-kms-key-id", "acl", "role-arn", "external-id",
            "credentials-file", "predefined-acl", "account-name", "account-key", "sas-token", "access-tier",
        )
    ),
    _rejected("use-table-id-as-path", _BY_NAME, file_key=STORAGE + "use-table-id-as-path"),
    _rejected("bdr-mode", _BIDIRECTIONAL, file_key="bdr-mode", in_uri=False),
)  # fmt: skip
