"""An example: everything that determines the requests of one random history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from ticdc_producer.conformance.level import Level
from ticdc_producer.conformance.wire import ProtocolName

Order: TypeAlias = Literal["in-turn", "one-after-the-other", "far-apart", "mixed", "rebalance"]
"""Orders in which a Kafka consumer may receive the messages of several partitions."""
MAX_COMMIT = 8
"""The rows after this number of commits are the latest ones that a delivery requests apart from those at the
end."""
ORDERS: tuple[Order, ...] = get_args(Order)


class TopicRequest(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """One request of the whole topic.

    :param order: order in which the messages arrive.
    :param seed: determines what the order leaves open.
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
    :param inject: traps to inject, as ``run --inject`` takes them.
    :param seed: seed of the traps.
    :param deliveries: requests of the apply level.
    :param follows_ddl: whether tables that a DDL altered are requested, too.
    :param traps: traps of the catalogue that the statements and options produce.
    """

    sql: tuple[str, ...]
    protocol: ProtocolName
    levels: tuple[Level, ...] = (Level.DECODE, Level.APPLY)
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    partitions: int = 1
    dispatch: str = ""
    inject: tuple[str, ...] = ()
    seed: int = 0
    deliveries: tuple[TopicRequest, ...] = (TopicRequest(),)
    follows_ddl: bool = False
    traps: tuple[str, ...] = ()

    @property
    def consumer_options(self) -> dict[str, Any]:
        """The options that requests have: all but those that only decide where messages go."""
        return {name: value for name, value in self.options.items() if name != "dispatchers"}

    @property
    def text(self) -> str:
        """The scenario as the content of a ``.sql`` file."""
        return script(self.sql)

    @property
    def statements(self) -> int:
        """The number of statements; BEGIN and COMMIT do not count."""
        return sum(one not in ("BEGIN", "COMMIT") for one in self.sql)


def script(statements: Sequence[str]) -> str:
    """Statements as the content of a ``.sql`` file."""
    return "".join(f"{one};\n" for one in statements)
