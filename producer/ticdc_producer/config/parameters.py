"""The table of all options of a changefeed; parsing and the documentation are derived from it.

TiCDC's names, defaults and keys: tiflow ``pkg/sink/kafka/options.go``,
``pkg/sink/codec/common/config.go``, ``pkg/config/sink.go``, ``pkg/config/replica_config.go``.
"""

from __future__ import annotations

from ticdc_producer.config.ignored_parameters import WITHOUT_EFFECT
from ticdc_producer.config.option_type import (
    Boolean,
    Choice,
    IntRange,
    OptionType,
    Plain,
    ProtocolName,
    Secret,
    StorageURI,
    Text,
    TimeZone,
)
from ticdc_producer.config.parameter import CODEC, KAFKA, LARGE, Owner, Parameter, SinkKind, State
from ticdc_producer.config.rejected_parameters import REFUSED
from ticdc_producer.config.storage_parameters import OF_STORAGE

INT32_MAX = (1 << 31) - 1
MAX_PARTITIONS = 10_000
PROTOCOL = ProtocolName(
    choices=("open-protocol", "canal-json", "debezium", "craft", "simple", "avro", "csv"),
    foreign=("canal", "maxwell", "debezium-avro"),
    aliases=(("default", "open-protocol"), ("flat-avro", "avro")),
)
PROTOCOLS_OF = {
    SinkKind.KAFKA: ("open-protocol", "canal-json", "debezium", "craft", "simple", "avro"),
    SinkKind.STORAGE: ("csv", "canal-json"),
}
"""TiCDC's protocols of each sink (tiflow ``pkg/config/sink.go``); codecs of other packages are for Kafka."""
NOT_IN_NEW = ("craft",)
"""Protocols that TiCDC new architecture does not have."""
COMPRESSION = Choice(choices=("none", "gzip", "snappy", "lz4", "zstd"))
ACKNOWLEDGEMENTS = Choice(choices=("-1", "0", "1"), aliases=(("all", "-1"),))
MECHANISM = Choice(choices=("plain", "scram-sha-256", "scram-sha-512"), foreign=("gssapi", "oauthbearer"))
LARGE_MESSAGES = Choice(choices=("none", "handle-key-only", "claim-check"))
MESSAGE_COMPRESSION = Choice(choices=("none", "snappy", "lz4"))
OPEN, CANAL_JSON, DEBEZIUM, CRAFT = "open-protocol", "canal-json", "debezium", "craft"
SIMPLE, AVRO, CSV = "simple", "avro", "csv"
_ONLY_KAFKA = (SinkKind.KAFKA,)
_COUNT = IntRange(0, (1 << 63) - 1)

_MESSAGES = (
    Parameter(
        name="protocol", value=PROTOCOL, default="open-protocol", file_key="sink.protocol",
        effect="Message format.",
    ),
    Parameter(
        name="max-message-bytes", value=IntRange(1, INT32_MAX), default=10_485_760,
        file_key=KAFKA + "max-message-bytes", sinks=_ONLY_KAFKA,
        effect="Largest message in bytes, as the protocol counts it.",
    ),
    Parameter(
        name="max-batch-size", value=IntRange(1, INT32_MAX), default=16, file_key=CODEC + "max-batch-size",
        sinks=_ONLY_KAFKA,
        effect="Maximum number of rows in one message.",
    ),
    Parameter(
        name="enable-tidb-extension", value=Boolean(), default=False,
        file_key=CODEC + "enable-tidb-extension",
        effect="Adds TiDB's own fields and watermark messages; Open Protocol and Craft have none and ignore "
        "it.",
    ),
    Parameter(
        name="only-output-updated-columns", value=Boolean(), default=False,
        file_key="sink.only-output-updated-columns", protocols=(OPEN, CANAL_JSON),
        effect="Old images of updates hold the changed columns only.",
    ),
    Parameter(
        name="output-old-value", value=Boolean(), default=True, in_uri=False,
        file_key="sink.open.output-old-value", protocols=(OPEN, DEBEZIUM, CSV),
        effect="Whether updates carry the old image; for Debezium: sink.debezium.output-old-value, for CSV: "
        "sink.csv.output-old-value, where it is false by default.",
    ),
    Parameter(
        name="delete-only-output-handle-key-columns", value=Boolean(), default=False, in_uri=False,
        file_key="sink.delete-only-output-handle-key-columns", protocols=(OPEN, CANAL_JSON, CRAFT),
        effect="Deletes carry the handle key columns only.",
    ),
    Parameter(
        name="content-compatible", value=Boolean(), default=False, file_key="sink.content-compatible",
        protocols=(CANAL_JSON,),
        effect="As official Canal: types with their parameters, old images with the changed columns only.",
    ),
    Parameter(
        name="debezium-disable-schema", value=Boolean(), default=False,
        file_key="sink.debezium-disable-schema", protocols=(DEBEZIUM,),
        effect="Messages without their schema.",
    ),
    Parameter(
        name="output-row-key", value=Boolean(), default=False, protocols=(CANAL_JSON,), profiles=("new",),
        effect="TiKV's key of the row in _tidb; without the extension no effect.",
    ),
    Parameter(
        name="debezium-include-start-ts", value=Boolean(), default=False, protocols=(DEBEZIUM,),
        profiles=("new",), effect="The transaction's start-ts in source: one TSO before its commit.",
    ),
    Parameter(
        name="output-raw-change-event", value=Boolean(), default=False, in_uri=False,
        file_key=KAFKA + "output-raw-change-event",
        effect="Updates that change a key stay one event instead of a delete and an insert; for storage: "
        "sink.cloud-storage-config.output-raw-change-event.",
    ),
    Parameter(
        name="large-message-handle-option", value=LARGE_MESSAGES, default="none", in_uri=False,
        file_key=LARGE + "large-message-handle-option", protocols=(OPEN, CANAL_JSON, SIMPLE),
        sinks=_ONLY_KAFKA,
        effect="How a row that exceeds max-message-bytes is sent; none: the changefeed fails.",
    ),
    Parameter(
        name="large-message-handle-compression", value=MESSAGE_COMPRESSION, default="none", in_uri=False,
        file_key=LARGE + "large-message-handle-compression",
        protocols=(OPEN, CANAL_JSON, DEBEZIUM, SIMPLE), sinks=_ONLY_KAFKA,
        effect="Compression of the content of every message, of any size.",
    ),
    Parameter(
        name="claim-check-storage-uri", value=StorageURI(), default="", in_uri=False,
        file_key=LARGE + "claim-check-storage-uri", protocols=(OPEN, CANAL_JSON, SIMPLE),
        sinks=_ONLY_KAFKA,
        effect="Where claim-check stores the rows that are too large.",
    ),
    Parameter(
        name="claim-check-raw-value", value=Boolean(), default=False, in_uri=False,
        file_key=LARGE + "claim-check-raw-value", protocols=(CANAL_JSON, SIMPLE),
        sinks=_ONLY_KAFKA,
        effect="Claim-check stores bare values, not wrapped in JSON.",
    ),
    Parameter(
        name="encoding-format", value=Choice(choices=("json", "avro")), default="json",
        file_key=CODEC + "encoding-format", protocols=(SIMPLE,), effect="Format of the messages.",
    ),
    Parameter(
        name="send-bootstrap-interval-in-sec", value=_COUNT, default=120, in_uri=False,
        file_key="sink.send-bootstrap-interval-in-sec", protocols=(SIMPLE,),
        effect="Seconds of the commit clock after which a table's schema is sent again; 0: never.",
    ),
    Parameter(
        name="send-bootstrap-in-msg-count", value=_COUNT, default=10_000, in_uri=False,
        file_key="sink.send-bootstrap-in-msg-count", protocols=(SIMPLE,),
        effect="Number of a table's rows after which its schema is sent again; 0: never.",
    ),
    Parameter(
        name="avro-decimal-handling-mode", value=Choice(choices=("precise", "string")), default="precise",
        file_key=CODEC + "avro-decimal-handling-mode", protocols=(AVRO,),
        effect="DECIMAL as Avro's decimal, or as text.",
    ),
    Parameter(
        name="avro-bigint-unsigned-handling-mode", value=Choice(choices=("long", "string")), default="long",
        file_key=CODEC + "avro-bigint-unsigned-handling-mode", protocols=(AVRO,),
        effect="BIGINT UNSIGNED as 64 bits that readers interpret as signed, or as text.",
    ),
    Parameter(
        name="avro-enable-watermark", value=Boolean(), default=False,
        file_key=CODEC + "avro-enable-watermark", protocols=(AVRO,),
        effect="With the TiDB extension: DDL and watermark messages, in a form that TiCDC uses in its own "
        "tests.",
    ),
)  # fmt: skip
_UPSTREAM = (
    Parameter(
        name="case-sensitive", value=Boolean(), default=False, in_uri=False, file_key="case-sensitive",
        effect="Whether matchers are case-sensitive.",
    ),
    Parameter(
        name="force-replicate", value=Boolean(), default=False, in_uri=False, file_key="force-replicate",
        effect="Replicates tables without a handle key too.",
    ),
)  # fmt: skip
_KAFKA = (
    Parameter(
        name="partition-num", value=IntRange(1, MAX_PARTITIONS), default=3, file_key=KAFKA + "partition-num",
        sinks=_ONLY_KAFKA,
        effect="Partitions of each topic.",
    ),
    Parameter(
        name="replication-factor", value=IntRange(1, 32_767), default=1,
        file_key=KAFKA + "replication-factor", sinks=_ONLY_KAFKA,
        effect="Replicas of topics that are created.",
    ),
    Parameter(
        name="compression", value=COMPRESSION, default="none", file_key=KAFKA + "compression",
        sinks=_ONLY_KAFKA,
        effect="Compression of Kafka's record batches.",
    ),
    Parameter(
        name="required-acks", value=ACKNOWLEDGEMENTS, default="-1", file_key=KAFKA + "required-acks",
        sinks=_ONLY_KAFKA,
        effect="Accepted; a run always waits for all replicas, so that no message is lost or duplicated.",
    ),
    Parameter(
        name="auto-create-topic", value=Boolean(), default=True, file_key=KAFKA + "auto-create-topic",
        sinks=_ONLY_KAFKA,
        effect="Creates missing topics; false: topics must exist.",
    ),
)  # fmt: skip


def _ours(
    name: str,
    value: OptionType,
    default: Plain,
    effect: str,
    *protocols: str,
    sinks: tuple[SinkKind, ...] = (),
) -> Parameter:
    return Parameter(
        name=name,
        value=value,
        default=default,
        effect=effect,
        owner=Owner.OURS,
        protocols=protocols,
        sinks=sinks,
    )


_OURS = (
    _ours("profile", Choice(choices=("classic", "new")), "classic",
          "Which TiCDC is simulated: classic (tiflow) or new (pingcap/ticdc)."),
    _ours("batch-by", Choice(choices=("dispatch-key", "partition")), "dispatch-key",
          "Consecutive rows share a message if they have the same dispatch key, or just the same partition.",
          OPEN, CRAFT),
    _ours("output-ddl", Boolean(), None, "Whether DDL events are sent; by default Debezium sends none.",
          sinks=_ONLY_KAFKA),
    _ours("ddl-text", Choice(choices=("original", "tidb")), "original",
          "DDL as written in the scenario, or re-printed as current TiCDC does."),
    _ours("output-row-id", Boolean(), True, "Whether keys carry rid, as classic writes it.", OPEN),
    _ours("time-zone", TimeZone(), "UTC",
          "Zone in which TIMESTAMP values are rendered (TiCDC: a server setting)."),
    _ours("cluster-id", Text(), "default", "TiCDC's cluster id (TiCDC: a server setting).", DEBEZIUM),
    _ours("invalid-utf8", Choice(choices=("raw", "replace")), "raw",
          "Text that is not UTF-8: its bytes as TiCDC copies them, or U+FFFD for each byte.", DEBEZIUM),
    _ours("legacy-no-flag", Boolean(), False, "Older format: columns without f.", OPEN),
    _ours("legacy-varchar-base64", Boolean(), False, "Older format: VARCHAR and CHAR in Base64.", OPEN),
    _ours("legacy-delete-old", Boolean(), False, "Before v5.4.0: deletes repeat data in old.", CANAL_JSON),
    _ours("legacy-data-before-old", Boolean(), False, "As documented: data comes before old.", CANAL_JSON),
)  # fmt: skip


def _of_client(name: str, value: OptionType, effect: str) -> Parameter:
    return Parameter(
        name=name, value=value, effect=effect, file_key=KAFKA + name, of_client=True, sinks=_ONLY_KAFKA
    )


_CLIENT = (
    Parameter(
        name="schema-registry",
        value=Secret(),
        file_key="sink.schema-registry",
        protocols=(AVRO,),
        of_client=True,
        effect="URL of the registry that stores Avro's schemas; it may contain user and password.",
    ),
    _of_client("kafka-client-id", Text(), "Name of the clients in the brokers' logs and quotas."),
    _of_client("enable-tls", Boolean(), "TLS; without ca, brokers are checked against the system's CAs."),
    _of_client("ca", Text(), "PEM file of the CAs that brokers are checked against; enables TLS."),
    _of_client("cert", Text(), "PEM file of the client's certificate; requires ca and key."),
    _of_client("key", Text(), "PEM file of the client's private key."),
    _of_client("insecure-skip-verify", Boolean(), "TLS without verification of the broker's certificate."),
    _of_client("sasl-mechanism", MECHANISM, "SASL; gssapi and oauthbearer: see -X."),
    _of_client("sasl-user", Text(), "User of SASL."),
    _of_client(
        "sasl-password", Secret(), "Password of SASL; percent-encoded, or as ${NAME} from the environment."
    ),
)
PARAMETERS: tuple[Parameter, ...] = (
    *_MESSAGES,
    *_UPSTREAM,
    *_KAFKA,
    *OF_STORAGE,
    *_CLIENT,
    *_OURS,
    *WITHOUT_EFFECT,
    *REFUSED,
)
"""All options. Refused options have only a name and a reason."""

OF_MESSAGES = tuple(
    option for option in PARAMETERS if option.state == State.HONOURED and not option.of_client
)
"""Options that determine which messages are written and where; a manifest holds all of them."""

BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}

REFUSED_KEYS = {option.file_key: option.effect for option in REFUSED if option.file_key}
"""Keys of a changefeed file that TiCDC knows and this tool refuses, with the reason."""
