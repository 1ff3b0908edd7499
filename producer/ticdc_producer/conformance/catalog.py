"""All cases of both levels, the selection of some, and the list of those that a testee is known to fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ticdc_producer.conformance.case import Case, build_decode_case
from ticdc_producer.conformance.case_spec import (
    ApplyCaseSpec,
    DecodeCase,
    Level,
    apply_case_specs,
    decode_cases,
)
from ticdc_producer.errors import ConformanceError
from ticdc_producer.scenario.spec import read_duration

if TYPE_CHECKING:
    from ticdc_producer.conformance.case import ApplyCase


CaseSpec: TypeAlias = DecodeCase | ApplyCaseSpec
AnyCase: TypeAlias = "Case | ApplyCase"


def case_specs(levels: Collection[Level]) -> tuple[CaseSpec, ...]:
    """All cases of some levels, not built yet; cases of single messages come first."""
    decode = decode_cases() if Level.DECODE in levels else ()
    return (*decode, *(apply_case_specs() if Level.APPLY in levels else ()))


def build_case(one: CaseSpec, on_status: Callable[[str], None]) -> AnyCase:
    """Build a case.

    :param on_status: called before something that takes long.
    :raises ProducerError: if Spark does not start, which the apply level needs once per topic.
    """
    if isinstance(one, DecodeCase):
        return build_decode_case(one)
    from ticdc_producer.conformance.case import build_apply_case

    return build_apply_case(one, on_status)


def selected(cases: Sequence[CaseSpec], protocols: Collection[str], globs: Sequence[str]) -> list[CaseSpec]:
    """The cases of the protocols whose ids match one of the globs; an empty collection selects all.

    :raises ConformanceError: for a glob that matches no case.
    """
    of_protocol = [one for one in cases if not protocols or one.protocol in protocols]
    ids = [one.id for one in of_protocol]
    for glob in globs:
        check_matches(glob, ids, where="--filter")
    return [one for one in of_protocol if not globs or any(fnmatchcase(one.id, glob) for glob in globs)]


def check_matches(glob: str, ids: Collection[str], *, where: str) -> None:
    """:raises ConformanceError: if a glob matches no id."""
    if any(fnmatchcase(one, glob) for one in ids):
        return
    close = get_close_matches(glob, ids, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "--list names the cases"
    raise ConformanceError(f"no case matches {glob!r}", where=where, hint=hint)


def seconds_of(duration: str, *, where: str = "--timeout") -> float:
    """A duration in seconds.

    :param duration: for example ``500ms`` or ``5s``.
    :param where: the option that has it, for errors.
    :raises ConformanceError: if it is not a duration.
    """
    try:
        return read_duration(duration) / timedelta(seconds=1)
    except ValueError as error:
        raise ConformanceError(str(error), where=where) from None


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
