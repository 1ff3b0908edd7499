"""A topic that is followed: what was verified, its checkpoint, and the file with the findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.errors import ArgumentError
from ticdc_producer.local_path import replace_file, usable
from ticdc_producer.runs.following.growing_messages import GrowingDecoder
from ticdc_producer.runs.verification import verdict
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import event_counts
from ticdc_producer.verifier.follow.checkpoint import SourceState, checkpoint_bytes, restore
from ticdc_producer.verifier.follow.followed_stream import FollowedStream
from ticdc_producer.verifier.verdict import Verdict


@dataclass
class Follower:
    """A topic that is followed.

    Files that cannot be read or written, and those of another run, raise ``ArgumentError``.

    :param offsets: by topic and partition the offset that is read next.
    :param checkpoint: the file with the state; None: there is none.
    :param findings: a file that gets the findings as JSON lines; None: there is none.
    """

    changefeed: Changefeed
    stream: FollowedStream
    offsets: dict[tuple[str, int], int]
    on_finding: Callable[[Finding], None]
    checkpoint: Path | None = None
    findings: Path | None = None
    _written: int = 0
    _is_whole: bool = True
    _decoder: GrowingDecoder = field(init=False)

    def __post_init__(self) -> None:
        source = SourceState(stream={}, offsets={})
        if self.checkpoint is not None and self.checkpoint.exists():
            with usable(self.checkpoint, "checkpoint"):
                content = self.checkpoint.read_bytes()
            source = restore(self.stream, content, str(self.checkpoint))
            self._compare(self.checkpoint, source.stream)
            self.offsets |= source.offsets
            self._written = source.findings
        if self.findings is not None:
            self._cut(self.findings, source)
        self._decoder = GrowingDecoder(self.changefeed, source.descriptions)
        self.save()  # a file that cannot be written is refused now; and it names that of the findings

    def _compare(self, path: Path, saved: Mapping[str, object]) -> None:
        """Refuse the checkpoint of another stream, or of one that was read in another way."""
        differing = [name for name, value in self._identity().items() if saved.get(name) != value]
        if differing:
            what = f"the checkpoint is of a stream with other {' and '.join(differing)}"
            hint = "name another file, or remove it to start from the beginning"
            raise ArgumentError(what, argument="checkpoint", where=str(path), hint=hint).about("checkpoint")

    def _identity(self) -> dict[str, object]:
        """Return what two runs that continue each other share.

        The URI of the claim-check storage is not part of it: it may have secrets, and moves.
        """
        changefeed, options = self.changefeed, self.stream.options
        settings = (
            {**changefeed.codec_options(), "claim_check_storage_uri": ""},
            [rule.model_dump(mode="json") for rule in changefeed.dispatchers],
            (options.strict_table_order, options.from_beginning, options.resolved_gap_ms),
        )
        text = json.dumps(settings, sort_keys=True, default=repr)
        return {
            "topics or numbers of partitions": dict(options.partitions),
            "protocol": changefeed.protocol,
            "options": sha256(text.encode()).hexdigest(),
        }

    def _cut(self, path: Path, source: SourceState) -> None:
        """Remove what was written after the checkpoint: it is found again.

        :param source: of the checkpoint. A file that it does not name is not of this run, and stays as it is.
        """
        with usable(path, "findings"), path.open("ab") as file:
            if file.tell() and source.findings_file != str(path.resolve()):
                what = "the file is not empty, and no checkpoint refers to it"
                hint = "name a new file; or the checkpoint of the run that wrote it, as `checkpoint`"
                raise ArgumentError(what, argument="findings", where=str(path), hint=hint).about(
                    "findings", "checkpoint"
                )
            if file.tell() < self._written:
                what = "the file is shorter than the checkpoint says"
                hint = "name the file of the run that wrote the checkpoint"
                raise ArgumentError(what, argument="findings", where=str(path), hint=hint).about("findings")
            file.truncate(self._written)

    def add(self, messages: Dataset) -> None:
        """Verify the next messages, and report what they violate.

        :param messages: shape ``MESSAGES``; see ``FollowedStream.add``.
        """
        self._is_whole = False
        self._decoder.add(messages)
        findings, ends = self.stream.add(messages, self._decoder.decode)
        for finding in findings:
            self._report(finding)
        self.offsets |= {name: max(end, self.offsets.get(name, 0)) for name, end in ends.items()}
        self._is_whole = True

    def _report(self, finding: Finding) -> None:
        if self.findings is not None:
            line = f"{json.dumps(finding.to_json(), ensure_ascii=False)}\n".encode()
            with usable(self.findings, "findings"), self.findings.open("ab") as file:
                file.write(line)
            self._written += len(line)
        self.on_finding(finding)

    def save(self) -> None:
        """Write the checkpoint; the file is always a whole one.

        After an interruption inside of a batch the last checkpoint stays: the batch is verified again.
        """
        if self.checkpoint is None or not self._is_whole:
            return
        source = SourceState(
            stream=self._identity(),
            offsets=self.offsets,
            findings=self._written,
            findings_file="" if self.findings is None else str(self.findings.resolve()),
            descriptions=self._decoder.descriptions,
        )
        with usable(self.checkpoint, "checkpoint"):
            replace_file(self.checkpoint, checkpoint_bytes(self.stream, source))

    def verdict(self) -> Verdict:
        """Return the verdict so far."""
        counts = event_counts(self.stream.stats)
        return verdict(self.stream.options, self.stream.verdict_findings(), counts, None, {})
