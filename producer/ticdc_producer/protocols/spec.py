"""The specification of a protocol, built in or of another package: ``ProtocolSpec``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, cast

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.hints import nearest
from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.parameter import Parameter, Profile, SinkKind
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import BatchDecoder, Decoder, Encoder, Schema, SchemaIDs
from ticdc_producer.protocols.spans import ByteSpan
from ticdc_producer.protocols.wire import WireFormat

if TYPE_CHECKING:  # not every command reads Arrow columns
    import pyarrow as pa

Options: TypeAlias = Mapping[str, object]
"""Options of a codec by name, as its options class spells them, and ``INPUTS``."""

INPUTS = frozenset({
    "schema_ids", "schemas", "schema_of", "table_descriptions", "csv_tables",
})  # fmt: skip
"""Inputs of codecs besides their options. Each codec reads some of them: the ids that a schema registry
assigned and its schemas (a mapping or a function), messages with the descriptions of tables, the tables of a
storage folder."""


class Inputs(TypedDict, total=False):
    """The ``INPUTS`` that a codec got."""

    schema_ids: SchemaIDs
    schemas: Mapping[int, str]
    schema_of: Callable[[int], str | None]
    table_descriptions: Sequence[bytes]
    csv_tables: Mapping[str, Sequence[object]]


DDLPartitions: TypeAlias = Literal["all", "first"]


Annotate: TypeAlias = Callable[[bytes | None, bytes | None, Options], Iterator[ByteSpan]]
"""Key, value and options of the decoder to named ranges of bytes."""

Check: TypeAlias = Callable[[Mapping[str, Plain], Sequence[str], bool], None]
"""Refuses a changefeed: options by parameter name, topic expressions, whether the sink URI names hosts."""


@cache
def _field_names(options: Hashable) -> frozenset[str]:
    return frozenset(option.name for option in fields(cast(Any, options)))


def _every_row(values: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.array(range(len(values)), pa.uint64())


def _accept(_options: Mapping[str, Plain], _topics: Sequence[str], _reaches_kafka: bool) -> None:
    """Accept every changefeed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The criterion by which messages of a protocol are recognized.

    :param matches: whether key and value are a message of the protocol; a ``DecodeError`` means no.
    :param description: the properties of every message of the protocol, for error messages.
    """

    matches: Callable[[bytes, bytes], bool]
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """The form in which the storage sink writes a protocol.

    :param extension: the extension of the data files, with its dot.
    :param rows: splits the content of a data file into rows; the last one may be content that is not a row.
        The arguments are the content and the options.
    :param header: the first bytes of every file of a table; None if files have none. The arguments are the
        options and the table.
    """

    extension: str
    rows: Callable[..., Iterator[bytes]]
    header: Callable[..., bytes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSchemas:
    """The schemas that messages refer to by the ids of a schema registry.

    :param of_tables: all schemas of some table versions; the arguments are the tables, the topic of each
        table, and the options.
    :param id_in: the id in a message's key or value; None if it has none.
    """

    of_tables: Callable[..., Sequence[Schema]]
    id_in: Callable[[bytes], int | None]


@dataclass(frozen=True, slots=True)
class DescribedTables:
    """The tables that a message describes.

    :param before: as they were before its DDL, or are without one; ``update_ts`` is their version.
    :param after: as its DDL left them.
    """

    before: tuple[TableInfo, ...] = ()
    after: tuple[TableInfo, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkLine:
    """A line of ``bench encode`` and ``bench decode``.

    :param suffix: follows the protocol's name; empty for its plain form.
    :param options: the options of the encoder.
    :param minimal: decodes a message with a JSON parser and a selection of the fields, without any check.
    """

    suffix: str = ""
    options: Options = field(default_factory=dict)
    minimal: Callable[[bytes, bytes], list[tuple[object, ...]]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceOptions:
    """Parameters of the sink URI with which ``conformance`` encodes a protocol.

    :param types: parameters of the cases of column types, so that messages contain the types.
    :param others: parameters of cases that set none.
    :param histories: parameters of random histories, so that they have DDLs, and resolved events if the
        protocol has any; None if the protocol has no random histories.
    :param variants: further parameters, one of which some random histories have.
    :param left_out: names of the cases with a row that TiCDC refuses in this protocol.
    """

    types: Mapping[str, Plain] = field(default_factory=dict)
    others: Mapping[str, Plain] = field(default_factory=dict)
    histories: Mapping[str, Plain] | None = None
    variants: Sequence[Mapping[str, Plain]] = ()
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolSpec:
    """A protocol. Another package registers one under the entry point group ``ticdc_producer.protocols``.

    :param name: as ``protocol`` of a sink URI spells it.
    :param title: its name in sentences.
    :param aliases: other spellings that TiCDC accepts.
    :param options: a dataclass with the options of the codec. Its fields are the parameters of the sink URI
        with underscores, ``build_ts_ms`` (time at which messages are built, in Unix milliseconds, or None)
        and ``row_end`` (terminator of each row in a file). A parameter that several protocols have belongs
        to those with such a field.
    :param parameters: parameters of the sink URI that only this protocol has.
    :param section: name of its section below ``sink`` in a changefeed file; empty if it has none.
    :param defaults: parameter name to default, for defaults that differ from those of other protocols.
    :param encoder: creates the encoder of one partition from the options and ``INPUTS``.
    :param decoder: creates a decoder from the same arguments.
    :param batch_decoder: creates what decodes the rows of many messages at once, to the same events; None:
        each message is decoded alone.
    :param sinks: the sinks to which TiCDC writes the protocol.
    :param profiles: the TiCDC programs that support it.
    :param ddl_partitions: whether DDLs go to every partition of their topic or to partition 0 only.
    :param sends_ddl: whether TiCDC sends DDL events with these options of the changefeed.
    :param combines_rows: whether a message may have several rows; then rows of different dispatch keys are
        reordered.
    :param max_rows: maximum number of rows in a message, if ``max-batch-size`` has no effect.
    :param limits_batches: whether a message with several rows never exceeds ``max-message-bytes``; if not, a
        message ends with the row that exceeds it.
    :param describes_columns: whether each message has the schema of its columns, by default.
    :param has_extension: whether ``enable-tidb-extension`` changes the messages.
    :param schemas: the schemas of a schema registry that messages refer to; None for other protocols.
    :param check: raises ``ChangefeedError`` for a changefeed that TiCDC refuses with this protocol, or that
        is not simulated.
    :param signature: recognizes its messages; None if they are not recognized.
    :param described_versions: the table versions that a message value describes, for protocols whose row
        messages do not describe their columns.
    :param described_tables: the tables that a message value describes; None: it does not describe them, or
        columns of rows alone.
    :param describing: the rows of a column of message values that may describe table versions, found without
        a look at each value.
    :param describes_in_first: whether, with these options of the codec, partition 0 of a topic has the
        messages that describe tables, for the rows of all partitions. The encoder is then a
        ``DescribingEncoder``.
    :param file_format: the form in which the storage sink writes it; None if it does not.
    :param log_lines: a message of a partition (number, key, value) as lines of a consumer's log, for the
        preview of a run.
    :param benchmark: its lines in the benchmarks.
    :param conformance: the parameters of its cases.
    :param wire: how ``verify`` compares the bytes of messages; None: it compares decoded events only.
    :param annotate: the named ranges of bytes of a key and value, with the options of the decoder; for
        display alone. None: there are no names.
    """

    name: str
    title: str
    options: type[object]
    encoder: Callable[..., Encoder]
    decoder: Callable[..., Decoder]
    batch_decoder: Callable[..., BatchDecoder] | None = None
    aliases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    section: str = ""
    defaults: Mapping[str, Plain] = field(default_factory=dict)
    sinks: tuple[SinkKind, ...] = (SinkKind.KAFKA,)
    profiles: tuple[Profile, ...] = ("classic", "new")
    ddl_partitions: DDLPartitions = "all"
    sends_ddl: Callable[[Mapping[str, Plain]], bool] = lambda _: True
    combines_rows: bool = False
    max_rows: int | None = None
    limits_batches: bool = True
    describes_columns: bool = False
    has_extension: bool = True
    schemas: RegisteredSchemas | None = None
    check: Check = _accept
    signature: Signature | None = None
    described_versions: Callable[[bytes], frozenset[Hashable]] | None = None
    described_tables: Callable[[bytes], DescribedTables] | None = None
    describing: Callable[[pa.Array], pa.Array] = _every_row
    describes_in_first: Callable[[Options], bool] = lambda _: False
    file_format: FileFormat | None = None
    log_lines: Callable[[int, bytes, bytes], list[str]] | None = None
    benchmark: tuple[BenchmarkLine, ...] = ()
    conformance: ConformanceOptions = field(default_factory=ConformanceOptions)
    wire: WireFormat | None = None
    annotate: Annotate | None = None

    @property
    def option_names(self) -> frozenset[str]:
        """Names of the codec's options."""
        return _field_names(cast("Hashable", self.options))

    def select(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return the options of a changefeed that the codec has."""
        known = self.option_names
        return {name: value for name, value in values.items() if name in known}

    def typed(self, options: Options) -> object:
        """Return the options as an instance of the options class.

        :raises ChangefeedError: for an option that the protocol does not have, and for values that TiCDC
            rejects.
        """
        for name in options:
            if name not in self.option_names and name not in INPUTS:
                raise ChangefeedError(
                    f"protocol {self.name} has no option {name.replace('_', '-')}",
                    parameter=name.replace("_", "-"),
                    hint=nearest(name, sorted(self.option_names)),
                )
        return self.options(**self.select(options))
