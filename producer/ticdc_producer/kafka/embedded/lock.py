"""Write ``kafka.lock`` again: ``python -m ticdc_producer.kafka.embedded.lock [VERSION]``; needs Maven.

Maven resolves the dependencies, this module writes their coordinates and checksums. Review the difference
before it is committed, and run the tests of this package.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from ticdc_producer.kafka.embedded.jars import LOCK_FILE, Jar

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
    """The runtime closure of a Kafka server, sorted, by way of Maven and ``folder``."""
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
    header = f"# Kafka {version}, made by `python -m ticdc_producer.kafka.embedded.lock {version}`"
    Path(__file__).with_name(LOCK_FILE).write_text("\n".join([header, *lines, ""]), encoding="ascii")


if __name__ == "__main__":
    main()
