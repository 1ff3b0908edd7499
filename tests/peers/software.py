"""Consumers of other projects, in one Java process that answers line by line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PROJECT = Path(__file__).parent / "consumers"
CDC_FORMATS = Path(__file__).parent / "cdc_formats"
"""Formats of Paimon and SeaTunnel, in a project of their own because of their dependencies."""
# Maven's messages for a jar that is neither in the local repository nor available for download.
_NOT_FETCHED = re.compile(r"could not be resolved|Could not resolve|Could not transfer|Cannot access")
# Without the last option Java omits the message of an exception that it has thrown often.
_JAVA = [
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dfile.encoding=UTF-8",
    "-Duser.timezone=UTC",
    "-Duser.language=en",
    "-XX:-OmitStackTraceInFastThrow",
]


class NotRun(Exception):
    """The consumers are not on this machine and cannot be fetched."""


@dataclass(frozen=True)
class Refusal:
    """A consumer threw: class and message of the innermost cause."""

    type: str
    message: str


@dataclass(frozen=True)
class Accepted:
    """The content that a consumer read from a message, in the form of the consumer."""

    content: Any


Answer = Accepted | Refusal


def build(project: Path = PROJECT) -> None:
    """Compile a project and download its dependencies.

    :raises NotRun: Maven or the network is missing.
    """
    options = [f"-Dmdep.outputFile={_class_path(project)}", "-Dmdep.includeScope=runtime"]
    maven(project, "compile", "dependency:build-classpath", *options)


def _class_path(project: Path) -> Path:
    return project / "target" / "classpath"


def maven(project: Path, *words: str) -> None:
    """Run Maven.

    :raises NotRun: Maven or the network is missing.
    """
    if shutil.which("mvn") is None:
        raise NotRun("Maven (mvn) is not on the PATH")
    done = subprocess.run(["mvn", "-B", "-q", *words], cwd=project, capture_output=True, text=True)
    if done.returncode and (match := _NOT_FETCHED.search(done.stdout)):
        line = done.stdout[done.stdout.rindex("\n", 0, match.start()) + 1 :].splitlines()[0]
        raise NotRun(f"Maven cannot fetch the consumers: {line}")
    assert done.returncode == 0, done.stdout + done.stderr


def java() -> str:
    """The command that starts Java."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


class Software:
    """The running process of a project."""

    def __init__(self, project: Path = PROJECT) -> None:
        classes = project / "target" / "classes"
        class_path = os.pathsep.join([str(classes), _class_path(project).read_text("utf-8")])
        self._process = subprocess.Popen(
            [java(), *_JAVA, "-cp", class_path, "peers.Main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()  # the process ends when its input is closed

    def ask(
        self, consumer: str, *, key: bytes | None, value: bytes | None, columns: str | list[str] = ""
    ) -> Answer:
        """Give one message to one consumer.

        :param columns: the columns as a user of the consumer would declare them, if the consumer needs them;
            only their names for a format of ``CDC_FORMATS``.
        """
        request = {"consumer": consumer, "columns": columns, "key": _base64(key), "value": _base64(value)}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Refusal(**answer["refused"]) if "refused" in answer else Accepted(answer["taken"])


def _base64(part: bytes | None) -> str | None:
    return None if part is None else b64encode(part).decode()


def bytes_of(part: str | None) -> bytes:
    """A part of a message in an answer."""
    assert part is not None
    return b64decode(part)
