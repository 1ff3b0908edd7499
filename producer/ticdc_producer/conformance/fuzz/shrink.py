"""Shrinks an example that a testee gets wrong to a small one that it gets wrong, too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.fuzz import sql_edits
from ticdc_producer.conformance.fuzz.example import FuzzExample, TopicRequest
from ticdc_producer.conformance.fuzz.testee import FuzzTestee, Wrong
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.restart.plan import without_lives
from ticdc_producer.errors import ProducerError

Fails = Callable[[FuzzExample], Awaitable[bool]]
"""Whether the testee gets an example wrong; False also if the example is not valid."""
Variants = Callable[[FuzzExample], Iterator[FuzzExample]]

MAX_TRIES = 1500
"""Most variants that are tried; a small history takes a few hundred."""
_BASIC_OPTIONS = ("enable-tidb-extension", "output-ddl", "force-replicate")
_OTHER_SEEDS = 8


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An example that a testee gets wrong.

    :param number: which example it was, from 1; 0 for one of an earlier run.
    :param original: as it was drawn.
    :param smallest: after shrinking.
    :param wrong: the case of the smallest example, and the differences.
    :param tries: number of variants that were tried.
    """

    number: int
    original: FuzzExample
    smallest: FuzzExample
    wrong: Wrong
    tries: int


async def shrunk(testee: FuzzTestee, example: FuzzExample, wrong: Wrong, *, number: int = 0) -> Failure:
    """Shrink an example that a testee gets wrong.

    :param number: which example it was.
    """
    last = wrong

    async def fails(variant: FuzzExample) -> bool:
        nonlocal last
        failure = await first_wrong(testee, variant)
        last = failure or last
        return failure is not None

    one_level = replace(example, levels=(Level(wrong.case.request.level),), traps=(), lives=())
    if isinstance(wrong.case, RestartCase):
        one_level = replace(one_level, max_stops=len(wrong.case.lives or ()))
    shrinker = Shrinker(fails)
    smallest = await shrinker.smallest(one_level)
    if isinstance(last.case, RestartCase):
        smallest = await shrinker.fewest_lives(replace(smallest, lives=last.case.lives or ()))
    return Failure(number=number, original=example, smallest=smallest, wrong=last, tries=shrinker.tries)


async def first_wrong(testee: FuzzTestee, example: FuzzExample) -> Wrong | None:
    """Return the first case of an example that a testee gets wrong; None also if the example is not valid."""
    try:
        cases = [*build_topic(example).cases("fuzz")]
    except ProducerError:
        return None
    return (await testee.answer(cases)).wrong


@dataclass
class Shrinker:
    """A search for a smaller variant that fails, until none of the next ones does.

    :param fails: whether the testee gets an example wrong.
    :param passes: what is tried, in this order; None: all that an example has.
    :param most: most variants that are tried.
    :ivar tries: number of variants that were tried.
    """

    fails: Fails
    passes: Sequence[Variants] | None = None
    most: int = MAX_TRIES
    tries: int = 0
    _known: set[bytes] = field(default_factory=set)

    async def smallest(self, example: FuzzExample) -> FuzzExample:
        """Return the smallest failing variant. The example itself fails."""
        size = -1
        while size != _size(example):
            size = _size(example)
            for variants in _PASSES if self.passes is None else self.passes:
                example = await self._pass(example, variants)
        return example

    async def fewest_lives(self, example: FuzzExample) -> FuzzExample:
        """Return the failing variant with the fewest stops. The example itself fails, with its stops."""
        return await self._pass(example, _fewer_lives)

    async def _pass(self, example: FuzzExample, variants: Variants) -> FuzzExample:
        """Replace the example by its first variant that fails, as long as there is one."""
        smaller: FuzzExample | None = example
        while smaller is not None:
            example, smaller = smaller, None
            for variant in variants(example):
                if await self._fails(variant):
                    smaller = variant
                    break
        return example

    async def _fails(self, variant: FuzzExample) -> bool:
        identity = repr(variant).encode()
        if identity in self._known or self.tries >= self.most:
            return False
        self._known.add(identity)
        self.tries += 1
        return await self.fails(variant)


def _size(example: FuzzExample) -> int:
    return len(repr(example))


def _fewer_statements(example: FuzzExample) -> Iterator[FuzzExample]:
    """Yield variants with fewer statements: halves first, then smaller runs of statements."""
    size = max(1, len(example.sql) // 2)
    while size:
        for script in sql_edits.without_statements(example.sql, size):
            yield replace(example, sql=script)
        size //= 2


def _plainer_delivery(example: FuzzExample) -> Iterator[FuzzExample]:
    """Yield variants that lack one thing that is not SQL: traps, options, partitions, order of delivery."""
    for level in example.levels if len(example.levels) > 1 else ():
        yield replace(example, levels=(level,))
    for delivery in example.deliveries if len(example.deliveries) > 1 else ():
        yield replace(example, deliveries=(delivery,))
    if len(example.deliveries) == 1:
        yield from (replace(example, deliveries=(plainer,)) for plainer in _plainer(example.deliveries[0]))
    if example.batch > 1:
        yield replace(example, batch=1)
    if example.partitions > 1:
        yield replace(example, partitions=1)
        yield replace(example, partitions=example.partitions - 1)
    if example.dispatch:
        yield replace(example, dispatch="")
    if example.topic:
        yield replace(example, topic="")
    if example.seed:
        yield replace(example, seed=0)
    for trap in example.inject:
        yield replace(example, inject=tuple(other for other in example.inject if other != trap))
    for name in example.options:
        if name not in _BASIC_OPTIONS:
            yield replace(
                example, options={key: value for key, value in example.options.items() if key != name}
            )


def _fewer_lives(example: FuzzExample) -> Iterator[FuzzExample]:
    return (replace(example, lives=plan) for plan in without_lives(example.lives) if plan)


def _plainer(delivery: TopicRequest) -> Iterator[TopicRequest]:
    if delivery.at_commit is not None:
        yield replace(delivery, at_commit=None)
    if delivery.order != "in-turn":
        yield replace(delivery, order="in-turn", seed=0)
    if delivery.seed:
        yield replace(delivery, seed=0)


def _certain_traps(example: FuzzExample) -> Iterator[FuzzExample]:
    """Yield variants whose traps happen wherever they can.

    Such traps do not depend on the statements around them.
    """
    for index, trap in enumerate(example.inject):
        name, _, numbers = trap.partition(":")
        certain = f"{name}:rate=1" + (",window=2" if "window=" in numbers else "")
        if certain != trap:
            yield replace(example, inject=(*example.inject[:index], certain, *example.inject[index + 1 :]))


def _edits(edit: Callable[[sql_edits.Script], Iterator[sql_edits.Script]]) -> Variants:
    def variants(example: FuzzExample) -> Iterator[FuzzExample]:
        return (replace(example, sql=script) for script in edit(example.sql))

    return variants


def _fewer_statements_by_chance(example: FuzzExample) -> Iterator[FuzzExample]:
    """Yield variants with one statement less and other seeds: traps and orders depend on all statements."""
    if not example.inject and all(delivery.order == "in-turn" for delivery in example.deliveries):
        return
    for script in sql_edits.without_statements(example.sql, 1):
        for seed in range(_OTHER_SEEDS):
            deliveries = tuple(replace(delivery, seed=seed) for delivery in example.deliveries)
            yield replace(example, sql=script, seed=seed, deliveries=deliveries)


_PASSES: tuple[Variants, ...] = (
    _fewer_statements,
    _plainer_delivery,
    _certain_traps,
    _edits(sql_edits.without_rows),
    _edits(sql_edits.without_transactions),
    _edits(sql_edits.without_columns),
    _fewer_statements_by_chance,
    _edits(sql_edits.with_fewer_clauses),
    _edits(sql_edits.with_simpler_values),
)
SQL_PASSES: tuple[Variants, ...] = (
    _edits(sql_edits.without_tables),
    _edits(sql_edits.without_keys),
    _fewer_statements,
    _edits(sql_edits.without_transactions),
    _edits(sql_edits.without_columns),
    _edits(sql_edits.with_fewer_clauses),
    _edits(sql_edits.with_simpler_values),
)
"""What is tried of a history alone, whatever its size."""
