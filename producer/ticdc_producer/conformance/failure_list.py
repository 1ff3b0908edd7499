"""The failure list: cases that a testee is known to fail."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ticdc_producer.conformance.selection import check_matches
from ticdc_producer.errors import ConformanceError


@dataclass(frozen=True, slots=True)
class FailureList:
    """Cases that are expected to fail.

    :param patterns: ids, or globs of ids.
    """

    patterns: tuple[str, ...] = ()

    def expects(self, case: str) -> bool:
        """Whether a case is expected to fail."""
        return any(fnmatchcase(case, pattern) for pattern in self.patterns)


def read_failures(path: Path, ids: Collection[str]) -> FailureList:
    """A failure list: an id or a glob per line, ``#`` starts a comment.

    :param ids: the ids of all cases.
    :raises ConformanceError: if it cannot be read, or a line matches no case.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConformanceError(f"the failure list cannot be read: {reason}", where=str(path)) from None
    patterns = []
    for number, line in enumerate(lines, 1):
        if pattern := line.partition("#")[0].strip():
            check_matches(pattern, ids, where=f"{path}:{number}")
            patterns.append(pattern)
    return FailureList(tuple(patterns))
