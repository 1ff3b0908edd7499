"""Options of TiCDC without effect here: those that are ignored, and those that are refused with a reason."""

from __future__ import annotations

from ticdc_producer.model.option_type import (
    AnyText,
    Boolean,
    Choice,
    GoDuration,
    IntRange,
    Never,
    OptionType,
    Text,
    UnusedSection,
)
from ticdc_producer.model.parameter import KAFKA, STORAGE, Parameter, Profile, SinkKind, State

_COUNT = IntRange(0, (1 << 63) - 1)
_NUMBER = IntRange(-(1 << 63), (1 << 63) - 1)
_POSITIVE = IntRange(1, (1 << 63) - 1)
_TUNING = "it tunes a running TiCDC"
_SIMPLE = "an option of the protocol Simple; rejected with Simple"
_NO_EXPIRY = "a run ends before its files expire"
_SPOOL = "rows are buffered in Spark, not in spool files"
_NO_BDR = (
    "TiCDC classic refuses true for Kafka and storages; TiCDC new architecture leaves out rows that another "
    "changefeed wrote, and a scenario has none"
)
_SYNC_POINTS = "TiCDC has sync points for MySQL and TiDB sinks only"
_MYSQL = "an option of MySQL sinks"
_SCHEDULER = UnusedSection((
    "enable-table-across-nodes", "region-threshold", "region-per-span", "region-count-per-span",
    "region-count-refresh-interval", "write-key-threshold", "scheduling-task-count-per-node",
    "enable-splittable-check", "force-split", "balance-score-threshold", "min-traffic-percentage",
    "max-traffic-percentage", "type", "polling-time",
))  # fmt: skip
_CONSISTENT = UnusedSection((
    "level", "max-log-size", "flush-interval", "meta-flush-interval", "event-collector-batch-count",
    "encoding-worker-num", "flush-worker-num", "storage", "use-file-backend", "compression",
    "flush-concurrency", "memory-usage.memory-quota-percentage", "memory-usage.event-cache-percentage",
))  # fmt: skip
_SYNCED = UnusedSection(("synced-check-interval", "checkpoint-interval"))
_MYSQL_CONFIG = UnusedSection((
    "worker-count", "max-txn-row", "max-multi-update-row-size", "max-multi-update-row", "tidb-txn-mode",
    "ssl-ca", "ssl-cert", "ssl-key", "time-zone", "write-timeout", "read-timeout", "timeout",
    "async-ddl-timeout", "enable-batch-dml", "enable-multi-statement", "enable-cache-prepared-statement",
))  # fmt: skip
_PULSAR_CONFIG = UnusedSection((
    "tls-key-file-path", "tls-certificate-file", "tls-trust-certs-file-path", "pulsar-producer-cache-size",
    "pulsar-version", "compression-type", "authentication-token", "connection-timeout", "operation-timeout",
    "batching-max-messages", "batching-max-publish-delay", "send-timeout", "token-from-file",
    "basic-user-name", "basic-password", "auth-tls-certificate-path", "auth-tls-private-key-path",
    "oauth2.oauth2-issuer-url", "oauth2.oauth2-audience", "oauth2.oauth2-private-key",
    "oauth2.oauth2-client-id", "oauth2.oauth2-scope", "output-raw-change-event",
))  # fmt: skip


def _ignored(
    name: str,
    value: OptionType,
    reason: str,
    *,
    file_key: str = "",
    in_uri: bool = False,
    sinks: tuple[SinkKind, ...] = (),
    profiles: tuple[Profile, ...] = (),
) -> Parameter:
    return Parameter(
        name=name,
        value=value,
        default=False if profiles else None,
        in_uri=in_uri,
        file_key=file_key,
        state=State.NO_EFFECT,
        effect=reason,
        sinks=sinks,
        profiles=profiles,
    )


def _of_client(name: str, value: OptionType) -> Parameter:
    reason = "the client of this tool has its own"
    return _ignored(name, value, reason, file_key=KAFKA + name, in_uri=True, sinks=(SinkKind.KAFKA,))


_CLIENT = (
    _of_client("kafka-version", Text()),
    *(_of_client(f"{step}-timeout", GoDuration(optional=True)) for step in ("dial", "read", "write")),
    _ignored("max-retry", _NUMBER, "a message is retried for 60 s", in_uri=True, sinks=(SinkKind.KAFKA,)),
    _ignored("enable-kafka-sink-v2", Boolean(), "it selects another client; the messages are the same",
            file_key="sink.enable-kafka-sink-v2"),
)  # fmt: skip
_PROGRAM = (
    _ignored("transaction-atomicity", Choice(choices=("none", "table"), aliases=(("", "none"),)),
            "no message depends on it; table is for storages",
            file_key="sink.transaction-atomicity", in_uri=True),
    _ignored("encoder-concurrency", _COUNT, _TUNING, file_key="sink.encoder-concurrency"),
    _ignored("advance-timeout-in-sec", _COUNT, _TUNING, file_key="sink.advance-timeout-in-sec"),
    _ignored("memory-quota", _COUNT, _TUNING, file_key="memory-quota"),
    _ignored("check-gc-safe-point", Boolean(), _TUNING, file_key="check-gc-safe-point"),
    _ignored("changefeed-error-stuck-duration", GoDuration(low_ms=1_800_000), _TUNING,
            file_key="changefeed-error-stuck-duration"),
    _ignored("performance-mode", Choice(choices=("throughput", "low-latency"), aliases=(("", "throughput"),)),
            _TUNING, file_key="performance-mode"),
    _ignored("event-collector-batch-count", IntRange(0, 8192), _TUNING,
            file_key="event-collector-batch-count"),
    _ignored("event-collector-batch-bytes", _COUNT, _TUNING, file_key="event-collector-batch-bytes"),
    _ignored("synced-status", _SYNCED, "a query about a running TiCDC", file_key="synced-status"),
    _ignored("worker-num", _COUNT, _TUNING, file_key="mounter.worker-num"),
    _ignored("enable-table-monitor", Boolean(), _TUNING, file_key="enable-table-monitor"),
    _ignored("scheduler", _SCHEDULER, "one node is simulated, so no table is split", file_key="scheduler"),
    _ignored("consistent", _CONSISTENT, "redo logs change no message", file_key="consistent"),
    _ignored("corruption-handle-level", Choice(choices=("warn", "error")),
            "no row of a scenario is corrupted", file_key="integrity.corruption-handle-level"),
    _ignored("ignore-ineligible-table", Boolean(), "tables without a handle key are left out and reported",
            file_key="ignore-ineligible-table"),
    _ignored("sql-mode", AnyText(), "the scenario's session has its own", file_key="sql-mode"),
)  # fmt: skip
_STORAGE = (
    _ignored(
        "worker-count",
        _POSITIVE,
        _TUNING,
        file_key=STORAGE + "worker-count",
        in_uri=True,
        sinks=(SinkKind.STORAGE,),
    ),
    _ignored("flush-concurrency", _NUMBER, _TUNING, file_key=STORAGE + "flush-concurrency"),
    _ignored("file-expiration-days", _NUMBER, _NO_EXPIRY, file_key=STORAGE + "file-expiration-days"),
    _ignored("file-cleanup-cron-spec", AnyText(), _NO_EXPIRY, file_key=STORAGE + "file-cleanup-cron-spec"),
    _ignored(
        "spool-disk-quota",
        _POSITIVE,
        _SPOOL,
        file_key=STORAGE + "spool-disk-quota",
        in_uri=True,
        sinks=(SinkKind.STORAGE,),
    ),
    _ignored(
        "spool-base-dir",
        AnyText(),
        _SPOOL,
        file_key=STORAGE + "spool-base-dir",
        in_uri=True,
        sinks=(SinkKind.STORAGE,),
    ),
)
_ELSEWHERE = (
    _ignored("enable-sync-point", Never(_SYNC_POINTS), f"true is refused: {_SYNC_POINTS}",
            file_key="enable-sync-point"),
    _ignored("sync-point-interval", GoDuration(), _MYSQL, file_key="sync-point-interval"),
    _ignored("sync-point-retention", GoDuration(), _MYSQL, file_key="sync-point-retention"),
    _ignored("safe-mode", Boolean(), _MYSQL, file_key="sink.safe-mode"),
    _ignored("mysql-config", _MYSQL_CONFIG, _MYSQL, file_key="sink.mysql-config"),
    _ignored("pulsar-config", _PULSAR_CONFIG, "the client of Pulsar sinks", file_key="sink.pulsar-config"),
    _ignored("bdr-mode", Boolean(), _NO_BDR, file_key="bdr-mode", profiles=("new",)),
    _ignored("active-active-progress-interval", GoDuration(low_ms=1), _MYSQL,
            file_key="active-active-progress-interval"),
    _ignored("active-active-sync-stats-interval", GoDuration(low_ms=0), _MYSQL,
            file_key="active-active-sync-stats-interval"),
    _ignored("send-all-bootstrap-at-start", Boolean(), _SIMPLE, file_key="sink.send-all-bootstrap-at-start"),
)  # fmt: skip

WITHOUT_EFFECT = (*_CLIENT, *_PROGRAM, *_STORAGE, *_ELSEWHERE)

_OF_THE_ROOT = "TiCDC's API does not pass it on"
KEYS_OF_NO_API = {
    "sink.case-sensitive": f"{_OF_THE_ROOT}; case-sensitive is the key",
    "sink.force-replicate": f"{_OF_THE_ROOT}; force-replicate is the key",
    "sink.integrity": f"{_OF_THE_ROOT}; integrity is the key",
}
"""Keys that a file may have a second time, and that are lost (ticdc ``api/v2/model.go``, ``SinkConfig``)."""


_KERBEROS = "the Kafka client that pip installs is built without Kerberos"
_OAUTH = "use -X sasl.mechanism=OAUTHBEARER and -X sasl.oauthbearer.…"
_CREDENTIALS = (
    "the file system reads them from its environment, as s3fs AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL"
)
_OLD_VALUE = "TiCDC removed it in v7.4.0 (tiflow#9224): leave it out, or set output-old-value of the protocol"
_CYCLIC = "TiCDC removed it after v6.1 (tiflow#5850): leave it out"


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
    _rejected("enable-old-value", _OLD_VALUE, file_key="enable-old-value", in_uri=False),
    _rejected("cyclic-replication", _CYCLIC, file_key="cyclic-replication", in_uri=False),
)  # fmt: skip
