"""The protocols by name, the built-in ones first, and the protocol of a message by its bytes.

Another package registers a protocol under the entry point group ``ticdc_producer.protocols``. The entry
point's name is the protocol's name, its object a ``ProtocolSpec``. Errors in a plugin are raised as
``PluginError``, which names the package.

Only the outer structure of a message is checked: a message with damaged content still belongs to its
protocol. No message matches two of the built-in protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import EntryPoint
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ticdc_producer.errors import ChangefeedError, DecodeError, PluginError, ProducerError
from ticdc_producer.hints import nearest
from ticdc_producer.installation import PROTOCOLS, installed
from ticdc_producer.model.event import DDLEvent, Event, Message, ResolvedEvent, RowEvent
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.spec import SPEC as AVRO
from ticdc_producer.protocols.base import BatchDecoder, DecodedRows, Decoder, Encoder
from ticdc_producer.protocols.canal.spec import SPEC as CANAL
from ticdc_producer.protocols.canal_json.spec import SPEC as CANAL_JSON
from ticdc_producer.protocols.craft.spec import SPEC as CRAFT
from ticdc_producer.protocols.csv.spec import SPEC as CSV
from ticdc_producer.protocols.debezium.spec import SPEC as DEBEZIUM
from ticdc_producer.protocols.debezium_avro.spec import SPEC as DEBEZIUM_AVRO
from ticdc_producer.protocols.maxwell.spec import SPEC as MAXWELL
from ticdc_producer.protocols.open_protocol.spec import SPEC as OPEN_PROTOCOL
from ticdc_producer.protocols.simple.spec import SPEC as SIMPLE
from ticdc_producer.protocols.spans import ByteSpan
from ticdc_producer.protocols.spec import Annotate, FileFormat, Options, ProtocolSpec, Signature
from ticdc_producer.protocols.wire import row_of_file
from ticdc_producer.protocols.wire_digests import WireDigests

if TYPE_CHECKING:
    from ticdc_producer.protocols.base import RowBatch
    from ticdc_producer.protocols.encoded_rows import EncodedRows
    from ticdc_producer.protocols.message_batch import MessageBatch


_SPECS = (OPEN_PROTOCOL, CANAL_JSON, DEBEZIUM, CRAFT, SIMPLE, AVRO, DEBEZIUM_AVRO, MAXWELL, CANAL, CSV)
BUILT_IN = {spec.name: spec for spec in _SPECS}


DEFAULT_PROTOCOL = OPEN_PROTOCOL.name
"""TiCDC's default for Kafka."""


def protocol_spec(name: str) -> ProtocolSpec:
    """Return the protocol of this name.

    :raises ChangefeedError: if there is none.
    :raises PluginError: if another package registers it, and it cannot be used.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    others = installed(PROTOCOLS)
    if name not in others:
        raise ChangefeedError(
            f"unknown protocol {name!r}", parameter="protocol", hint=nearest(name, [*BUILT_IN, *others])
        )
    return plugin_spec(name)


def protocol_specs() -> Iterator[ProtocolSpec]:
    """Yield all protocols, without those of other packages that cannot be used."""
    yield from BUILT_IN.values()
    if names := sorted(installed(PROTOCOLS).keys() - BUILT_IN.keys()):
        yield from usable_specs(names)


def encoder(protocol: str, options: Options) -> Encoder:
    """Return the encoder of one partition.

    :raises ChangefeedError: for an unknown protocol, and for options that it does not have.
    :raises PluginError: if the codec belongs to another package and fails.
    """
    spec = protocol_spec(protocol)
    return spec.encoder(spec.typed(options), options)


def decoder(protocol: str, options: Options) -> Decoder:
    """Return a decoder.

    :raises ChangefeedError: for an unknown protocol, and for options that it does not have.
    :raises PluginError: if the codec belongs to another package and fails.
    """
    spec = protocol_spec(protocol)
    return spec.decoder(spec.typed(options), options)


def batch_decoder(protocol: str, options: Options) -> BatchDecoder | None:
    """Return what decodes the rows of many messages at once; None if the protocol has no such decoder.

    :raises ChangefeedError: as ``decoder``.
    """
    spec = protocol_spec(protocol)
    return None if spec.batch_decoder is None else spec.batch_decoder(spec.typed(options), options)


def wire_digests(
    protocol: str, options: Options, *, canonical: bool = False, in_files: bool = False
) -> WireDigests | None:
    """Return what computes the digests of a protocol's messages; None if their bytes are not compared.

    :param options: with the inputs of a decoder.
    :param canonical: digests of the canonical form instead of the bytes.
    :param in_files: whether the messages are rows of files.
    """
    form = protocol_spec(protocol).wire
    if form is None:
        return None
    claims = options.get("large_message_handle_option") == "claim-check"
    for option, paths in form.excluded_with.items():
        if options.get(option):
            repeatable = form.repeatable_with.get(option, form.repeatable)
            form = replace(form, excluded={**form.excluded, **paths}, repeatable=repeatable)
    if form.form_of is not None:
        form = replace(form, form=form.form_of(options))
    if in_files:
        end = str(options.get("row_end", "")).encode()
        form = replace(form, events=partial(row_of_file, end), starts=None)
    return WireDigests(format=form, canonical=canonical or form.by_form, claims=claims)


def annotate(protocol: str, key: bytes | None, value: bytes | None, options: Options) -> list[ByteSpan]:
    """Return the named ranges of bytes in a message; empty for a protocol that has no names.

    :param options: those of the decoder.
    """
    spec = protocol_spec(protocol)
    return [] if spec.annotate is None else [*spec.annotate(key, value, options)]


def file_format(protocol: str) -> FileFormat:
    """Return the form in which the storage sink writes a protocol.

    :raises ChangefeedError: if the sink does not write it, or for an unknown protocol.
    """
    form = protocol_spec(protocol).file_format
    if form is None:
        raise ChangefeedError(f"protocol {protocol} is not written to storages", parameter="protocol")
    return form


def fidelity(protocol: str, options: Options) -> Fidelity:
    """Return the fidelity of a protocol's messages with these options.

    :raises ChangefeedError: as ``encoder``.
    """
    return encoder(protocol, options).fidelity


def signatures() -> Iterator[tuple[str, Signature]]:
    """Yield the protocols that can be detected, and their signatures."""
    for spec in protocol_specs():
        if spec.signature is not None:
            yield spec.name, spec.signature


def detect_protocol(key: bytes | None, value: bytes | None) -> str | None:
    """Return the protocol of a message; None if no signature matches its bytes."""
    names = (name for name, signature in signatures() if _matches(signature, key or b"", value or b""))
    return next(names, None)


def _matches(signature: Signature, key: bytes, value: bytes) -> bool:
    try:
        return signature.matches(key, value)
    except DecodeError:
        return False


T = TypeVar("T")


@cache
def plugin_spec(protocol: str) -> ProtocolSpec:
    """Return the protocol of a plugin.

    :raises PluginError: if the entry point is not a ``ProtocolSpec`` of this name, or the plugin fails.
    """
    points = installed(PROTOCOLS)[protocol]
    source = _Source(protocol, ", ".join(map(_package, points)))
    if len(points) > 1:
        raise source.error("several packages have a protocol of this name")
    spec = source.run(points[0].load)
    if not isinstance(spec, ProtocolSpec):
        raise source.error(f"{points[0].value} must be a ProtocolSpec, not {type(spec).__name__}")
    if spec.name != protocol:
        raise source.error(f"its entry point must have the protocol's name, {spec.name!r}")
    return _guarded(spec, source)


def usable_specs(names: Iterable[str]) -> Iterator[ProtocolSpec]:
    """Yield the protocols of plugins, without those that cannot be used."""
    for name in names:
        with suppress(PluginError):
            yield plugin_spec(name)


def _guarded(spec: ProtocolSpec, source: _Source) -> ProtocolSpec:
    """Return the protocol with functions that raise only ``ProducerError``."""

    def encoder(options: object, inputs: Options) -> Encoder:
        return _Encoder(source, source.run(lambda: spec.encoder(options, inputs)))

    def decoder(options: object, inputs: Options) -> Decoder:
        return _Decoder(source, source.run(lambda: spec.decoder(options, inputs)))

    signature = spec.signature
    if signature is not None:
        matches = signature.matches
        signature = Signature(
            matches=lambda key, value: source.run(lambda: matches(key, value)),
            description=signature.description,
        )
    annotate = spec.annotate
    if annotate is not None:
        annotate = partial(_guarded_spans, annotate, source)
    rows_decoder = _guarded_batch_decoder(spec, source)
    return replace(
        spec,
        encoder=encoder,
        decoder=decoder,
        batch_decoder=rows_decoder,
        signature=signature,
        annotate=annotate,
    )


def _guarded_spans(
    annotate: Annotate, source: _Source, key: bytes | None, value: bytes | None, options: Options
) -> Iterator[ByteSpan]:
    yield from source.run(lambda: [*annotate(key, value, options)])


def _guarded_batch_decoder(spec: ProtocolSpec, source: _Source) -> Callable[..., BatchDecoder] | None:
    create = spec.batch_decoder
    if create is None:
        return None
    return lambda options, inputs: _BatchDecoder(source, source.run(lambda: create(options, inputs)))


@dataclass(frozen=True, slots=True)
class _Source:
    """The origin of a plugin, for errors."""

    protocol: str
    package: str

    def error(self, what: str) -> PluginError:
        return PluginError(what, protocol=self.protocol, package=self.package)

    def run(self, call: Callable[[], T]) -> T:
        """Call a function of the plugin.

        :raises PluginError: for every exception that is not a ``ProducerError``.
        """
        try:
            return call()
        except ProducerError:
            raise
        except Exception as error:
            raise self.error(f"it fails: {type(error).__name__}: {error}") from error

    def each(self, call: Callable[[], Iterable[T]]) -> Iterator[T]:
        """Yield the items of a function of the plugin, with the errors of ``run``."""
        items = iter(self.run(call))
        while item := self.run(lambda: [*islice(items, 1)]):
            yield from item


def _package(point: EntryPoint) -> str:
    return point.value if point.dist is None else f"{point.dist.name} {point.dist.version}"


@dataclass(frozen=True, slots=True)
class _Encoder:
    source: _Source
    wrapped: Encoder

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        return self.source.run(lambda: self.wrapped.rows(table, batch))

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        return self.source.each(lambda: self.wrapped.messages(rows))

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message | None:
        return self.source.run(lambda: self.wrapped.ddl(event, table, before))

    def resolved(self, ts: int) -> Message | None:
        return self.source.run(lambda: self.wrapped.resolved(ts))

    @property
    def fidelity(self) -> Fidelity:
        return self.source.run(lambda: self.wrapped.fidelity)


@dataclass(frozen=True, slots=True)
class _Decoder:
    source: _Source
    wrapped: Decoder

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        for event in self.source.each(lambda: self.wrapped.events(key, value)):
            if not isinstance(event, RowEvent | DDLEvent | ResolvedEvent):
                raise self.source.error(f"its decoder must return events, not {type(event).__name__}")
            yield event


@dataclass(frozen=True, slots=True)
class _BatchDecoder:
    source: _Source
    wrapped: BatchDecoder

    def rows(self, messages: Sequence[tuple[bytes | None, bytes | None]]) -> Sequence[DecodedRows]:
        groups = self.source.run(lambda: [*self.wrapped.rows(messages)])
        for rows in groups:
            if not isinstance(rows, DecodedRows):
                what = f"its batch decoder must return DecodedRows, not {type(rows).__name__}"
                raise self.source.error(what)
        return groups
