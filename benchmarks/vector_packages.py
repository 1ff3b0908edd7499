"""Seconds from an empty folder to the first green test of the vectors, in each language.

The commands are those of docs/vectors.md, and the packages are made before. The package manager has an empty
cache, so that its downloads count.

    python -m benchmarks.vector_packages
    python -m benchmarks.vector_packages go rust
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.tools.test_vectors import loads_every_vector
from ticdc_producer.cli import main as ticdc_producer
from tools.vectors.__main__ import PACK
from tools.vectors.__main__ import main as packages

WANTED_SECONDS = 60
_CACHES = {
    # -modcacherw: so that the folder can be removed
    "go": {"GOMODCACHE": "{cache}/modules", "GOCACHE": "{cache}/builds", "GOFLAGS": "-modcacherw"},
    "java": {"MAVEN_OPTS": "-Dmaven.repo.local={cache}"},
    "node": {"npm_config_cache": "{cache}"},
    "python": {"PIP_CACHE_DIR": "{cache}"},
    "rust": {"CARGO_HOME": "{cache}"},
}
"""By language the variables that move the caches of its package manager."""


def measured(language: str, tree: Path, work: Path) -> dict[str, Any]:
    """Measure the commands of a language, in ``work/empty``."""
    packages([str(tree), "--out", str(work / "packages"), "--pack", language])
    for variable, value in _CACHES[language].items():
        os.environ[variable] = value.format(cache=work / "cache")
    start = time.perf_counter()
    loads_every_vector(language, work / "packages", work / "empty")
    seconds = round(time.perf_counter() - start, 1)
    return {"seconds": seconds, "wanted": WANTED_SECONDS}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("languages", nargs="*", help="all, if none is named")
    languages = parser.parse_args().languages or [*PACK]
    with TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        if ticdc_producer(["golden", "--format", "vectors", "--out", str(tree)]):
            raise SystemExit("the vectors were not written")
        for language in languages:
            work = Path(folder, language)
            work.mkdir()
            print(json.dumps({language: measured(language, tree, work)}), flush=True)


if __name__ == "__main__":
    main()
