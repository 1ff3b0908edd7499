"""Kafka's jars: downloaded once from a Maven repository into the user's cache, checked by SHA-256.

``kafka.lock`` lists the jars, one ``group:artifact:version sha256`` per line: all runtime dependencies of a
Kafka server, and the log4j binding that its log needs. ``python -m ticdc_producer.kafka.embedded.jars
VERSION`` writes the list again for another version of Kafka. Maven resolves the dependencies, this module
writes their coordinates and checksums. Review the difference before it is committed, and run the tests of
this package.

==============================  ============================================================
environment variable            meaning
==============================  ============================================================
``TICDC_PRODUCER_MAVEN_URL``    base URL of the repository; default Maven Central
``TICDC_PRODUCER_CACHE``        folder for the jars; default the user's cache folder
==============================  ============================================================
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ticdc_producer.errors import BrokerError
from ticdc_producer.resources import cache_folder

if TYPE_CHECKING:
    from pooch import Pooch


MAVEN_CENTRAL = "https://repo1.maven.org/maven2"
LOCK_FILE = "kafka.lock"
PARALLEL = 8
RETRIES = 3  # per jar, after 1, 2 and 3 seconds


@dataclass(frozen=True)
class Jar:
    """One line of the lock file."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def name(self) -> str:
        """The file's name, unique in the lock file."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> str:
        """The jar's path below the base URL of a Maven repository."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.name}"

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version} {self.sha256}"

    @classmethod
    def parse(cls, line: str) -> Jar:
        """Parse a line of the lock file, the inverse of ``str``."""
        coordinates, sha256 = line.split()
        group, artifact, version = coordinates.split(":")
        return cls(group, artifact, version, sha256)


def locked() -> list[Jar]:
    """Return the jars that the lock file names, in its order."""
    lines = files(__package__).joinpath(LOCK_FILE).read_text(encoding="ascii").splitlines()
    return [Jar.parse(line) for line in lines if line and not line.startswith("#")]


def jars(
    cache: Path | None = None, *, lock: Sequence[Jar] | None = None, retries: int = RETRIES
) -> list[Path]:
    """Return the class path of a Kafka broker; jars that are not in the cache yet are downloaded.

    Checksums are checked each time, also for jars in the cache. Several processes may do this at once,
    because each file is created by a rename.

    :param cache: folder for the jars; default: a folder in the user's cache.
    :param lock: the jars; default: those of the lock file.
    :param retries: how often the download of a jar is tried again.
    :raises BrokerError: if the repository cannot be reached, a file does not match its checksum in the lock
        file, or the cache cannot be written.
    """
    folder = cache or cache_folder() / "jars"
    required = locked() if lock is None else lock
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _fetch(required, folder, _repository(), retries)
    except OSError as error:
        raise BrokerError(
            f"cannot store Kafka's jars in {folder}: {error}",
            hint="set TICDC_PRODUCER_CACHE to a folder that can be written",
        ) from error
    return [folder / jar.name for jar in required]


def _repository() -> str:
    url = os.environ.get("TICDC_PRODUCER_MAVEN_URL") or MAVEN_CENTRAL
    if not url.startswith(("http://", "https://")):
        raise BrokerError(
            f"TICDC_PRODUCER_MAVEN_URL is {url!r}", hint="give the http:// or https:// URL of a repository"
        )
    return url.rstrip("/")


def _fetch(required: Sequence[Jar], folder: Path, repository: str, retries: int) -> None:
    """Download the jars that ``folder`` lacks, in parallel; the first failure cancels the rest."""
    import pooch  # importing pooch and requests takes 0.1 s, which only runs with a broker should pay
    from rich.console import Console
    from rich.progress import track

    fetcher = pooch.create(
        path=folder,
        base_url=repository,
        registry={jar.name: f"sha256:{jar.sha256}" for jar in required},
        urls={jar.name: f"{repository}/{jar.path}" for jar in required},
        retry_if_failed=retries,
    )
    pooch.get_logger().setLevel(logging.WARNING)  # it logs each file; we display one progress bar
    missing = sum(not (folder / jar.name).is_file() for jar in required)
    console = Console(stderr=True, quiet=not missing)
    title = f"fetching Kafka ({missing} jars) from {repository}"
    if not console.is_terminal:
        console.print(title, soft_wrap=True, highlight=False)
    with ThreadPoolExecutor(PARALLEL) as threads:
        pending = [threads.submit(_fetch_one, fetcher, jar, folder) for jar in required]
        try:
            finished = as_completed(pending)
            visible = missing and console.is_terminal
            for fetched in track(finished, title, len(pending), console=console, disable=not visible):
                fetched.result()
        finally:
            threads.shutdown(cancel_futures=True)


def _fetch_one(fetcher: Pooch, jar: Jar, folder: Path) -> None:
    import requests

    try:
        fetcher.fetch(jar.name)
    except requests.RequestException as error:
        raise BrokerError(
            f"cannot fetch {jar.name}: {error}",
            hint="check the network, or set TICDC_PRODUCER_MAVEN_URL to another Maven repository",
        ) from error
    except ValueError as error:
        # pooch has deleted the downloaded file; a damaged one from an earlier download may still exist.
        (folder / jar.name).unlink(missing_ok=True)
        raise BrokerError(
            f"{jar.name} does not match the checksum in the lock file: {error}",
            hint="the repository, or a proxy before it, serves another file",
        ) from error


KAFKA_VERSION = "4.3.1"
LOG4J_VERSION = "2.25.4"  # as that Kafka's own log4j-core

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>lock</groupId><artifactId>lock</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{kafka}</version>
    </dependency>
    <!-- Without it Kafka logs nothing, and a broker that does not start gives no reason. -->
    <dependency>
      <groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId>
      <version>{log4j}</version>
    </dependency>
  </dependencies>
</project>
"""


def resolve(kafka_version: str, folder: Path) -> list[Jar]:
    """Return the runtime closure of a Kafka server, sorted, resolved by Maven in ``folder``."""
    (folder / "pom.xml").write_text(POM.format(kafka=kafka_version, log4j=LOG4J_VERSION))
    arguments = ["-DincludeScope=runtime", "-Dmdep.useRepositoryLayout=true", "-DoutputDirectory=jars"]
    subprocess.run(["mvn", "-B", "-q", "dependency:copy-dependencies", *arguments], cwd=folder, check=True)
    root = folder / "jars"
    return sorted((_jar(path, root) for path in root.rglob("*.jar")), key=str)


def _jar(path: Path, root: Path) -> Jar:
    *group, artifact, version, _file = path.relative_to(root).parts
    jar = Jar(".".join(group), artifact, version, hashlib.sha256(path.read_bytes()).hexdigest())
    if jar.name != path.name:
        raise SystemExit(f"{path.name} has a classifier, which the lock file cannot express")
    return jar


def main() -> None:
    """Write the lock file of the Kafka version on the command line."""
    version = sys.argv[1] if len(sys.argv) > 1 else KAFKA_VERSION
    with tempfile.TemporaryDirectory() as folder:
        lines = [str(jar) for jar in resolve(version, Path(folder))]
    header = f"# Kafka {version}, made by `python -m ticdc_producer.kafka.embedded.jars {version}`"
    Path(__file__).with_name(LOCK_FILE).write_text("\n".join([header, *lines, ""]), encoding="ascii")


if __name__ == "__main__":
    main()
