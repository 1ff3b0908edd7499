"""Codecs of other packages.

A package registers a codec under the entry point group ``ticdc_producer.codecs``. The entry point's name is
the protocol's name, its object a ``CodecPlugin``. Errors in a plugin are raised as ``PluginError``, which
names the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, TypeVar

from ticdc_producer.errors import PluginError, ProducerError
from ticdc_producer.model.entry_points import GROUP, installed_codecs
from ticdc_producer.model.event import DDLEvent, Event, Message, ResolvedEvent, RowEvent
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import Decoder, Encoder

if TYPE_CHECKING:
    from ticdc_producer.protocols.base import RowBatch
    from ticdc_producer.protocols.encoded_rows import EncodedRows
    from ticdc_producer.protocols.message_batch import MessageBatch

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CodecPlugin:
    """A protocol.

    :param encoder: creates the encoder of one partition. Its argument maps the names of ``Changefeed``'s
        options, and ``build_ts_ms``, to plain values.
    :param decoder: creates a decoder from the same argument.
    """

    encoder: Callable[[Mapping[str, Any]], Encoder]
    decoder: Callable[[Mapping[str, Any]], Decoder]


def plugin_encoder(protocol: str, options: Mapping[str, Any]) -> Encoder:
    """The encoder of a plugin's protocol.

    :raises PluginError: if the entry point is not a ``CodecPlugin``, or the plugin fails.
    """
    plugin, source = _loaded(protocol)
    return _Encoder(source, source.run(lambda: plugin.encoder(options)))


def plugin_decoder(protocol: str, options: Mapping[str, Any]) -> Decoder:
    """The decoder of a plugin's protocol.

    :raises PluginError: if the entry point is not a ``CodecPlugin``, or the plugin fails.
    """
    plugin, source = _loaded(protocol)
    return _Decoder(source, source.run(lambda: plugin.decoder(options)))


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
        """Like ``run``, for a function that returns an iterable."""
        items = iter(self.run(call))
        end = object()
        while (item := self.run(lambda: next(items, end))) is not end:
            yield item  # type: ignore[misc]  # the end is not one of them


@cache
def _loaded(protocol: str) -> tuple[CodecPlugin, _Source]:
    points = installed_codecs()[protocol]
    source = _Source(protocol, ", ".join(map(_package, points)))
    if len(points) > 1:
        raise source.error("several packages have a codec of this name")
    plugin = source.run(points[0].load)
    if not isinstance(plugin, CodecPlugin):
        raise source.error(f"{points[0].value} must be a CodecPlugin, not {type(plugin).__name__}")
    return plugin, source


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


__all__ = ["GROUP", "CodecPlugin", "plugin_decoder", "plugin_encoder"]
