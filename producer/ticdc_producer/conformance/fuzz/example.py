"""An example: everything that determines the requests of one random history.

The order of delivery and the restarts of the consumer are part of it. The protocols of random histories have
options and traps that they may have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import msgspec

from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.delivery import Order
from ticdc_producer.conformance.restart.plan import Life
from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.faults.catalogue import Trap, catalogue
from ticdc_producer.model.parameter import PROTOCOLS as PROTOCOL_NAMES
from ticdc_producer.protocols.registry import BUILT_IN, fidelity

MAX_COMMIT = 8
"""Most commits after which a delivery requests the rows, apart from the rows at the end."""


class TopicRequest(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """One request of the whole topic.

    :param order: order in which the messages arrive.
    :param seed: determines everything that the order does not.
    :param at_commit: the rows after this number of commits are requested; None: the rows at the end.
    """

    order: Order = "in-turn"
    seed: int = 0
    at_commit: int | None = None


class FuzzExample(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """One history in one protocol. It is small enough for a line of a file.

    :param sql: the statements; together they are the scenario.
    :param options: options of the changefeed that differ from their defaults.
    :param partitions: number of partitions of the topic.
    :param dispatch: partition rule of all tables; empty for TiCDC's default.
    :param topic: topic rule of all tables, such as ``{schema}_{table}``; empty: they share a topic.
    :param inject: traps to inject, as ``run --inject`` takes them.
    :param seed: seed of the traps.
    :param deliveries: requests of the apply level; the restart level has the first of them.
    :param batch: number of messages that the consumer of the restart level receives at once.
    :param max_stops: most stops of the consumer at the restart level.
    :param lives: the starts and stops of the consumer; empty: all or many of the possible ones are tried.
    :param follows_ddl: whether tables that a DDL altered are requested, too.
    :param traps: traps of the catalogue that the statements and options produce.
    """

    sql: tuple[str, ...]
    protocol: ProtocolName
    levels: tuple[Level, ...] = (Level.DECODE, Level.APPLY)
    options: Mapping[str, object] = msgspec.field(default_factory=dict)
    partitions: int = 1
    dispatch: str = ""
    topic: str = ""
    inject: tuple[str, ...] = ()
    seed: int = 0
    deliveries: tuple[TopicRequest, ...] = (TopicRequest(),)
    batch: int = 1
    max_stops: int = 2
    lives: tuple[Life, ...] = ()
    follows_ddl: bool = False
    traps: tuple[str, ...] = ()

    @property
    def consumer_options(self) -> dict[str, object]:
        """The options that requests have: all but those that only decide where messages go."""
        return {name: value for name, value in self.options.items() if name != "dispatchers"}

    @property
    def text(self) -> str:
        """The scenario as the content of a ``.sql`` file."""
        return script(self.sql)

    @property
    def statements(self) -> int:
        """The number of statements; BEGIN and COMMIT do not count."""
        return sum(statement not in ("BEGIN", "COMMIT") for statement in self.sql)


def script(statements: Sequence[str]) -> str:
    """Return statements as the content of a ``.sql`` file."""
    return "".join(f"{statement};\n" for statement in statements)


BASE_OPTIONS: Mapping[ProtocolName, Mapping[str, object]] = {
    name: options for name in PROTOCOL_NAMES if (options := BUILT_IN[name].conformance.histories) is not None
}
"""Options of the changefeeds of random histories, by protocol."""
PROTOCOLS = tuple(BASE_OPTIONS)
"""Protocols of random histories."""
_OF_SOFT_DELETES = ("update-after-delete",)
"""Traps of tables with SOFTDELETE, which random histories do not have."""


def drawn_traps(protocol: ProtocolName) -> list[str]:
    """Return the legal traps that random histories of a protocol may have, in the order of the catalogue."""
    return [name for name, trap in catalogue().items() if _may_have(trap, protocol)]


def _may_have(trap: Trap, protocol: ProtocolName) -> bool:
    supports = {*trap.profiles} & {*BUILT_IN[protocol].profiles}
    if not trap.legal or protocol not in trap.protocols or not supports or trap.id in _OF_SOFT_DELETES:
        return False
    # A trap lists protocols that have resolved events under some options, or never.
    of_resolved = trap.coverage is not None and "resolved" in trap.coverage.needs
    return not of_resolved or _has_resolved(protocol)


@cache
def _has_resolved(protocol: ProtocolName) -> bool:
    options = {name.replace("-", "_"): value for name, value in BASE_OPTIONS[protocol].items()}
    return fidelity(protocol, options).resolved
