"""Codecs by protocol name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias

from producer.codec.base import Decoder, Encoder
from producer.codec.open import OpenDecoder, OpenEncoder, OpenOptions
from producer.errors import ChangefeedError, nearest

Options: TypeAlias = Mapping[str, Any]
"""Option names as the codecs' option classes spell them, to plain values; a codec takes those it knows."""


def _open_encoder(options: Options) -> Encoder:
    names = {field.name for field in fields(OpenOptions)}
    return OpenEncoder(OpenOptions(**{name: value for name, value in options.items() if name in names}))


def _open_decoder(options: Options) -> Decoder:
    return OpenDecoder(legacy_varchar_base64=bool(options.get("legacy_varchar_base64")))


_ENCODERS: dict[str, Callable[[Options], Encoder]] = {"open-protocol": _open_encoder}
_DECODERS: dict[str, Callable[[Options], Decoder]] = {"open-protocol": _open_decoder}


def encoder(protocol: str, options: Options) -> Encoder:
    """The encoder of a protocol.

    :raises ChangefeedError: for a protocol that has none.
    """
    make: Callable[[Options], Encoder] = _found(_ENCODERS, protocol)
    return make(options)


def decoder(protocol: str, options: Options) -> Decoder:
    """The decoder of a protocol.

    :raises ChangefeedError: for a protocol that has none.
    """
    make: Callable[[Options], Decoder] = _found(_DECODERS, protocol)
    return make(options)


def _found(codecs: Mapping[str, Any], protocol: str) -> Any:
    if protocol not in codecs:
        raise ChangefeedError(
            f"unknown protocol {protocol!r}", parameter="protocol", hint=nearest(protocol, codecs)
        )
    return codecs[protocol]
