"""The files that ``SOURCE`` commands and ``LOAD DATA`` statements of a scenario's SQL read.

A file is named relative to the folder of the scenario, also in a file that is itself sourced: as by a mysql
client that runs in this folder. All files are read before the first statement runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import shortened
from ticdc_producer.scenario.sql.text.dialect import string_text
from ticdc_producer.scenario.sql.text.lexer import LITERAL_PATTERNS, is_utf8_outside_of_strings, sections

MAX_BYTES = 64 << 20
"""Bytes of a scenario, with the files that it sources."""
_MAX_DEPTH, _MAX_COMMANDS, _LONGEST_NAME = 16, 1_000, 100


@dataclass(frozen=True, slots=True)
class SourcedFile:
    """A file that a ``SOURCE`` command, or a ``LOAD DATA``, reads.

    :param file: its path, as errors name it.
    :param text: its content.
    """

    file: str
    text: str


SourcedFiles: TypeAlias = Mapping[tuple[str, int], SourcedFile]
"""The sourced files by file and line of their ``SOURCE`` commands; those of LOAD DATA, see ``loaded_by``."""
_LOAD = re.compile(rf"\bLOAD\s+DATA\b[^;'\"]*?\bINFILE\s*({LITERAL_PATTERNS['string']})", re.IGNORECASE)


def loaded_by(name: str) -> tuple[str, int]:
    """Return the key of a file that ``LOAD DATA`` reads, in place of those of ``SOURCE`` commands."""
    return name, 0


@dataclass
class SourceReader:
    """A reader of the files that SQL sources.

    :param folder: the folder of the scenario; no file outside of it is read.
    :ivar files: the files that were read.
    :ivar paths: their paths, and that of one that could not be read.
    """

    folder: Path
    files: dict[tuple[str, int], SourcedFile] = field(default_factory=dict)
    paths: set[str] = field(default_factory=set)
    _texts: dict[Path, str] = field(default_factory=dict)
    _nbytes: int = 0
    _commands: int = 0

    def read(self, text: str, file: str, line: int = 1) -> None:
        """Read the files that a text sources, and those that these source.

        :param file: the file that has the text.
        :param line: its line at which the text starts.
        :raises ScenarioError: at the ``SOURCE`` command whose file cannot be read, is outside of the folder,
            or sources itself, or which is one too many.
        """
        self._read(text, file, line, ())

    def _read(self, text: str, file: str, line: int, above: tuple[Path, ...]) -> None:
        for name, at in _commands(text, line):
            try:
                path = self._path(name)
                self.paths.add(str(self.folder / name))
                self._check(path, above)
                if path not in self._texts:
                    self._texts[path] = sql_text(read_content(path), str(self.folder / name))
                sourced = SourcedFile(str(self.folder / name), self._texts[path])
                self._count(sourced)
                # In YAML two steps may have the same line.
                if self.files.setdefault((file, at), sourced) != sourced:
                    what = "two SOURCE commands with different files have the same line"
                    raise ScenarioError(what, hint="write each step on lines of its own")
            except ScenarioError as error:
                raise error.at(file, at) from None
            self._read(sourced.text, sourced.file, 1, (*above, path))
        for match in _LOAD.finditer(text):
            try:
                self._load(string_text(match[1]))
            except ScenarioError as error:
                raise error.at(file, line + text.count("\n", 0, match.start())) from None

    def _load(self, name: str) -> None:
        """Read a file of ``LOAD DATA``. One that cannot be read is an error only if the statement runs."""
        try:
            path = self._path(name)
        except ScenarioError:
            return
        self.paths.add(str(self.folder / name))
        if path.is_file() and loaded_by(name) not in self.files:
            text = read_content(path).decode("utf-8", "surrogateescape")
            self._count(loaded := SourcedFile(str(self.folder / name), text))
            self.files[loaded_by(name)] = loaded

    def _path(self, name: str) -> Path:
        """Return the path of a file without symbolic links.

        :raises ScenarioError: if it is outside of the folder.
        """
        try:
            path = (self.folder / name).resolve()
            if name and path.is_relative_to(self.folder.resolve()):
                with suppress(FileNotFoundError, NotADirectoryError):  # reading it reports that
                    path.stat()  # an error for a name that is too long
                return path
        except (OSError, RuntimeError, ValueError):  # also for links in a circle, and a NUL
            raise ScenarioError(f"SOURCE cannot read {shortened(name, _LONGEST_NAME)!r}") from None
        what = f"SOURCE of {name!r}, which is not in the folder of the scenario, is not allowed"
        raise ScenarioError(what, hint="copy the file there")

    def _check(self, path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            raise ScenarioError(f"{path.name!r} sources itself")
        if len(above) >= _MAX_DEPTH:
            raise ScenarioError(f"more than {_MAX_DEPTH} files source one another")

    def _count(self, sourced: SourcedFile) -> None:
        self._commands += 1
        self._nbytes += len(sourced.text)
        if self._commands > _MAX_COMMANDS or self._nbytes > MAX_BYTES:
            limit = f"{_MAX_COMMANDS} files, or {MAX_BYTES >> 20} MiB"
            raise ScenarioError(f"the scenario sources more than {limit}")


def _commands(text: str, line: int) -> Iterator[tuple[str, int]]:
    """Yield the file and the line of each ``SOURCE`` command."""
    start = 0
    for section in sections(text):
        line += text.count("\n", start, section.end)
        start = section.end
        if section.source is not None:
            yield section.source, line


def read_content(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if its name ends with ``.gz``, ``.bz2``, ``.zst`` or ``.lz4``.

    :raises ScenarioError: if it cannot be read, or is too large.
    """
    from pyarrow import ArrowInvalid, input_stream

    if not path.is_file():  # also not a pipe
        raise ScenarioError(f"there is no file {path.name!r}")
    try:
        with input_stream(str(path)) as content:
            data = bytes(content.read(MAX_BYTES + 1))
    except (OSError, ArrowInvalid) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is damaged"
        raise ScenarioError(f"cannot read {path.name!r}: {reason}") from None
    if len(data) > MAX_BYTES:
        raise ScenarioError(f"{path.name!r} is larger than {MAX_BYTES >> 20} MiB")
    return data


def sql_text(content: bytes, file: str) -> str:
    """Return SQL as text, in which bytes of strings that are not UTF-8 are surrogates.

    :raises ScenarioError: with file and line, for other bytes that are not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    if is_utf8_outside_of_strings(text):
        return text
    hint = "save it in that encoding"
    raise ScenarioError("the scenario is not UTF-8", file=file, line=line, hint=hint) from None
