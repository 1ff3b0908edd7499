"""Whole topics of scenarios as golden folders, made once by Spark and kept on this machine."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from pyspark.sql import SparkSession

from ticdc_producer.cache import cache_folder
from ticdc_producer.errors import FolderError
from ticdc_producer.runs.change_log import Upstream, upstream
from ticdc_producer.runs.consumer_state import AskedTable, asked_state
from ticdc_producer.runs.prepare import prepare
from ticdc_producer.runs.run import Manner, execute
from ticdc_producer.runs.run_report import Say, silent
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.spark.session import spark_session

_GOLDEN, _ASKED = "golden", "asked.json"
_END = "end"
_MAKERS = ("changefeed", "codec", "dispatch", "faults", "jobs", "model", "scenario", "sink", "stream")


@dataclass(frozen=True, kw_only=True)
class Topic:
    """What a topic is made of.

    :param scenario: name of a shipped one.
    :param sink_uri: without a host.
    :param sets: ``path=value`` for keys of the scenario.
    :param inject: traps to set.
    :param moments: TSOs at which the state is wanted, beside that at the end.
    """

    scenario: str
    sink_uri: str
    sets: tuple[str, ...] = ()
    inject: tuple[str, ...] = ()
    moments: tuple[int, ...] = ()


@dataclass(frozen=True)
class KeptTopic:
    """A topic on disk."""

    place: Path

    @property
    def golden(self) -> Path:
        """Its golden folder."""
        return self.place / _GOLDEN

    def tables(self, ts: int | None = None) -> list[AskedTable]:
        """The state that a consumer has.

        :param ts: one of the topic's moments; None: at the end.
        """
        content = json.loads((self.place / _ASKED).read_text("utf-8"))
        tables: list[AskedTable] = content[_END if ts is None else str(ts)]
        return tables


def kept_topic(topic: Topic, say: Say = silent) -> KeptTopic:
    """A topic from the cache; made and put there if it is missing.

    :param say: is told if it has to be made.
    :raises ProducerError: if Spark does not start, or the cache cannot be written.
    """
    place = _place(topic)
    if place.exists():
        return KeptTopic(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        new = Path(mkdtemp(dir=place.parent, prefix="partial-"))
    except OSError as error:
        hint = "TICDC_PRODUCER_CACHE names another one"
        raise FolderError(
            f"the cache cannot be written: {error.strerror}", path=str(place), hint=hint
        ) from None
    say(f"making the topic {topic.sink_uri} {' '.join(topic.inject)}".rstrip())
    try:
        _make(topic, new)
        with suppress(OSError):  # another process may have been quicker, with the same bytes
            new.replace(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return KeptTopic(place)


def _place(topic: Topic) -> Path:
    scenario = load_scenario(topic.scenario).sha256
    name = sha256(repr((_program(), scenario, astuple(topic))).encode()).hexdigest()[:32]
    return cache_folder() / "topics" / f"{topic.scenario}-{name}"


@cache
def _program() -> str:
    """A digest of the program as far as it makes topics: another version may make other bytes."""
    package = Path(__file__).parents[1]
    found = sha256()
    for path in sorted(path for maker in _MAKERS for path in (package / maker).rglob("*.py")):
        found.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


@dataclass(frozen=True)
class _Played:
    """A history, told from others by all that decides it."""

    settings: tuple[object, ...]
    history: History = field(compare=False)


@lru_cache(maxsize=2)
def _committed(spark: SparkSession, played: _Played) -> Upstream:
    """The topics of one scenario follow each other, in several protocols and with several faults."""
    return upstream(spark, played.history)


def _make(topic: Topic, place: Path) -> None:
    job = prepare(
        topic.scenario,
        sink_uri=topic.sink_uri,
        sets=topic.sets,
        inject=topic.inject,
        state_at=topic.moments,
    )
    spark = spark_session(light=True, rows=job.history.row_changes)
    feed = job.changefeed
    settings = (topic.scenario, topic.sets, feed.profile, feed.force_replicate)
    committed = _committed(spark, _Played(settings, job.history))
    golden = place / _GOLDEN
    execute(job, committed, golden, Manner(read_back=False))
    states = {_END: asked_state(job, golden)}
    states |= {str(ts): asked_state(job, golden, ts) for ts in job.state_at}
    (place / _ASKED).write_text(json.dumps(states, ensure_ascii=False) + "\n", "utf-8")
