"""The table of all options of a changefeed; parsing and the documentation are derived from it.

TiCDC's names, defaults and keys: tiflow ``pkg/sink/kafka/options.go``,
``pkg/sink/codec/common/config.go``, ``pkg/config/sink.go``, ``pkg/config/replica_config.go``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.config.storage import OF_STORAGE
from ticdc_producer.config.unused_parameters import REJECTED, WITHOUT_EFFECT
from ticdc_producer.installation import PROTOCOLS, installed
from ticdc_producer.model.option_type import (
    AnyText,
    Boolean,
    Choice,
    IntRange,
    OptionType,
    Secret,
    StorageURI,
    TimeZone,
)
from ticdc_producer.model.parameter import CODEC, KAFKA, LARGE, Parameter, SinkKind, State, own_parameter
from ticdc_producer.protocols.registry import BUILT_IN, DEFAULT_PROTOCOL, protocol_specs
from ticdc_producer.protocols.spec import ProtocolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolName(Choice):
    """A protocol: one of the choices, or one that an installed package adds."""

    def read(self, text: str) -> str:
        name = text.strip().lower()
        if name not in self.choices and name in installed(PROTOCOLS):
            return name
        return Choice.read(self, text)


PROTOCOL = ProtocolName(
    choices=tuple(BUILT_IN),
    aliases=tuple((alias, spec.name) for spec in BUILT_IN.values() for alias in spec.aliases),
)
"""TiCDC's protocols, and those of installed packages."""


INT32_MAX = (1 << 31) - 1
MAX_PARTITIONS = 10_000
COMPRESSION = Choice(choices=("none", "gzip", "snappy", "lz4", "zstd"), fallback="none")
"""TiCDC logs that it does not know a value, and compresses nothing (``pkg/sink/kafka/sarama_config.go``)."""
ACKNOWLEDGEMENTS = Choice(choices=("-1", "0", "1"), aliases=(("all", "-1"),))
MECHANISM = Choice(
    choices=("plain", "scram-sha-256", "scram-sha-512"), foreign=("gssapi", "oauthbearer"), optional=True
)
LARGE_MESSAGES = Choice(choices=("none", "handle-key-only", "claim-check"), aliases=(("", "none"),))
MESSAGE_COMPRESSION = Choice(choices=("none", "snappy", "lz4"), aliases=(("", "none"),))
_ONLY_KAFKA = (SinkKind.KAFKA,)
_TOPICS = (SinkKind.KAFKA, SinkKind.PULSAR)

_MESSAGES = (
    Parameter(
        name="protocol", value=PROTOCOL, default=DEFAULT_PROTOCOL, file_key="sink.protocol",
        effect="Message format.",
    ),
    Parameter(
        name="max-message-bytes", value=IntRange(1, INT32_MAX), default=10_485_760,
        file_key=KAFKA + "max-message-bytes", sinks=_TOPICS, checked_elsewhere=True,
        effect="Largest message in bytes, as the protocol counts it.",
    ),
    Parameter(
        name="max-batch-size", value=IntRange(1, INT32_MAX), default=16, file_key=CODEC + "max-batch-size",
        sinks=_TOPICS, checked_elsewhere=True,
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
        file_key="sink.only-output-updated-columns", of_codec=True,
        ignored_elsewhere=True,
        effect="Old images of updates hold the changed columns only.",
    ),
    Parameter(
        name="output-old-value", value=Boolean(), default=True, in_uri=False,
        file_key="sink.open.output-old-value", of_codec=True,
        effect="Whether updates carry the old image; for Debezium: sink.debezium.output-old-value, for CSV: "
        "sink.csv.output-old-value, where it is false by default.",
    ),
    Parameter(
        name="delete-only-output-handle-key-columns", value=Boolean(), default=False, in_uri=False,
        file_key="sink.delete-only-output-handle-key-columns", of_codec=True,
        ignored_elsewhere=True,
        effect="Deletes carry the handle key columns only.",
    ),
    Parameter(
        name="output-raw-change-event", value=Boolean(), default=False, in_uri=False,
        file_key=KAFKA + "output-raw-change-event",
        effect="Updates that change a key stay one event instead of a delete and an insert; for storage: "
        "sink.cloud-storage-config.output-raw-change-event, for Pulsar: "
        "sink.pulsar-config.output-raw-change-event.",
    ),
    Parameter(
        name="large-message-handle-option", value=LARGE_MESSAGES, default="none", in_uri=False,
        file_key=LARGE + "large-message-handle-option", of_codec=True,
        sinks=_TOPICS, checked_elsewhere=True,
        effect="How a row that exceeds max-message-bytes is sent; none: the changefeed fails.",
    ),
    Parameter(
        name="large-message-handle-compression", value=MESSAGE_COMPRESSION, default="none", in_uri=False,
        file_key=LARGE + "large-message-handle-compression",
        of_codec=True, sinks=_TOPICS,
        ignored_elsewhere=True, checked_elsewhere=True,
        effect="Compression of the content of every message, of any size.",
    ),
    Parameter(
        name="claim-check-storage-uri", value=StorageURI(), default="", in_uri=False,
        file_key=LARGE + "claim-check-storage-uri", of_codec=True,
        sinks=_TOPICS,
        ignored_elsewhere=True,
        effect="Where claim-check stores the rows that are too large.",
    ),
    Parameter(
        name="claim-check-raw-value", value=Boolean(), default=False, in_uri=False,
        file_key=LARGE + "claim-check-raw-value", of_codec=True,
        sinks=_TOPICS,
        ignored_elsewhere=True,
        effect="Claim-check stores bare values, not wrapped in JSON.",
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
_INTEGRITY = (
    Parameter(
        name="integrity-check-level", value=Choice(choices=("none", "correctness")), default="none",
        in_uri=False, file_key="integrity.integrity-check-level", of_codec=True, sinks=_TOPICS,
        ignored_elsewhere=True, checked_elsewhere=True,
        effect="correctness: rows carry checksums over their columns, as if "
        "tidb_enable_row_level_checksum were on upstream.",
    ),
)  # fmt: skip
_KAFKA = (
    Parameter(
        name="partition-num", value=IntRange(1, MAX_PARTITIONS), default=3, file_key=KAFKA + "partition-num",
        sinks=_ONLY_KAFKA,
        effect="Partitions of topics that a run creates, and those that it uses of the sink URI's topic.",
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


_OURS = (
    own_parameter("profile", Choice(choices=("classic", "new")), "classic",
          "Which TiCDC is simulated: classic (tiflow) or new (pingcap/ticdc)."),
    own_parameter("batch-by", Choice(choices=("dispatch-key", "partition")), "dispatch-key",
          "Consecutive rows share a message if they have the same dispatch key, or just the same partition.",
          of_codec=True),
    own_parameter("output-ddl", Boolean(), None,
          "Whether DDL events are sent; by default Debezium sends none.", sinks=_TOPICS),
    own_parameter("ddl-text", Choice(choices=("tidb", "original")), "tidb",
          "DDL as TiDB prints it, which TiCDC sends, or as written in the scenario."),
    own_parameter("time-zone", TimeZone(), "UTC",
          "Zone in which TIMESTAMP values are rendered (TiCDC: a server setting)."),
)  # fmt: skip


def _of_client(name: str, value: OptionType, effect: str) -> Parameter:
    return Parameter(
        name=name, value=value, effect=effect, file_key=KAFKA + name, of_client=True, sinks=_ONLY_KAFKA
    )


_CLIENT = (
    _of_client("kafka-client-id", AnyText(), "Name of the clients in the brokers' logs and quotas."),
    _of_client("enable-tls", Boolean(), "TLS; without ca, brokers are checked against the system's CAs."),
    _of_client("ca", AnyText(), "PEM file of the CAs that brokers are checked against; enables TLS."),
    _of_client("cert", AnyText(), "PEM file of the client's certificate; requires ca and key."),
    _of_client("key", AnyText(), "PEM file of the client's private key."),
    _of_client("insecure-skip-verify", Boolean(), "TLS without verification of the broker's certificate."),
    _of_client("sasl-mechanism", MECHANISM, "SASL; gssapi and oauthbearer: see -X."),
    _of_client("sasl-user", AnyText(), "User of SASL."),
    _of_client(
        "sasl-password", Secret(), "Password of SASL; percent-encoded, or as ${NAME} from the environment."
    ),
)
_GENERAL = (*_MESSAGES, *_UPSTREAM, *_INTEGRITY, *_KAFKA, *OF_STORAGE, *_CLIENT, *_OURS)
_NAMES_OF_ALL = {option.name for option in _GENERAL}
_OF_SOME_PROTOCOLS = tuple(dict.fromkeys(option for spec in BUILT_IN.values() for option in spec.parameters))
PARAMETERS: tuple[Parameter, ...] = (*_GENERAL, *_OF_SOME_PROTOCOLS, *WITHOUT_EFFECT, *REJECTED)
"""All options. Rejected options have only a name and a reason."""

OF_MESSAGES = tuple(
    option for option in PARAMETERS if option.state == State.HONOURED and not option.of_client
)
"""Options that determine which messages are written and where; a manifest holds all of them."""

BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}
OF_COMMIT_TS = ("enable-tidb-extension", "include-commit-ts")
"""The parameters with which messages have a commit-ts, in protocols that have none otherwise."""


def parameter(name: str) -> Parameter | None:
    """Return the parameter of this name, also one of an installed protocol; None if there is none."""
    if name in BY_NAME:
        return BY_NAME[name]
    return next(
        (option for spec in protocol_specs() for option in spec.parameters if option.name == name), None
    )


def has_parameter(spec: ProtocolSpec, option: Parameter) -> bool:
    """Return whether a protocol has a parameter."""
    if option.of_codec:
        return option.field in spec.option_names
    return option.name in _NAMES_OF_ALL or any(option is own for own in spec.parameters)


def protocols_with(option: Parameter) -> tuple[str, ...]:
    """Return the built-in protocols that have a parameter; empty if all do."""
    names = tuple(spec.name for spec in BUILT_IN.values() if has_parameter(spec, option))
    return () if len(names) == len(BUILT_IN) else names


REJECTED_KEYS = {option.file_key: option.effect for option in REJECTED if option.file_key}
"""Keys of a changefeed file that TiCDC knows and this tool rejects, with the reason."""
