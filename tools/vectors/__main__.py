"""Builds the packages of other languages from vectors.

    ticdc-producer golden --format vectors --out TREE
    python -m tools.vectors TREE --out PACKAGES                  # the sources of each package
    python -m tools.vectors TREE --out PACKAGES --pack go node   # and what a package manager installs

The folder of a language is its template in ``vectors/``, with the vectors, the licence and the version.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "vectors"
DATA, UNVERSIONED = "data", "0.0.0"
VERSIONED = ("package.json", "Cargo.toml", "pom.xml", "consumer.xml", "pyproject.toml")
PACK: dict[str, list[str]] = {
    "go": [],  # a module is its folder
    "java": ["mvn", "-B", "-q", "package"],
    "node": ["npm", "pack", "--silent"],
    "python": [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", ".", "."],
    "rust": ["cargo", "package", "--quiet", "--allow-dirty", "--no-verify"],
}
"""The command that makes a file which the language's package manager installs."""
PACKED = {
    "java": "target/*.jar",
    "node": "*.tgz",
    "python": "*.whl",
    "rust": "target/package/*.crate",
}


def sources(tree: Path, out: Path) -> None:
    """Write the source folder of each package.

    :param tree: with vectors and their manifest.
    :raises SystemExit: if it has no vectors, or a package exists already.
    """
    manifest = tree / "manifest.json"
    content = json.loads(manifest.read_text("utf-8")) if manifest.is_file() else {}
    if "protocols" not in content:
        raise SystemExit(f"{tree} has no vectors: ticdc-producer golden --format vectors --out {tree}")
    version = _version(content["tool"])
    for language in PACK:
        folder = out / language
        if folder.exists():
            raise SystemExit(f"{folder} exists already: name a new folder")
        shutil.copytree(TEMPLATES / language, folder)
        for text in (ROOT / "LICENSE", TEMPLATES / "NOTICE", tree / "README.md"):
            shutil.copy(text, folder)
        shutil.copytree(tree, folder / DATA, ignore=shutil.ignore_patterns("README.md"))
        for path in (folder / name for name in VERSIONED):
            if path.exists():
                path.write_text(path.read_text("utf-8").replace(UNVERSIONED, version), "utf-8")


def _version(tool: str) -> str:
    """Return the three numbers of a version, which every package manager accepts."""
    match = re.search(r"\d+\.\d+\.\d+", tool)
    return match[0] if match else UNVERSIONED


def pack(out: Path, language: str) -> Path:
    """Make what a package manager installs.

    :return: the file, in ``out``; the folder of a language whose modules are folders.
    :raises CalledProcessError: if the package manager fails.
    :raises FileNotFoundError: if it is not on this machine.
    """
    folder = out / language
    if not PACK[language]:
        return folder
    subprocess.run(PACK[language], cwd=folder, check=True, stdout=sys.stderr)
    (packed,) = folder.glob(PACKED[language])
    return Path(shutil.copy(packed, out))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="python -m tools.vectors", description=__doc__)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--out", type=Path, required=True, metavar="PACKAGES")
    parser.add_argument("--pack", nargs="*", choices=sorted(PACK), default=[], metavar="LANGUAGE")
    options = parser.parse_args(arguments)
    sources(options.tree, options.out)
    for language in options.pack:
        print(pack(options.out, language))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
