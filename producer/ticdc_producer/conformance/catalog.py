"""All cases of all levels, the selection of some, and the list of those that a testee is known to fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
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
    from ticdc_producer.conformance.restart.case import RestartCase
    from ticdc_producer.conformance.restart_case import RestartCaseSpec
    from ticdc_producer.conformance.storage_case import StorageCase, StorageCaseSpec


CaseSpec: TypeAlias = "DecodeCase | ApplyCaseSpec | StorageCaseSpec | RestartCaseSpec"
AnyCase: TypeAlias = "Case | ApplyCase | StorageCase | RestartCase"


def case_specs(levels: Collection[Level]) -> tuple[CaseSpec, ...]:
    """Return all cases of some levels, not built yet. Cases of single messages come first."""
    decode = decode_cases() if Level.DECODE in levels else ()
    apply = apply_case_specs() if Level.APPLY in levels else ()
    return (*decode, *apply, *_further_specs(levels))


def _further_specs(levels: Collection[Level]) -> Iterator[StorageCaseSpec | RestartCaseSpec]:
    """Yield the cases of the levels whose modules only they need."""
    if Level.STORAGE in levels:
        from ticdc_producer.conformance.storage_case import storage_case_specs

        yield from storage_case_specs()
    if Level.RESTART in levels:
        from ticdc_producer.conformance.restart_case import restart_case_specs

        yield from restart_case_specs()


def build_case(spec: CaseSpec, on_status: Callable[[str], None]) -> AnyCase:
    """Build a case.

    :param on_status: called before something that takes long.
    :raises ProducerError: if Spark does not start, which the apply level needs once per topic.
    """
    if isinstance(spec, DecodeCase):
        return build_decode_case(spec)
    if isinstance(spec, ApplyCaseSpec):
        from ticdc_producer.conformance.case import build_apply_case

        return build_apply_case(spec, on_status)
    from ticdc_producer.conformance.restart_case import RestartCaseSpec, build_restart_case

    if isinstance(spec, RestartCaseSpec):
        return build_restart_case(spec)
    from ticdc_producer.conformance.storage_case import build_storage_case

    return build_storage_case(spec, on_status)


def selected(cases: Sequence[CaseSpec], protocols: Collection[str], globs: Sequence[str]) -> list[CaseSpec]:
    """Select the cases of the protocols whose ids match one of the globs. An empty collection selects all.

    :raises ConformanceError: for a glob that matches no case.
    """
    of_protocol = [spec for spec in cases if not protocols or spec.protocol in protocols]
    ids = [spec.id for spec in of_protocol]
    for glob in globs:
        check_matches(glob, ids, argument="globs")
    return [spec for spec in of_protocol if not globs or any(fnmatchcase(spec.id, glob) for glob in globs)]


def check_matches(glob: str, ids: Collection[str], *, where: str = "", argument: str = "") -> None:
    """Check that a glob matches an id.

    :param where: the line of a file with the glob, for errors; or ``argument``, which contains it.
    :raises ConformanceError: if it matches none.
    """
    if any(fnmatchcase(case, glob) for case in ids):
        return
    close = get_close_matches(glob, ids, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "`case_specs` names the cases"
    error = ConformanceError(f"no case matches {glob!r}", where=where or f"`{argument}`", hint=hint)
    raise error.about("case_specs", *([argument] if argument else []))


def seconds_of(duration: str, *, argument: str = "timeout") -> float:
    """Return a duration in seconds.

    :param duration: for example ``500ms`` or ``5s``.
    :param argument: the one with the duration, for errors.
    :raises ConformanceError: if it is not a duration.
    """
    try:
        return read_duration(duration) / timedelta(seconds=1)
    except ValueError as error:
        raise ConformanceError(str(error), where=f"`{argument}`").about(argument) from None


@dataclass(frozen=True, slots=True)
class FailureList:
    """Cases that are expected to fail.

    :param patterns: ids, or globs of ids.
    """

    patterns: tuple[str, ...] = ()

    def expects(self, case: str) -> bool:
        """Return whether a case is expected to fail."""
        return any(fnmatchcase(case, pattern) for pattern in self.patterns)


def read_failures(path: Path, ids: Collection[str]) -> FailureList:
    """Read a failure list: an id or a glob per line, ``#`` starts a comment.

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
