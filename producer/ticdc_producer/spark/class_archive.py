"""What Spark's JVM has loaded, kept as it lay in memory, so that the next JVM need not load and check it.

A JVM can write its classes to a file when it ends, and map that file when it starts (class data sharing).
docs/performance.md has what it costs and what it saves.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen, TimeoutExpired

from ticdc_producer.cache import cache_folder

_WRITE_SECONDS = 120
"""How long the end of a program waits for the file at most; some ten seconds are usual."""


@dataclass(frozen=True)
class ClassArchive:
    """The file of one Java and one Spark.

    A JVM compares the file with its own version and with size and time of each jar, and does without it if
    any differs: a wrong file costs time and nothing else.

    :param path: the file, which need not exist.
    """

    path: Path

    @property
    def there(self) -> bool:
        """Whether a JVM can start with it."""
        return self.path.is_file()

    def due(self) -> bool:
        """Whether to write it now: it is not there, and somebody has asked before.

        In a container or a CI job the first start is the last one: it would pay and gain nothing.
        """
        if self.there:
            return False
        noted = self.path.with_suffix(".started")
        if noted.exists():
            self._clear()  # a run that failed has written, but not put into place
            return True
        with suppress(OSError):  # where nothing can be noted, no archive can be written either
            noted.parent.mkdir(parents=True, exist_ok=True)
            noted.touch()
        return False

    @property
    def reading(self) -> str:
        """The JVM's option to start with it."""
        return f"-XX:SharedArchiveFile={self.path}"

    @property
    def writing(self) -> str:
        """The JVM's option to write it at its end, beside its place."""
        return f"-XX:ArchiveClassesAtExit={self._part}"

    def put_into_place(self, jvm: Popen[bytes]) -> None:
        """Wait for a JVM that was started with ``writing`` to end, and give its file the name.

        Two programs may do so at once: each has its own file, and one stays. What an interrupted one left is
        removed. Where the JVM wrote nothing, or the waiting is interrupted, later starts are no quicker.

        :param jvm: it ends when its input does.
        """
        with suppress(OSError, TimeoutExpired, KeyboardInterrupt):
            if jvm.stdin is not None:
                jvm.stdin.close()
            jvm.wait(_WRITE_SECONDS)
            self._part.replace(self.path)
        self._clear()

    def _clear(self) -> None:
        with suppress(OSError):
            for left in self.path.parent.glob(f"{self.path.stem}.*.part"):
                left.unlink()

    @property
    def _part(self) -> Path:
        return self.path.with_suffix(f".{os.getpid()}.part")


def class_archive(java_home: Path) -> ClassArchive:
    """Where the archive of this Java and of the Spark that this Python starts is, or would be.

    :param java_home: its ``release`` file tells one build from another.
    """
    import pyspark

    spark_home = os.environ.get("SPARK_HOME", str(Path(pyspark.__file__).parent))
    told = [str(java_home), _release(java_home), spark_home, pyspark.__version__]
    name = hashlib.sha256("\0".join(told).encode()).hexdigest()[:16]
    return ClassArchive(cache_folder() / "classes" / f"spark-{name}.jsa")


def _release(java_home: Path) -> str:
    try:
        return (java_home / "release").read_text(errors="replace")
    except OSError:
        return ""
