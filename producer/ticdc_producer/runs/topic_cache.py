"""A cache of topics of scenarios: golden folders that are written once per machine."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from ticdc_producer.errors import FolderError
from ticdc_producer.resources import cache_folder
from ticdc_producer.runs.consumer_state import ConsumerTable, consumer_state
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import OnStatus, RunOptions, ignore_status
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.simulate.job import prepare

_GOLDEN, _STATES = "golden", "consumer_state.json"
_END, _END_WITH_DDL = "end", "end, following DDLs"
PACKAGES = (
    "config",
    "dispatch",
    "engine",
    "faults",
    "model",
    "oracle",
    "pipeline",
    "protocols",
    "runs",
    "scenario",
    "simulate",
    "spark",
    "targets",
)
"""Packages whose code determines the bytes of a topic."""


@dataclass(frozen=True, kw_only=True)
class Topic:
    """The definition of a topic.

    :param scenario: name of a shipped scenario.
    :param sink_uri: a sink URI without a host.
    :param overrides: ``path=value`` for keys of the scenario.
    :param inject: traps to inject.
    :param moments: time stamps (TSO) of consumer states, in addition to the state at the end.
    """

    scenario: str
    sink_uri: str
    overrides: tuple[str, ...] = ()
    inject: tuple[str, ...] = ()
    moments: tuple[int, ...] = ()


@dataclass(frozen=True)
class CachedTopic:
    """A topic in the cache."""

    folder: Path

    @property
    def golden(self) -> Path:
        """The topic's golden folder."""
        return self.folder / _GOLDEN

    def tables(self, ts: int | None = None, *, follows_ddl: bool = False) -> list[ConsumerTable]:
        """Return the tables that a consumer derives from the topic.

        :param ts: one of the topic's time stamps; None: the state at the end.
        :param follows_ddl: whether the consumer parses DDLs; only for the state at the end.
        """
        content = json.loads((self.folder / _STATES).read_text("utf-8"))
        tables: list[ConsumerTable] = content[
            _END_WITH_DDL if follows_ddl else _END if ts is None else str(ts)
        ]
        return tables


def cached_topic(topic: Topic, on_status: OnStatus = ignore_status) -> CachedTopic:
    """Return a topic from the cache; write it into the cache if it is missing.

    :param on_status: called with a line of text if the topic must be written.
    :raises ProducerError: if Spark does not start, or the cache cannot be written.
    """
    folder = _cache_path(topic)
    if folder.exists():
        return CachedTopic(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(mkdtemp(dir=folder.parent, prefix="partial-"))
    except OSError as error:
        hint = "TICDC_PRODUCER_CACHE sets another folder"
        raise FolderError(
            f"the cache cannot be written: {error.strerror}", path=str(folder), hint=hint
        ) from None
    on_status(f"writing the topic {topic.sink_uri} {' '.join(topic.inject)}".rstrip())
    try:
        _make(topic, new)
        with suppress(OSError):  # another process may have been quicker, with the same bytes
            new.replace(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return CachedTopic(folder)


def _cache_path(topic: Topic) -> Path:
    scenario = load_scenario(topic.scenario).sha256
    name = sha256(repr((_program(), scenario, astuple(topic))).encode()).hexdigest()[:32]
    return cache_folder() / "topics" / f"{topic.scenario}-{name}"


@cache
def _program() -> str:
    """Return a digest of the code that determines the bytes of topics."""
    package = Path(__file__).parents[1]
    digest = sha256()
    for path in sorted(path for name in PACKAGES for path in (package / name).rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _make(topic: Topic, folder: Path) -> None:
    job = prepare(
        topic.scenario,
        sink_uri=topic.sink_uri,
        overrides=topic.overrides,
        inject=topic.inject,
        state_at=topic.moments,
    )
    golden = folder / _GOLDEN
    run_job(job, RunOptions(out=golden, verify_output=False))
    states = {
        _END: consumer_state(job, golden),
        _END_WITH_DDL: consumer_state(job, golden, follows_ddl=True),
    }
    states |= {str(ts): consumer_state(job, golden, ts) for ts in job.state_at}
    (folder / _STATES).write_text(json.dumps(states, ensure_ascii=False) + "\n", "utf-8")
