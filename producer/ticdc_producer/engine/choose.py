"""The engine of a run or a verification: the only place that decides it; and the errors of its workers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ticdc_producer.engine import ENGINES, SMALL_BYTES, SMALL_EVENTS, EngineOption
from ticdc_producer.engine.dataset import Engine, EngineName
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import ArgumentError

UNKNOWN_EVENTS = 1 << 62
"""The number of events in place of one that nobody counted, of more than a few rows."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The amount of work.

    :param events: events or messages.
    :param nbytes: bytes of row images, or of files.
    :param rows: rows that are shuffled; 0: unknown.
    :param requires_spark: the part that only Spark can do, such as ``a `data` step``; empty: none.
    """

    events: int
    nbytes: int = 0
    rows: int = 0
    requires_spark: str = ""


@dataclass(frozen=True)
class EngineChoice:
    """The engine of a run or a verification.

    :param reason: the reason for the choice.
    """

    name: EngineName
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"

    def to_json(self) -> dict[str, str]:
        """Return the fields as a JSON object."""
        return {"name": self.name, "reason": self.reason}


def choose_engine(option: EngineOption, estimate: Estimate) -> EngineChoice:
    """Return the engine for some work.

    :param option: the engine that is requested; ``auto``: the faster one.
    :raises ArgumentError: for an unknown engine, and for ``local`` if the work requires Spark.
    """
    if option not in ENGINES:
        raise ArgumentError(
            f"{option!r} is not an engine", argument="engine", hint=f"one of {', '.join(ENGINES)}"
        ).about("engine")
    if option == "spark":
        return EngineChoice("spark", "it was requested")
    if estimate.requires_spark and option == "local":
        what = f"the engine `local` cannot do this: {estimate.requires_spark} requires Spark"
        raise ArgumentError(what, argument="engine", hint="choose `spark` or `auto`").about("engine")
    if option == "local":
        return EngineChoice("local", "it was requested")
    if estimate.requires_spark:
        return EngineChoice("spark", f"{estimate.requires_spark} requires it")
    if estimate.events >= UNKNOWN_EVENTS:
        return EngineChoice("spark", f"there may be more than {SMALL_EVENTS:,} events")
    if estimate.events > SMALL_EVENTS:
        return EngineChoice("spark", f"{estimate.events:,} events are more than {SMALL_EVENTS:,}")
    if estimate.nbytes > SMALL_BYTES:
        return EngineChoice(
            "spark", f"{estimate.nbytes >> 20} MiB of row images are more than {SMALL_BYTES >> 20}"
        )
    return EngineChoice("local", f"up to {SMALL_EVENTS:,} events run in one process")


@dataclass
class EngineStart:
    """The engine of a choice, which starts when it is first needed.

    :param rows: rows that are shuffled; 0: unknown.
    :param on_status: called with a line of text before Spark starts.
    """

    choice: EngineChoice
    rows: int = 0
    on_status: Callable[[str], None] = lambda _line: None
    _engine: Engine | None = field(default=None, init=False)

    @classmethod
    def of(cls, option: EngineOption, estimate: Estimate, on_status: Callable[[str], None]) -> EngineStart:
        """Return the engine for some work.

        :raises ArgumentError: as :func:`choose_engine` does.
        """
        return cls(choose_engine(option, estimate), estimate.rows, on_status)

    def __call__(self) -> Engine:
        """Return the engine."""
        if self._engine is None:
            self._engine = LocalEngine() if self.choice.name == "local" else self._spark()
        return self._engine

    def _spark(self) -> Engine:
        from ticdc_producer.spark.session import announce_start, spark_session

        announce_start(self.on_status)
        session = spark_session(rows=self.rows)
        from ticdc_producer.engine.spark import SparkEngine

        return SparkEngine(session)


@contextmanager
def translate_worker_errors() -> Iterator[None]:
    """Raise the error of a task in place of Spark's exception for it.

    :raises ProducerError: as the task raised it.
    """
    try:
        yield
    except Exception as error:
        if "pyspark" not in sys.modules:
            raise
        from ticdc_producer.spark.spark_errors import worker_error

        translated = worker_error(error)
        if translated is None:
            raise
        raise translated from None
