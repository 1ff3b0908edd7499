"""Every option of a changefeed in one table: parsing is driven from it and documentation made of it.

TiCDC's names, defaults and places: tiflow ``pkg/sink/kafka/options.go``,
``pkg/sink/codec/common/config.go``, ``pkg/config/sink.go``, ``pkg/config/replica_config.go``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from producer.changefeed.value_rule import (
    Flag,
    Plain,
    Secret,
    StorageURI,
    Text,
    TimeZone,
    ValueRule,
    Whole,
    Word,
)
from producer.model.profile import Profile


class Owner(StrEnum):
    """Whose option it is."""

    TICDC = "TiCDC"
    OURS = "ours"


class State(StrEnum):
    """What this tool does with an option of TiCDC."""

    HONOURED = "honoured"
    NO_EFFECT = "no effect"
    NOT_YET = "not supported yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One option.

    :param name: as a sink URI spells it.
    :param value: what it may be.
    :param effect: what it does here, for the reader of the documentation.
    :param default: its value when nobody gives one.
    :param in_uri: whether a sink URI may carry it.
    :param file_key: its dotted place in a changefeed file; empty if it has none.
    :param protocols: the protocols that have it; empty for all.
    :param profiles: the programs that have it; empty for both.
    :param of_client: it tells how Kafka is reached, and stands in no manifest.
    """

    name: str
    value: ValueRule
    effect: str
    default: Plain = None
    owner: Owner = Owner.TICDC
    state: State = State.HONOURED
    in_uri: bool = True
    file_key: str = ""
    protocols: tuple[str, ...] = ()
    profiles: tuple[Profile, ...] = ()
    of_client: bool = False

    @property
    def field(self) -> str:
        """Name of the attribute of ``Changefeed``."""
        return self.name.replace("-", "_")


INT32_MAX = (1 << 31) - 1
MAX_PARTITIONS = 10_000
PROTOCOL = Word(
    choices=("open-protocol", "canal-json", "debezium", "craft"),
    foreign=("avro", "canal", "csv", "maxwell", "simple", "debezium-avro"),
    aliases=(("default", "open-protocol"),),
)
NOT_IN_NEW = ("craft",)
"""Protocols that the new program has given up."""
COMPRESSION = Word(choices=("none", "gzip", "snappy", "lz4", "zstd"))
ACKNOWLEDGEMENTS = Word(choices=("-1", "0", "1"), aliases=(("all", "-1"),))
MECHANISM = Word(choices=("plain", "scram-sha-256", "scram-sha-512"), foreign=("gssapi", "oauthbearer"))
LARGE_MESSAGES = Word(choices=("none", "handle-key-only", "claim-check"))
MESSAGE_COMPRESSION = Word(choices=("none", "snappy", "lz4"))
OPEN, CANAL_JSON, DEBEZIUM, CRAFT = "open-protocol", "canal-json", "debezium", "craft"
KAFKA = "sink.kafka-config."
CODEC = "sink.kafka-config.codec-config."
LARGE = "sink.kafka-config.large-message-handle."

_MESSAGES = (
    Parameter(
        name="protocol", value=PROTOCOL, default="open-protocol", file_key="sink.protocol",
        effect="Message format.",
    ),
    Parameter(
        name="max-message-bytes", value=Whole(1, INT32_MAX), default=10_485_760,
        file_key=KAFKA + "max-message-bytes",
        effect="Largest message in bytes, as the protocol counts it.",
    ),
    Parameter(
        name="max-batch-size", value=Whole(1, INT32_MAX), default=16, file_key=CODEC + "max-batch-size",
        effect="Most rows in one message.",
    ),
    Parameter(
        name="enable-tidb-extension", value=Flag(), default=False, file_key=CODEC + "enable-tidb-extension",
        effect="Adds TiDB's own fields and watermark messages; Open Protocol and Craft have none and ignore "
        "it.",
    ),
    Parameter(
        name="only-output-updated-columns", value=Flag(), default=False,
        file_key="sink.only-output-updated-columns", protocols=(OPEN, CANAL_JSON),
        effect="Old images of updates hold the changed columns only.",
    ),
    Parameter(
        name="output-old-value", value=Flag(), default=True, in_uri=False,
        file_key="sink.open.output-old-value", protocols=(OPEN, DEBEZIUM),
        effect="Whether updates carry the old image; for Debezium: sink.debezium.output-old-value.",
    ),
    Parameter(
        name="delete-only-output-handle-key-columns", value=Flag(), default=False, in_uri=False,
        file_key="sink.delete-only-output-handle-key-columns", protocols=(OPEN, CANAL_JSON, CRAFT),
        effect="Deletes carry the handle key columns only.",
    ),
    Parameter(
        name="content-compatible", value=Flag(), default=False, file_key="sink.content-compatible",
        protocols=(CANAL_JSON,),
        effect="As official Canal: types with their parameters, old images with the changed columns only.",
    ),
    Parameter(
        name="debezium-disable-schema", value=Flag(), default=False, file_key="sink.debezium-disable-schema",
        protocols=(DEBEZIUM,), effect="Messages without their schema.",
    ),
    Parameter(
        name="output-row-key", value=Flag(), default=False, protocols=(CANAL_JSON,), profiles=("new",),
        effect="TiKV's key of the row in _tidb; without the extension no effect.",
    ),
    Parameter(
        name="debezium-include-start-ts", value=Flag(), default=False, protocols=(DEBEZIUM,),
        profiles=("new",), effect="The transaction's start-ts in source: one TSO before its commit.",
    ),
    Parameter(
        name="output-raw-change-event", value=Flag(), default=False, in_uri=False,
        file_key=KAFKA + "output-raw-change-event",
        effect="Updates that change a key stay one event instead of a delete and an insert.",
    ),
    Parameter(
        name="large-message-handle-option", value=LARGE_MESSAGES, default="none", in_uri=False,
        file_key=LARGE + "large-message-handle-option", protocols=(OPEN, CANAL_JSON),
        effect="What becomes of a row that exceeds max-message-bytes; none: the changefeed fails.",
    ),
    Parameter(
        name="large-message-handle-compression", value=MESSAGE_COMPRESSION, default="none", in_uri=False,
        file_key=LARGE + "large-message-handle-compression", protocols=(OPEN, CANAL_JSON, DEBEZIUM),
        effect="Compression of what a message holds, whatever its size.",
    ),
    Parameter(
        name="claim-check-storage-uri", value=StorageURI(), default="", in_uri=False,
        file_key=LARGE + "claim-check-storage-uri", protocols=(OPEN, CANAL_JSON),
        effect="Where claim-check keeps the rows that are too large.",
    ),
    Parameter(
        name="claim-check-raw-value", value=Flag(), default=False, in_uri=False,
        file_key=LARGE + "claim-check-raw-value", protocols=(CANAL_JSON,),
        effect="Claim-check keeps bare values, not wrapped in JSON.",
    ),
)  # fmt: skip
_UPSTREAM = (
    Parameter(
        name="case-sensitive", value=Flag(), default=False, in_uri=False, file_key="case-sensitive",
        effect="Whether matchers tell upper from lower case.",
    ),
    Parameter(
        name="force-replicate", value=Flag(), default=False, in_uri=False, file_key="force-replicate",
        effect="Replicates tables without a handle key too.",
    ),
)  # fmt: skip
_KAFKA = (
    Parameter(
        name="partition-num", value=Whole(1, MAX_PARTITIONS), default=3, file_key=KAFKA + "partition-num",
        effect="Partitions of each topic.",
    ),
    Parameter(
        name="replication-factor", value=Whole(1, 32_767), default=1, file_key=KAFKA + "replication-factor",
        effect="Replicas of topics that are created.",
    ),
    Parameter(
        name="compression", value=COMPRESSION, default="none", file_key=KAFKA + "compression",
        effect="Compression of Kafka's record batches.",
    ),
    Parameter(
        name="required-acks", value=ACKNOWLEDGEMENTS, default="-1", file_key=KAFKA + "required-acks",
        effect="Accepted; a run always waits for all replicas, since nothing may be lost or come twice.",
    ),
    Parameter(
        name="auto-create-topic", value=Flag(), default=True, file_key=KAFKA + "auto-create-topic",
        effect="Creates topics that are missing; false: they must exist.",
    ),
)  # fmt: skip


def _ours(name: str, value: ValueRule, default: Plain, effect: str, *protocols: str) -> Parameter:
    return Parameter(
        name=name, value=value, default=default, effect=effect, owner=Owner.OURS, protocols=protocols
    )


_OURS = (
    _ours("profile", Word(choices=("classic", "new")), "classic",
          "Which TiCDC is simulated: classic (tiflow) or new (pingcap/ticdc)."),
    _ours("batch-by", Word(choices=("dispatch-key", "partition")), "dispatch-key",
          "Consecutive rows share a message if they have the same dispatch key, or just the same partition.",
          OPEN, CRAFT),
    _ours("output-ddl", Flag(), None, "Whether DDL events are sent; by default Debezium sends none."),
    _ours("ddl-text", Word(choices=("original", "tidb")), "original",
          "DDL as the scenario has it, or re-printed as current TiCDC does."),
    _ours("output-row-id", Flag(), True, "Whether keys carry rid, as classic writes it.", OPEN),
    _ours("time-zone", TimeZone(), "UTC",
          "Zone in which TIMESTAMP values are rendered (TiCDC: a server setting)."),
    _ours("cluster-id", Text(), "default", "TiCDC's cluster id (TiCDC: a server setting).", DEBEZIUM),
    _ours("invalid-utf8", Word(choices=("raw", "replace")), "raw",
          "Text that is not UTF-8: its bytes as TiCDC copies them, or U+FFFD for each.", DEBEZIUM),
    _ours("legacy-no-flag", Flag(), False, "Older form: columns without f.", OPEN),
    _ours("legacy-varchar-base64", Flag(), False, "Older form: VARCHAR and CHAR in Base64.", OPEN),
    _ours("legacy-delete-old", Flag(), False, "Before v5.4.0: deletes repeat data in old.", CANAL_JSON),
    _ours("legacy-data-before-old", Flag(), False, "As documented: data stands before old.", CANAL_JSON),
)  # fmt: skip


def _idle(name: str, value: ValueRule, *, file_key: str, in_uri: bool = False) -> Parameter:
    return Parameter(
        name=name, value=value, in_uri=in_uri, file_key=file_key, state=State.NO_EFFECT,
        effect="Accepted, no effect: it tunes a running TiCDC and changes no message.",
    )  # fmt: skip


_COUNT = Whole(0, (1 << 63) - 1)
_NO_EFFECT = (
    *(
        _idle(name, Text(), file_key=KAFKA + name, in_uri=True)
        for name in ("kafka-version", "kafka-client-id", "dial-timeout", "read-timeout", "write-timeout")
    ),
    _idle(
        "transaction-atomicity", Word(choices=("none",)), file_key="sink.transaction-atomicity", in_uri=True
    ),
    _idle("encoder-concurrency", _COUNT, file_key="sink.encoder-concurrency"),
    _idle("advance-timeout-in-sec", _COUNT, file_key="sink.advance-timeout-in-sec"),
    _idle("memory-quota", _COUNT, file_key="memory-quota"),
    _idle("check-gc-safe-point", Flag(), file_key="check-gc-safe-point"),
    _idle("changefeed-error-stuck-duration", Text(), file_key="changefeed-error-stuck-duration"),
    _idle("worker-num", _COUNT, file_key="mounter.worker-num"),
)


def _of_client(name: str, value: ValueRule, effect: str) -> Parameter:
    return Parameter(name=name, value=value, effect=effect, file_key=KAFKA + name, of_client=True)


_CLIENT = (
    _of_client("enable-tls", Flag(), "TLS; without ca with the system's authorities."),
    _of_client("ca", Text(), "PEM file of the authorities that brokers are checked against; means TLS."),
    _of_client("cert", Text(), "PEM file of the client's certificate; with ca and key."),
    _of_client("key", Text(), "PEM file of its private key."),
    _of_client("insecure-skip-verify", Flag(), "TLS without checking whom the broker's certificate is of."),
    _of_client("sasl-mechanism", MECHANISM, "SASL; gssapi and oauthbearer: see -X."),
    _of_client("sasl-user", Text(), "User of SASL."),
    _of_client(
        "sasl-password", Secret(), "Password of SASL; percent-encoded, or as ${NAME} from the environment."
    ),
)
_OTHER_SECURITY = (
    "sasl-gssapi-auth-type", "sasl-gssapi-keytab-path", "sasl-gssapi-kerberos-config-path",
    "sasl-gssapi-service-name", "sasl-gssapi-user", "sasl-gssapi-password", "sasl-gssapi-realm",
    "sasl-gssapi-disable-pafxfast", "sasl-oauth-client-id", "sasl-oauth-client-secret",
    "sasl-oauth-token-url", "sasl-oauth-scopes", "sasl-oauth-grant-type", "sasl-oauth-audience",
)  # fmt: skip
_OTHER_PROTOCOLS = (
    "avro-decimal-handling-mode", "avro-bigint-unsigned-handling-mode", "avro-enable-watermark",
    "encoding-format", "schema-registry",
)  # fmt: skip


def _refused(name: str, topic: str) -> Parameter:
    return Parameter(
        name=name, value=Text(), state=State.NOT_YET, effect=f"{topic}: refused, not supported yet."
    )


_NOT_YET = (
    *(_refused(name, "TLS and SASL") for name in _OTHER_SECURITY),
    *(_refused(name, "Of another protocol") for name in _OTHER_PROTOCOLS),
)

PARAMETERS: tuple[Parameter, ...] = (
    *_MESSAGES,
    *_UPSTREAM,
    *_KAFKA,
    *_CLIENT,
    *_OURS,
    *_NO_EFFECT,
    *_NOT_YET,
)
"""The table. Of options whose state is NOT_YET only the name is known."""

OF_MESSAGES = tuple(
    option for option in PARAMETERS if option.state == State.HONOURED and not option.of_client
)
"""Options that decide what is written and where; a manifest has them all."""

BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}

FILE_KEYS_NOT_YET = frozenset({
    "filter", "integrity", "consistent", "scheduler", "enable-sync-point", "sync-point-interval",
    "sync-point-retention", "bdr-mode", "ignore-ineligible-table", "sql-mode", "enable-table-monitor",
    "sink.column-selectors", "sink.schema-registry", "sink.terminator", "sink.date-separator",
    "sink.enable-partition-separator", "sink.file-index-digit", "sink.safe-mode", "sink.csv",
    "sink.pulsar-config", "sink.mysql-config", "sink.cloud-storage-config", "sink.enable-kafka-sink-v2",
    "sink.send-bootstrap-interval-in-sec", "sink.send-bootstrap-in-msg-count",
    "sink.send-bootstrap-to-all-partition", "sink.send-all-bootstrap-at-start",
    KAFKA + "glue-schema-registry-config",
    *(KAFKA + name for name in _OTHER_SECURITY),
    *(CODEC + name for name in _OTHER_PROTOCOLS),
})  # fmt: skip
"""Keys of a changefeed file that TiCDC knows and this tool refuses for now."""
