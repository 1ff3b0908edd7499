"""Selection of cases, and the timeout of each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from difflib import get_close_matches
from fnmatch import fnmatchcase

from ticdc_producer.conformance.catalog import CaseSpec
from ticdc_producer.errors import ConformanceError
from ticdc_producer.scenario.spec import read_duration


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
