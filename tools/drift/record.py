"""The files of TiCDC's encoders as they were when this project was last compared with them.

``encoder_files.json`` holds the commit, and the hash of each file as git computes it for a blob.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

RECORDED = Path(__file__).with_name("encoder_files.json")


@dataclass(frozen=True, slots=True)
class Record:
    """The hashes of files at a commit.

    :param commit: the commit of pingcap/ticdc.
    :param files: path in the repository to hash.
    """

    commit: str
    files: Mapping[str, str]

    def changes(self, files: Mapping[str, str]) -> Iterator[str]:
        """Yield how other files differ: ``changed PATH``, ``new PATH`` or ``gone PATH``."""
        for path in sorted({*self.files, *files}):
            before, now = self.files.get(path), files.get(path)
            if before != now:
                yield f"{'new' if before is None else 'gone' if now is None else 'changed'} {path}"

    def write(self, path: Path = RECORDED) -> None:
        """Write the record to a file."""
        content = {"commit": self.commit, "files": dict(sorted(self.files.items()))}
        path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def read_record(path: Path = RECORDED) -> Record:
    """Read a record."""
    content = json.loads(path.read_text("utf-8"))
    return Record(content["commit"], content["files"])


def hashes(folder: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the hash of each file, by its path in a folder."""
    return {path.relative_to(folder).as_posix(): _blob_hash(path.read_bytes()) for path in files}


def _blob_hash(content: bytes) -> str:
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
