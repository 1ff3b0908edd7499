"""Consumers that are right until they restart: the example testees, each with a change of its source."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
import yaml

from tests.peers.software import NotRun, maven

EXAMPLES = Path(__file__).parents[3] / "examples"


class SourceChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text of a testee's source, and the wrong text."""

    right: str
    wrong: str


class RestartBug(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bug that only a restart reveals.

    :param source: the users' thread with a bug of this kind; empty for one of our own.
    :param does: why the consumer is wrong, if the name does not say it.
    """

    name: str
    language: str
    changes: tuple[SourceChange, ...]
    source: str = ""
    does: str = ""


def _bugs(name: str) -> tuple[RestartBug, ...]:
    content = yaml.safe_load(Path(__file__).with_name(name).read_text("utf-8"))
    return msgspec.convert(content, tuple[RestartBug, ...])


BUGS = _bugs("bugs.yaml")
BLIND_BUGS = _bugs("blind_bugs.yaml")
"""Written without knowledge of the runner."""
ALL_BUGS = BUGS + BLIND_BUGS


def bug(name: str) -> RestartBug:
    """The bug with a name."""
    return next(entry for entry in ALL_BUGS if entry.name == name)


@dataclass(frozen=True)
class TesteeSource:
    """The files of a testee, and the one that has its bugs."""

    folder: Path
    pattern: str
    changed: str

    def copy(self, target: Path, change: RestartBug | None) -> Path:
        """Copy the files, with a bug; return the path of the changed file."""
        target.mkdir(parents=True)
        for path in self.folder.glob(self.pattern):
            shutil.copy(path, target)
        source = target / self.changed
        text = source.read_text("utf-8")
        for part in change.changes if change else ():
            assert text.count(part.right) == 1, part.right
            text = text.replace(part.right, part.wrong)
        source.write_text(text, "utf-8")
        return source


PYTHON = TesteeSource(EXAMPLES, "testee_python*.py", "testee_python_restart.py")
GO = TesteeSource(EXAMPLES / "testee_go", "*", "restart.go")
NODE = TesteeSource(EXAMPLES / "testee_node", "*.mjs", "restart.mjs")
JAVA = TesteeSource(EXAMPLES / "testee_java" / "src" / "main" / "java", "*.java", "Restarts.java")


def python(folder: Path, change: RestartBug | None) -> str:
    """The command of the testee in Python."""
    return shlex.join([sys.executable, str(PYTHON.copy(folder / "python", change))])


def go(folder: Path, change: RestartBug | None) -> str:
    """The command of the testee in Go."""
    source = GO.copy(folder / "go", change)
    subprocess.run([_program("go"), "build", "-o", "testee", "."], cwd=source.parent, check=True)
    return str(source.parent / "testee")


def node(folder: Path, change: RestartBug | None) -> str:
    """The command of the testee in Node."""
    source = NODE.copy(folder / "node", change)
    return shlex.join([_program("node"), str(source.with_name("testee.mjs"))])


def java(folder: Path, change: RestartBug | None) -> str:
    """The command of the testee in Java. Maven fetches its two libraries once."""
    java_command, compiler = _program("java"), _program("javac")
    libraries = EXAMPLES / "testee_java" / "target" / "lib"
    if not libraries.is_dir():
        maven(EXAMPLES / "testee_java", "compile")
    source = JAVA.copy(folder / "java", change)
    classpath = os.pathsep.join([str(source.parent), str(libraries / "*")])
    files = map(str, source.parent.glob("*.java"))
    subprocess.run([compiler, "-cp", classpath, "-d", str(source.parent), *files], check=True)
    return shlex.join([java_command, "-XX:+UseSerialGC", "-cp", classpath, "Testee"])


TESTEES: dict[str, Callable[[Path, RestartBug | None], str]] = {
    "python": python,
    "go": go,
    "node": node,
    "java": java,
}


def command(language: str, folder: Path, change: RestartBug | None = None) -> str:
    """The command of a testee, with a bug; the test is skipped if software is missing."""
    try:
        return TESTEES[language](folder, change)
    except NotRun as reason:
        pytest.skip(f"not run: {reason}")


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise NotRun(f"{name} is not on the PATH")
    return path
