"""The protocols by name, the built-in ones first, and the protocol of a message by its bytes.

Only the outer structure of a message is checked: a message with damaged content still belongs to its
protocol. No message matches two of the built-in protocols.
"""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.errors import ChangefeedError, DecodeError, nearest
from ticdc_producer.model.entry_points import PROTOCOLS, installed
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.protocols.avro.spec import SPEC as AVRO
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.canal_json.spec import SPEC as CANAL_JSON
from ticdc_producer.protocols.craft.spec import SPEC as CRAFT
from ticdc_producer.protocols.csv.spec import SPEC as CSV
from ticdc_producer.protocols.debezium.spec import SPEC as DEBEZIUM
from ticdc_producer.protocols.open_protocol.spec import SPEC as OPEN_PROTOCOL
from ticdc_producer.protocols.simple.spec import SPEC as SIMPLE
from ticdc_producer.protocols.spec import FileFormat, Options, ProtocolSpec, Signature

BUILT_IN = {spec.name: spec for spec in (OPEN_PROTOCOL, CANAL_JSON, DEBEZIUM, CRAFT, SIMPLE, AVRO, CSV)}


DEFAULT_PROTOCOL = OPEN_PROTOCOL.name
"""TiCDC's default for Kafka."""


def protocol_spec(name: str) -> ProtocolSpec:
    """The protocol of this name.

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
    from ticdc_producer.protocols.plugin import plugin_spec

    return plugin_spec(name)


def protocol_specs() -> Iterator[ProtocolSpec]:
    """All protocols; those of other packages that cannot be used are left out."""
    yield from BUILT_IN.values()
    if names := sorted(installed(PROTOCOLS).keys() - BUILT_IN.keys()):
        from ticdc_producer.protocols.plugin import usable_specs

        yield from usable_specs(names)


def encoder(protocol: str, options: Options) -> Encoder:
    """The encoder of one partition.

    :raises ChangefeedError: for an unknown protocol, and for options that it does not have.
    :raises PluginError: if the codec belongs to another package and fails.
    """
    spec = protocol_spec(protocol)
    return spec.encoder(spec.typed(options), options)


def decoder(protocol: str, options: Options) -> Decoder:
    """A decoder.

    :raises ChangefeedError: for an unknown protocol, and for options that it does not have.
    :raises PluginError: if the codec belongs to another package and fails.
    """
    spec = protocol_spec(protocol)
    return spec.decoder(spec.typed(options), options)


def file_format(protocol: str) -> FileFormat:
    """How the storage sink writes a protocol.

    :raises ChangefeedError: if it does not, or for an unknown protocol.
    """
    found = protocol_spec(protocol).file_format
    if found is None:
        raise ChangefeedError(f"protocol {protocol} is not written to storages", parameter="protocol")
    return found


def fidelity(protocol: str, options: Options) -> Fidelity:
    """What the messages of a protocol carry with these options.

    :raises ChangefeedError: as ``encoder``.
    """
    return encoder(protocol, options).fidelity


def signatures() -> Iterator[tuple[str, Signature]]:
    """Protocols that can be detected, and how."""
    for spec in protocol_specs():
        if spec.signature is not None:
            yield spec.name, spec.signature


def detect_protocol(key: bytes | None, value: bytes | None) -> str | None:
    """The protocol of a message; None if no signature matches its bytes."""
    found = (name for name, signature in signatures() if _matches(signature, key or b"", value or b""))
    return next(found, None)


def _matches(signature: Signature, key: bytes, value: bytes) -> bool:
    try:
        return signature.matches(key, value)
    except DecodeError:
        return False
