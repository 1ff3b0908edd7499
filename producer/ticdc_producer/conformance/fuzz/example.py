"""An example: everything that determines the requests of one random history.

The order of delivery and the restarts of the consumer are part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.delivery import Order
from ticdc_producer.conformance.restart.plan import Life
from ticdc_producer.conformance.wire import ProtocolName

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
