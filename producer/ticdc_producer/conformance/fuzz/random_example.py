"""Random examples: a history, a protocol with options, injected traps, and an order of delivery."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from ticdc_producer.conformance.case_spec import LEVELS_OF_HISTORIES, Level
from ticdc_producer.conformance.delivery import ORDERS, Order
from ticdc_producer.conformance.fuzz.example import MAX_COMMIT, FuzzExample, TopicRequest
from ticdc_producer.conformance.fuzz.protocols import BASE_OPTIONS, drawn_traps
from ticdc_producer.conformance.fuzz.random_ddl import (
    add_column,
    change_definitions,
    complete_ddl_zoo,
    create_table,
    exchange_partition,
    has_ddl_zoo,
    swap_names,
    truncate,
)
from ticdc_producer.conformance.fuzz.random_rows import (
    change_in_turn,
    change_rows,
    insert,
    move_key,
    swap_keys,
    transaction,
)
from ticdc_producer.conformance.fuzz.random_tables import Draft, RandomTable
from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.faults.event_traps import SegmentTrap
from ticdc_producer.protocols.registry import BUILT_IN

_TRANSACTIONS = 0.3
"""Share of transactions of several statements."""
_OF_SEVERAL_TABLES = frozenset({"rename-swap", "split-ddl", "replay-one-table", "table-lag"})


@dataclass(frozen=True, kw_only=True)
class RandomHistory:
    """The statements of a history.

    :param traps: traps of the catalogue that they produce.
    """

    statements: tuple[str, ...]
    traps: frozenset[str]


def random_history(random: Random, focus: frozenset[str], *, ddl: float, length: int) -> RandomHistory:
    """Draw a history of some tables that are empty at first.

    :param focus: traps that it should have, if statements produce them.
    :param ddl: share of DDLs among the operations.
    :param length: number of operations; a transaction may have several.
    """
    draft = Draft(random, focus)
    for _ in range(max(1 + bool(focus & _OF_SEVERAL_TABLES), random.choice((1, 1, 1, 2, 3)))):
        create_table(draft)
    insert(draft, draft.table())
    while length > 0:
        if random.random() < ddl:
            change_definitions(draft)
            length -= 1
        elif random.random() < _TRANSACTIONS:
            length -= transaction(draft)
        else:
            change_rows(draft)
            length -= 1
    for trap, write in _LAST.items():
        if trap in focus and trap not in draft.traps:
            write(draft)
    zoo = {"ddl-zoo"} if has_ddl_zoo(draft) else set()
    return RandomHistory(statements=tuple(draft.statements), traps=frozenset(draft.traps | zoo))


def _at_key(write: Callable[[Draft, RandomTable], None]) -> Callable[[Draft], None]:
    def of_keyed(draft: Draft) -> None:
        keyed = [table for table in draft.tables if table.key_clause]
        if keyed:
            write(draft, keyed[0])

    return of_keyed


_LAST: Mapping[str, Callable[[Draft], None]] = {
    "key-update": _at_key(move_key),
    "key-swap": _at_key(swap_keys),
    "rename-swap": swap_names,
    "split-ddl": swap_names,
    "schema-change": add_column,
    "added-column-default": add_column,
    "duplicate-ddl": truncate,
    "ddl-at-resolved-ts": truncate,
    "exchange-partition": exchange_partition,
    "ddl-zoo": complete_ddl_zoo,
    "table-lag": change_in_turn,
}
"""Trap of the focus → what adds the statements that a history without the trap lacks, at its end."""


_Options = Mapping[str, object]
_ZONES = ("Asia/Shanghai", "Europe/Berlin", "America/New_York")
_RULES = ("", "table", "index-value", "ts")
_BY_VALUE = ("delete-dispatch", "regrouped-batches", "batch-boundaries", "replay-partial", "key-update")
_LARGE: Mapping[str, _Options] = {
    "handle-key-only": {"large-message-handle-option": "handle-key-only", "max-message-bytes": 700},
    "claim-check": {
        "large-message-handle-option": "claim-check",
        "claim-check-storage-uri": "file:///claims",
        "max-message-bytes": 700,
    },
}
"""Options by which rows above a low limit are sent, by their trap."""
_OVER_LIMIT = 0.03
_RATES = {"duplicate-ddl": 1.0, "ddl-at-resolved-ts": 1.0, "batch-boundaries": 0.3}
_RATE = 0.4
_INJECTED = ("event", "message")
_OF_STATEMENTS = "scenario"
_REBALANCE: Order = "rebalance"
_EARLIER = 0.15
"""Share of deliveries whose rows are requested as of a time stamp."""
_BATCHES = (1, 1, 2, 5)
"""Numbers of messages that a consumer receives at once."""
_TOPICS, _MAX_PARTITIONS = 0.3, 2
"""Share of examples of the restart level in which each table has a topic, and most partitions of these."""
_TOPIC_OF_TABLE = "{schema}_{table}"
_DDL_SHARES = (0, 0.1, 0.1, 0.3)
_OF_DDLS = frozenset({"ddl-zoo", "duplicate-ddl", "ddl-at-resolved-ts"})
_LONG_WINDOWS = (4, 5, 8)
"""Commits of a segment in which a table is behind: a resolved-ts has to be below two swapped rows."""
_RAW = 0.12
"""Share of examples in which updates of keys are not split."""


def random_example(
    random: Random,
    protocol: ProtocolName,
    *,
    history: RandomHistory | None = None,
    focus: Collection[str] = (),
    levels: tuple[Level, ...] = LEVELS_OF_HISTORIES,
    follows_ddl: bool = False,
) -> FuzzExample:
    """Draw an example.

    :param history: its statements; None: new ones.
    :param focus: traps that it should have; it may lack one, if others exclude it.
    :param levels: levels of the requests.
    :param follows_ddl: whether tables that a DDL altered are requested, too.
    """
    traps = frozenset(focus)
    history = history or new_history(random, traps)
    options = _random_options(random, protocol, traps, history)
    inject = _random_traps(random, protocol, traps, options)
    changes_key = history.traps & {"key-update", "unique-key-update"}
    raw = {"raw-key-update"} if changes_key and options.get("output-raw-change-event") else set()
    dispatch, partitions = _random_dispatch(random, traps)
    return FuzzExample(
        sql=history.statements,
        protocol=protocol,
        levels=levels,
        options=options,
        partitions=partitions,
        dispatch=dispatch,
        inject=inject,
        seed=random.randrange(1000),
        deliveries=_random_deliveries(random, partitions),
        batch=random.choice(_BATCHES) if Level.RESTART in levels else 1,
        topic=_random_topic(random, traps, partitions) if Level.RESTART in levels else "",
        follows_ddl=follows_ddl,
        traps=tuple(sorted((history.traps | raw) & set(drawn_traps(protocol)))),
    )


def new_history(random: Random, focus: Collection[str]) -> RandomHistory:
    """Draw the statements of one or more examples.

    :param focus: traps that the examples should have.
    """
    traps = frozenset(focus)
    ddl = random.choice(_DDL_SHARES if not traps & _OF_DDLS else _DDL_SHARES[-1:])
    length = random.choice((1, 2, 4, 4, 8, 8, 12)) + 4 * ("ddl-zoo" in traps)
    return random_history(random, traps, ddl=ddl, length=length)


def possible_traps(history: RandomHistory) -> frozenset[str]:
    """Return the traps that an example of a history may have: those of its statements, and all others."""
    return history.traps.union(name for name, trap in catalogue().items() if trap.mechanism != _OF_STATEMENTS)


def _random_deliveries(random: Random, partitions: int) -> tuple[TopicRequest, ...]:
    """Draw deliveries in each order that differs with this number of partitions.

    Some of them request earlier rows.
    """
    orders = 2 * ORDERS if partitions > 1 else ("in-turn", *[_REBALANCE] * len(ORDERS))
    return tuple(
        TopicRequest(
            order=order,
            seed=random.randrange(1000),
            at_commit=random.randrange(1, MAX_COMMIT + 1) if random.random() < _EARLIER else None,
        )
        for order in orders
    )


def _random_options(
    random: Random, protocol: ProtocolName, focus: frozenset[str], history: RandomHistory
) -> dict[str, Any]:
    options = dict(BASE_OPTIONS[protocol])
    if random.random() < 0.35:
        options |= random.choice(BUILT_IN[protocol].conformance.variants)
    if random.random() < 0.2:
        options["time-zone"] = random.choice(_ZONES)
    if "no-key-table" in history.traps and "no-key-table" in drawn_traps(protocol):
        options["force-replicate"] = True
    # Without old values no consumer learns the former key.
    keyed = options.get("output-old-value", True)
    raw = keyed and "raw-key-update" in drawn_traps(protocol)
    if raw and ("raw-key-update" in focus or random.random() < _RAW):
        options["output-raw-change-event"] = True
    large = sorted(_LARGE.keys() & focus) or [
        trap for trap in sorted(_LARGE) if random.random() < _OVER_LIMIT
    ]
    if large and large[0] in drawn_traps(protocol):
        options |= {**BASE_OPTIONS[protocol], **_LARGE[large[0]]}
    elif "new" in BUILT_IN[protocol].profiles and not focus & {"resolved-fallback"} and random.random() < 0.1:
        options["profile"] = "new"
    return options


def _random_dispatch(random: Random, focus: frozenset[str]) -> tuple[str, int]:
    """Draw the partition rule and the number of partitions."""
    partitions = random.choice((1, 2, 2, 3, 4))
    if focus.intersection(_BY_VALUE):
        return "index-value", max(2, partitions)
    if "idle-partition" in focus:
        return "table", max(3, partitions)
    if "changed-dispatch-column" in focus:
        return "ts", max(2, partitions)
    if "table-lag" in focus:
        return random.choice(_RULES), 1
    return random.choice(_RULES), partitions


def _random_topic(random: Random, focus: frozenset[str], partitions: int) -> str:
    """Draw a topic rule. Many partitions of several topics would mostly have resolved events."""
    several = random.random() < _TOPICS and partitions <= _MAX_PARTITIONS and "table-lag" not in focus
    return _TOPIC_OF_TABLE if several else ""


def _random_traps(
    random: Random, protocol: ProtocolName, focus: frozenset[str], options: _Options
) -> tuple[str, ...]:
    """Draw settings of injected traps, as ``run --inject`` takes them."""
    profile = options.get("profile", BUILT_IN[protocol].defaults.get("profile", "classic"))
    possible = [
        name
        for name in drawn_traps(protocol)
        if catalogue()[name].mechanism in _INJECTED and profile in catalogue()[name].profiles
    ]
    injected = [name for name in possible if name in focus]
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        injected.append(random.choice(possible))
    names = sorted(set(injected))
    segments = sum(isinstance(catalogue()[name], SegmentTrap) for name in names)
    window = random.choice((2, 2, 3, 5) if "table-lag" not in names else _LONG_WINDOWS)
    return tuple(
        f"{name}:rate={0.9 / segments:.3f},window={window}"
        if isinstance(catalogue()[name], SegmentTrap)
        else f"{name}:rate={_RATES.get(name, _RATE)}"
        for name in names
    )
