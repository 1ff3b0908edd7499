"""The cases of the storage level: the folder of a storage sink, and the rows that a reader of it must have.

Each folder is written once per machine; all requests name it by its path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, urlencode

import msgspec
import yaml

from ticdc_producer.conformance.case import RowsCase
from ticdc_producer.conformance.compare import ExpectedRows
from ticdc_producer.conformance.wire import StorageRequest
from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.parameter import FileProtocol
from ticdc_producer.protocols.registry import protocol_spec
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.topic_cache import cached_folder, consumer_state_of_sql
from ticdc_producer.scenario.scenario import Scenario
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare

_END = "terminator"
"""The option of files that is outside of the section of CSV."""


class FolderSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="kebab"):
    """A folder in some protocols, and the rows that are requested of it.

    :param description: one sentence: the requirement for a consumer.
    :param sql: the statements.
    :param every: time between two commits; empty: as in every scenario.
    :param overrides: ``path=value`` for keys of the scenario.
    :param protocols: protocol → options; empty: all protocols, with their options.
    :param follows_ddl: whether tables that a DDL altered are requested, too.
    """

    description: str = msgspec.field(name="says")
    sql: str
    every: str = ""
    overrides: tuple[str, ...] = msgspec.field(default=(), name="sets")
    protocols: dict[FileProtocol, dict[str, Plain]] = msgspec.field(default_factory=dict)
    follows_ddl: bool = False


class _FolderCorpus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    protocols: dict[FileProtocol, dict[str, Plain]]
    folders: dict[str, FolderSpec]


@dataclass(frozen=True, kw_only=True)
class StorageCaseSpec:
    """A folder in one protocol."""

    name: str
    folder_spec: FolderSpec
    protocol: FileProtocol
    options: Mapping[str, Plain]

    @property
    def id(self) -> str:
        """Stable and unique: strength, protocol, level and name."""
        strength = "recommended" if self.folder_spec.follows_ddl else "required"
        return f"{strength}.{self.protocol}.storage.{self.name}"

    @property
    def description(self) -> str:
        """The requirement for a consumer."""
        return self.folder_spec.description

    def job(self, folder: Path) -> Job:
        """Return the run that writes the folder."""
        own, section = self.folder_spec, protocol_spec(self.protocol).section
        scenario = Scenario(self.name, clock={"every": own.every} if own.every else None).sql(own.sql)
        uri = f"file://{quote(str(folder))}?protocol={self.protocol}"
        if not section:
            given = {name: str(value).lower() for name, value in self.options.items()}
            return prepare(scenario, sink_uri=f"{uri}&{urlencode(given)}", overrides=own.overrides)
        ends = {name: value for name, value in self.options.items() if name == _END}
        of_section = {name: value for name, value in self.options.items() if name != _END}
        config = {"sink": {**ends, section: of_section}}
        return prepare(scenario, sink_uri=uri, config=config, overrides=own.overrides)


@cache
def storage_case_specs() -> tuple[StorageCaseSpec, ...]:
    """Return all folders, each in all of its protocols, in the order of the file."""
    text = files("ticdc_producer.conformance").joinpath("folders.yaml").read_text("utf-8")
    corpus = msgspec.convert(yaml.safe_load(text), _FolderCorpus)
    return tuple(
        StorageCaseSpec(name=name, folder_spec=spec, protocol=protocol, options=options)
        for name, spec in corpus.folders.items()
        for protocol, options in (spec.protocols or corpus.protocols).items()
    )


@dataclass(frozen=True, kw_only=True)
class StorageCase(RowsCase):
    """A case of a folder."""

    request: StorageRequest


def build_storage_case(spec: StorageCaseSpec, on_status: Callable[[str], None]) -> StorageCase:
    """Build the case of a folder, which is written if it is not in the cache.

    :param on_status: called before it is written.
    :raises ProducerError: if it cannot be written.
    """
    folder, follows_ddl = _cached(spec, on_status), spec.folder_spec.follows_ddl
    tables = consumer_state_of_sql(spec.job(folder), follows_ddl=follows_ddl)
    expected = tuple(msgspec.convert(tables, list[ExpectedRows]))
    request = StorageRequest(
        case=spec.id,
        level="storage",
        protocol=spec.protocol,
        options=dict(spec.options),
        folder=str(folder),
        tables=[table.name for table in expected],
        follows_ddl=follows_ddl or msgspec.UNSET,
    )
    return StorageCase(id=spec.id, description=spec.description, request=request, expected=expected)


def _cached(spec: StorageCaseSpec, on_status: Callable[[str], None]) -> Path:
    """Return the folder of a case in the cache; write it if it is missing."""

    def write(folder: Path) -> None:
        on_status(f"writing the folder of {spec.id}")
        run_job(spec.job(folder), RunOptions(verify_output=False))

    return cached_folder("folders", spec.id, (spec.folder_spec, dict(spec.options)), write)
