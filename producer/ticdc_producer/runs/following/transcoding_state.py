"""The checkpoint of a transcoding that follows a topic: what is written, and the step that began.

A step is stored before its first message is written, and again after its last one is acknowledged. Its
messages follow from the messages of the source, so a step that is repeated continues after those that exist.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ticdc_producer.errors import ArgumentError
from ticdc_producer.local_path import replace_file, usable
from ticdc_producer.targets.kafka.topics import Offsets


class TranscodingStep(msgspec.Struct, frozen=True, kw_only=True):
    """The commits between two resolved-ts.

    :param until: the last commit-ts.
    :param ends: by partition of the source the offset after the last message that may have one of them.
    :param following: by partition the offset at which the next step begins to read.
    :param starts: topic, partition and offset of the first messages; None: the topics are not prepared.
    """

    until: int
    ends: dict[int, int]
    following: dict[int, int]
    starts: list[tuple[str, int, int]] | None = None


class TranscodingState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a transcoding that follows a topic.

    :param identity: of the source, the target and their options.
    :param steps: number of complete steps.
    :param resolved: the TSO up to which everything is written.
    :param offsets: by partition of the source the offset at which the next step begins to read.
    :param ends: topic, partition and offset of each end of what was written.
    :param ddls: commit-ts, database, table and text of the DDLs up to ``resolved``.
    :param descriptions: the messages of the source that describe tables.
    :param step: the step that began; None: there is none.
    """

    identity: str
    steps: int = 0
    resolved: int = 0
    offsets: dict[int, int]
    ends: list[tuple[str, int, int]] = []
    ddls: list[tuple[int, str, str, str]] = []
    descriptions: list[bytes] = []
    step: TranscodingStep | None = None

    @property
    def end_offsets(self) -> Offsets:
        """The ends of what was written."""
        return {(topic, partition): offset for topic, partition, offset in self.ends}


@contextmanager
def locked(checkpoint: Path) -> Iterator[None]:
    """Hold a checkpoint for this process, until the block or the process ends.

    :raises ArgumentError: if another process holds it, or the file cannot be written.
    """
    path = checkpoint.with_name(f"{checkpoint.name}.lock")
    with usable(path, "checkpoint"):
        file = path.open("ab")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            what = "another process follows with this checkpoint"
            hint = "one process writes a topic; end the other one"
            raise _refused(checkpoint, what, hint) from None
        yield


def load(checkpoint: Path, new: TranscodingState) -> TranscodingState:
    """Return the state in a checkpoint; the new one if there is no file.

    :raises ArgumentError: for a file that is not a checkpoint, or that of another transcoding.
    """
    if not checkpoint.exists():
        return new
    with usable(checkpoint, "checkpoint"):
        content = checkpoint.read_bytes()
    try:
        state = msgspec.json.decode(content, type=TranscodingState)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _refused(
            checkpoint, "the file is not a checkpoint of `transcode`", "name another file"
        ) from None
    if state.identity != new.identity:
        what = "the checkpoint is of another source or target, or of other options"
        raise _refused(checkpoint, what, "name another file, and another topic to write")
    return state


def save(checkpoint: Path, state: TranscodingState) -> None:
    """Write a checkpoint; the file is always a whole one.

    :raises ArgumentError: if it cannot be written.
    """
    with usable(checkpoint, "checkpoint"):
        replace_file(checkpoint, msgspec.json.encode(state))


def _refused(checkpoint: Path, what: str, hint: str) -> ArgumentError:
    error = ArgumentError(what, argument="checkpoint", where=str(checkpoint), hint=hint)
    return error.about("checkpoint")
