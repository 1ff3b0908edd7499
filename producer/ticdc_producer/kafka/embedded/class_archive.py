"""An archive of the classes that the JVM of Spark or Kafka has loaded, so that the next JVM starts faster.

A JVM can write its loaded classes to a file when it ends, and map that file when it starts (class data
sharing). docs/performance.md has the cost and the gain.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex
from subprocess import Popen, TimeoutExpired

from ticdc_producer.resources import cache_folder

_WRITE_SECONDS = 120
"""The longest wait of a program, at its end, for the file of Spark's JVM; ten seconds are usual."""


@dataclass(frozen=True)
class ClassArchive:
    """The archive file of one Java and one version of a program.

    A JVM compares the archive with its own version and with size and time of each jar, and ignores the
    archive if any differs. A wrong archive costs time and has no other effect.

    :param path: the file, which need not exist.
    :param writer: name of the JVM that writes it; its file has this name until it is complete.
    """

    path: Path
    writer: str = field(default_factory=partial(token_hex, 8))

    @property
    def exists(self) -> bool:
        """Whether a JVM can be started with the archive."""
        return self.path.is_file()

    def is_due(self) -> bool:
        """Return whether this start should write the archive: it is missing, and this is not the first start.

        The first start is only recorded. In a container or a CI job no second start follows, so writing an
        archive would take time without a gain.
        """
        if self.exists:
            return False
        if self.is_overdue:
            self._remove_temporary_files()  # a failed run may have left one
            return True
        with suppress(OSError):  # if this folder cannot be written, no archive can be written either
            self._first_start.parent.mkdir(parents=True, exist_ok=True)
            self._first_start.touch()
        return False

    @property
    def is_overdue(self) -> bool:
        """Whether the archive ``is_due``; does not record a start."""
        return not self.exists and self._first_start.exists()

    @property
    def _first_start(self) -> Path:
        return self.path.with_suffix(".started")

    @property
    def read_option(self) -> str:
        """The JVM option that starts the JVM with the archive."""
        return f"-XX:SharedArchiveFile={self.path}"

    @property
    def write_option(self) -> str:
        """The JVM option that writes the archive to a temporary file when the JVM ends."""
        return f"-XX:ArchiveClassesAtExit={self.temporary_file}"

    def install(self, jvm: Popen[bytes]) -> None:
        """Wait until a JVM that was started with ``write_option`` has ended, and rename its file to ``path``.

        Two programs may do so at once: each has its own temporary file, and one of them remains. Temporary
        files of interrupted programs are removed. If the JVM wrote no file, or the wait is interrupted, no
        archive is installed and later starts are not faster.

        :param jvm: a process that ends when its standard input is closed.
        """
        with suppress(OSError, TimeoutExpired, KeyboardInterrupt):
            if jvm.stdin is not None:
                jvm.stdin.close()
            jvm.wait(_WRITE_SECONDS)
            self.temporary_file.replace(self.path)
        self._remove_temporary_files()

    def _remove_temporary_files(self) -> None:
        with suppress(OSError):
            for file in self.path.parent.glob(f"{self.path.stem}.*.part"):
                file.unlink()

    @property
    def temporary_file(self) -> Path:
        """The file that the JVM writes; it is renamed to ``path`` when the JVM has ended."""
        return self.path.with_suffix(f".{self.writer}.part")


def class_archive(program: str, java_home: Path, *identity: str) -> ClassArchive:
    """Return the archive of a program on this Java; its file need not exist.

    :param program: begins the name of the file.
    :param java_home: the Java; the ``release`` file in it identifies the build.
    :param identity: the version of the program.
    """
    parts = [str(java_home), _release(java_home), *identity]
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    return ClassArchive(cache_folder() / "classes" / f"{program}-{name}.jsa")


def _release(java_home: Path) -> str:
    try:
        return (java_home / "release").read_text(errors="replace")
    except OSError:
        return ""
