"""Masks an SQL dump, and proposes rules for a dump or a topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ticdc_producer.config import ConfigSource
from ticdc_producer.engine.local import local
from ticdc_producer.errors import ArgumentError
from ticdc_producer.local_path import local_path, usable
from ticdc_producer.masks.dump import MaskedDump
from ticdc_producer.masks.rules import MaskRules, read_rules
from ticdc_producer.masks.suggest import Suggestions
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.recordings.record_source import message_source
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.targets.record_batches import with_table_schemas


@dataclass(frozen=True, kw_only=True)
class MaskReport:
    """The result of masking.

    :param out: the file that was written.
    :param notes: what is masked, and what stays in clear.
    """

    out: Path
    notes: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        yield f"masked as {self.out}"
        yield from self.notes


def mask(dump: str | Path, *, rules: str | Path, out: str | Path) -> MaskReport:
    """Mask an SQL dump; equal values give those of ``record`` with the same rules and key.

    :param dump: a file as mysqldump and Dumpling write it.
    :param rules: the rules file.
    :param out: the file to write; must not exist.
    :raises ProducerError: for a statement that cannot be masked, with its line; then nothing is written.
    """
    source, target = local_path(dump), local_path(out)
    if target.exists():
        what = f"{target} exists already"
        raise ArgumentError(what, argument="out", hint="name a new file").about("out")
    if not target.parent.is_dir():
        raise ArgumentError(f"there is no folder {target.parent}", argument="out").about("out")
    masked = MaskedDump(_readable(source), read_rules(local_path(rules)))
    partial = target.with_name(f"{target.name}.partial")
    with usable(target, "out"):
        try:
            with partial.open("w", encoding="utf-8", errors="surrogateescape") as file:
                file.writelines(masked.statements())
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    return MaskReport(out=target, notes=tuple(masked.notes()))


def suggest_rules(
    dump: str | Path | None = None,
    *,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    messages: str | Path | None = None,
    config: ConfigSource | None = None,
    kafka_properties: Sequence[str] = (),
    on_status: OnStatus = ignore_status,
) -> str:
    """Propose rules from the names of columns and from values. Nothing is written.

    :param dump: an SQL dump; None: the messages that the others name, as for ``record``.
    :return: a rules file, as text.
    """
    given = {"dump": dump, "sink_uri": sink_uri, "folder": folder, "messages": messages, "config": config}
    check_options("mask", {**given, "kafka_properties": kafka_properties, "suggest": True})
    suggestions = Suggestions()
    if dump is not None:
        nothing = MaskRules((), b"")
        for _ in MaskedDump(_readable(local_path(dump)), nothing, suggestions).statements():
            pass
        return suggestions.yaml()
    source = message_source(sink_uri, folder, messages, config, kafka_properties, on_status)
    origin = source.origin
    options = with_table_schemas(origin.messages, origin.changefeed.protocol, origin.options)
    decode = event_decoder(origin.changefeed.protocol, options, origin.claims)
    suggestions.see_events(decode(local(origin.messages.merged()).batches()))
    return suggestions.yaml()


def _readable(path: Path) -> Path:
    if not path.is_file():
        raise ArgumentError(f"there is no file {path}", argument="dump").about("dump")
    with usable(path, "dump"), path.open("rb"):
        return path
