"""Shrinks a recording to a short SQL scenario with which a command fails, too.

recording ──▶ golden folder ──▶ statements ──▶ fewer tables, keys, transactions, columns, shorter values
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.recorded import recorded_example
from ticdc_producer.conformance.fuzz.shrink import SQL_PASSES, Shrinker
from ticdc_producer.errors import ConformanceError, ProducerError
from ticdc_producer.runs.run import run
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.recordings import SCENARIO_FILE
from ticdc_producer.scenario.scenario import literal, yaml_text
from ticdc_producer.scenario.yaml_tree import read_yaml
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.targets.golden.folder import new_folder

MAX_TRIES = 5000
_CREATES_DATABASE = re.compile(r"\s*CREATE\s+(DATABASE|SCHEMA)\b", re.IGNORECASE)
SQL_FILE = "shrunk.sql"
_ROWS = "changes.parquet"
_GOLDEN_URI = "kafka:///recording?protocol=open-protocol&partition-num=1"


@dataclass(frozen=True, kw_only=True)
class ShrunkRecording:
    """A short scenario with which a command fails.

    :param folder: the scenario; ``shrunk.sql`` in it has the statements alone.
    :param statements: their number.
    :param before: number of statements of the whole history.
    :param tries: number of variants that were tried.
    """

    folder: Path
    statements: int
    before: int
    tries: int

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        shrunk = f"{self.before:,} statements shrunk to {self.statements:,} in {self.tries:,} tries"
        yield f"{shrunk}: {self.folder}"
        yield from (self.folder / SQL_FILE).read_text("utf-8").splitlines()


def is_recording(folder: Path) -> bool:
    """Return whether a folder is a recording."""
    return (folder / _ROWS).is_file() and (folder / SCENARIO_FILE).is_file()


def shrink_recording(
    recording: Path, command: str, out: Path, on_status: Callable[[str], None] = lambda _line: None
) -> ShrunkRecording:
    """Shrink a recording while a command fails.

    :param command: it gets the folder of a scenario as its last argument, and fails with an exit code other
        than 0.
    :param out: folder of the scenario to write; must not exist, or be empty.
    :raises ConformanceError: if the command cannot start, or does not fail.
    """
    words = _words(command)
    document = _document(recording)
    with new_folder(out) as folder, TemporaryDirectory(prefix="ticdc-producer-shrink-") as temporary:
        example = _history(recording, document, Path(temporary))
        variants = _Variants(document, words, Path(temporary))
        shrinker = Shrinker(variants.fails, SQL_PASSES, MAX_TRIES)
        on_status(f"running {words[0]} with {len(example.sql):,} statements")
        smallest = asyncio.run(_smallest(shrinker, variants, example))
        variants.write(folder, smallest.sql)
        (folder / SQL_FILE).write_text(_script(smallest.sql), "utf-8")
    return ShrunkRecording(
        folder=out, statements=len(smallest.sql), before=len(example.sql), tries=shrinker.tries
    )


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        raise ConformanceError("the command has a quote that is not closed") from None
    if not words:
        raise ConformanceError("the command is empty", hint="it gets the folder of a scenario")
    return words


async def _smallest(shrinker: Shrinker, variants: _Variants, example: FuzzExample) -> FuzzExample:
    variants.check(example)
    if not await variants.fails(example):
        what = f"{shlex.join(variants.command)} does not fail with the history as SQL"
        hint = "it gets the folder of a scenario, and fails with an exit code other than 0"
        raise ConformanceError(what, hint=hint)
    return await shrinker.smallest(example)


def _document(recording: Path) -> dict[str, Any]:
    """Return the scenario of a recording without its rows."""
    file = recording / SCENARIO_FILE
    try:
        document = read_yaml(file.read_text("utf-8"), str(file)).data
    except (OSError, UnicodeDecodeError):
        document = None
    if not isinstance(document, dict) or not document.get("steps") or not is_recording(recording):
        what = "the folder is not a recording"
        raise ConformanceError(what, where=str(recording), hint="`record` makes one")
    return document


def _history(recording: Path, document: dict[str, Any], temporary: Path) -> FuzzExample:
    """Return the history as statements, from the beginning of its tables."""
    source = temporary / "recording"
    source.mkdir()
    (source / _ROWS).write_bytes((recording / _ROWS).read_bytes())
    whole = {key: value for key, value in document.items() if key != "start-ts"}
    (source / SCENARIO_FILE).write_text(yaml_text(_escaped(whole)), "utf-8")
    run(source, sink_uri=_GOLDEN_URI, out=temporary / "golden", engine="local", verify_output=False)
    example = recorded_example(temporary / "golden", ())
    return msgspec.structs.replace(example, sql=_short_names(example.sql))


def _short_names(script: tuple[str, ...]) -> tuple[str, ...]:
    """Return a script without repeated USE; tables have no database if all are in one."""
    schemas = {text.removeprefix("USE ") for text in script if text.startswith("USE ")} - {"USE ``"}
    if len(schemas) != 1:
        return script
    (schema,) = schemas
    if not any(_CREATES_DATABASE.match(text) for text in script):
        script = (f"CREATE DATABASE IF NOT EXISTS {schema}", *script)
    rows = re.compile(rf"^(INSERT INTO|UPDATE|DELETE FROM) {re.escape(schema)}\.")
    short, used = [], False
    for text in script:
        if text == f"USE {schema}" and used:
            continue
        used |= text == f"USE {schema}"
        short.append(rows.sub(r"\1 ", text))
    return tuple(short)


def _escaped(value: Any) -> Any:
    """Return values in which ``${NAME}`` is text: the environment variables of the file were read already."""
    if isinstance(value, dict):
        return {key: _escaped(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_escaped(entry) for entry in value]
    return literal(value) if isinstance(value, str) else value


def _script(statements: tuple[str, ...]) -> str:
    return "".join(f"{statement};\n" for statement in statements)


@dataclass
class _Variants:
    """The command with variants of the history.

    :param document: the scenario, whose steps are replaced.
    """

    document: dict[str, Any]
    command: list[str]
    temporary: Path

    def write(self, folder: Path, statements: tuple[str, ...]) -> None:
        """Write the scenario of some statements."""
        settings = self.document["steps"][0]
        document = {key: value for key, value in self.document.items() if key != "start-ts"}
        document |= {"resolved": {"after": "transaction"}, "steps": [settings, {"sql": _script(statements)}]}
        (folder / SCENARIO_FILE).write_text(yaml_text(_escaped(document)), "utf-8")

    def check(self, example: FuzzExample) -> None:
        """Check that the whole history runs as SQL.

        :raises ConformanceError: if it does not: a catalog or a change that SQL does not express.
        """
        try:
            with self._folder(example) as folder:
                prepare(load_scenario(folder))
        except ProducerError as error:
            what = f"the history does not run as SQL: {error.what}"
            raise ConformanceError(what, hint="record less, with `table` or `until`") from None

    async def fails(self, example: FuzzExample) -> bool:
        """Return whether the command fails; False also for a history that does not run."""
        with self._folder(example) as folder:
            try:
                prepare(load_scenario(folder))
            except ProducerError:
                return False
            return await self._exit_code(folder) != 0

    @contextmanager
    def _folder(self, example: FuzzExample) -> Iterator[Path]:
        """Yield a folder with the scenario; it is removed, because there are thousands of variants."""
        with TemporaryDirectory(dir=self.temporary, ignore_cleanup_errors=True) as name:
            folder = Path(name)
            self.write(folder, example.sql)
            yield folder

    async def _exit_code(self, folder: Path) -> int:
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command,
                str(folder),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError as error:
            what = f"{self.command[0]} does not start: {error.strerror}"
            raise ConformanceError(what) from None
        return await process.wait()
