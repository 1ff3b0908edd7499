"""Runs a consumer with the corpus, the legal traps and random histories."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from scoreboard.consumers import Consumer, NotStarted
from scoreboard.results import Cause, Cell, ConsumerResult, History, MessageText
from tests.peers.software import NotRun
from ticdc_producer.conformance.case import Case
from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.catalog import FailureList, case_specs
from ticdc_producer.conformance.delivery import delivery_text
from ticdc_producer.conformance.fuzz.campaign import CampaignLimits, run_campaign
from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.protocols import PROTOCOLS, drawn_traps
from ticdc_producer.conformance.fuzz.random_example import random_example
from ticdc_producer.conformance.fuzz.shrink import Failure, shrunk
from ticdc_producer.conformance.fuzz.stream import Settings
from ticdc_producer.conformance.fuzz.testee import FuzzTestee, Process
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.runner import CaseOutcome, cause, general, run
from ticdc_producer.conformance.wire import ApplyRequest, ProtocolName
from ticdc_producer.errors import ProducerError

_SECONDS = 600
"""For one answer: a parser starts a Java process, and other processes share the machine."""
_DRAWS = 30
"""Examples that are drawn until one has a trap."""
_OBJECT = re.compile(r"@[0-9a-f]{5,8}\b")
"""The identity hash of a Java object, which differs from run to run."""
_LONGEST, _LONGEST_PART, _MESSAGES = 300, 6000, 40
"""Characters of a reason and of a key or value, and messages of a history, that a page has."""


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is run.

    :param examples: number of random histories.
    :param seed: of the random histories and of those with traps.
    :param globs: cases of the corpus; empty for all.
    :param traps: the legal traps; empty for all.
    """

    examples: int
    seed: int = 1
    globs: Sequence[str] = ()
    traps: Sequence[str] = ()


def measure(consumer: Consumer, extent: Extent) -> ConsumerResult:
    """Return the results of a consumer, or that it did not run."""
    with TemporaryDirectory(prefix="scoreboard-") as folder:
        try:
            command = consumer.command(Path(folder))
        except NotRun as reason:
            return not_run(NotStarted(name=consumer.name, software=consumer.software, needs=str(reason)))
        cells = {level.value: corpus(consumer, command, level, extent) for level in _OF_CORPUS}
        cells["traps"] = traps(consumer, command, extent)
        cells["random"] = random_histories(consumer, command, extent)
    return ConsumerResult(
        name=consumer.name,
        software=consumer.software,
        protocols=[*consumer.protocols],
        ran=True,
        needs=consumer.needs,
        cells=cells,
    )


def not_run(consumer: NotStarted) -> ConsumerResult:
    """Return the result of a consumer that did not run."""
    return ConsumerResult(
        name=consumer.name, software=consumer.software, protocols=[], ran=False, needs=consumer.needs
    )


_OF_CORPUS = (Level.DECODE, Level.APPLY, Level.RESTART)


def corpus(consumer: Consumer, command: str, level: Level, extent: Extent) -> Cell:
    """Run the written cases of a level."""
    specs = [spec for spec in case_specs((level,)) if spec.protocol in consumer.protocols]
    if extent.globs:
        specs = [spec for spec in specs if any(fnmatchcase(spec.id, glob) for glob in extent.globs)]
    if level not in consumer.levels or not specs:
        return Cell(note=_NOTES[level])
    outcomes = run(specs, command, timeout=_SECONDS, failures=FailureList(()), reset=True)
    numbers = Counter(outcome.status for outcome in outcomes)
    return Cell(
        passed=numbers["passed"],
        failed=numbers["failed"],
        skipped=numbers["skipped"],
        causes=[*_causes([outcome for outcome in outcomes if outcome.status == "failed"])],
    )


_NOTES = {
    Level.DECODE: "",
    Level.APPLY: "it has no tables, or its protocol has no topics",
    Level.RESTART: "it stores no offsets",
}


def _causes(outcomes: Sequence[CaseOutcome]) -> Iterator[Cause]:
    by_cause: dict[str, list[CaseOutcome]] = {}
    for outcome in outcomes:
        by_cause.setdefault(cause(outcome), []).append(outcome)
    for first, *others in by_cause.values():
        case = first.case
        messages = [_text("", case.request.key, case.request.value)] if isinstance(case, Case) else []
        yield Cause(
            case=case.id,
            description=case.description,
            reasons=[*map(_stable, first.reasons)],
            messages=messages,
            others=[outcome.case.id for outcome in others],
        )


def traps(consumer: Consumer, command: str, extent: Extent) -> Cell:
    """Run a random history with each legal trap of the consumer's protocols."""
    protocols = [protocol for protocol in consumer.protocols if protocol in PROTOCOLS]
    if not protocols or Level.APPLY not in consumer.levels:
        return Cell(note=_NOTES[Level.APPLY])
    return asyncio.run(_traps(Process(command, _SECONDS, reset=True), protocols[0], extent))


async def _traps(testee: FuzzTestee, protocol: ProtocolName, extent: Extent) -> Cell:
    try:
        return await _survived(testee, protocol, extent)
    finally:
        await testee.close()


async def _survived(testee: FuzzTestee, protocol: ProtocolName, extent: Extent) -> Cell:
    """Run a random history with each legal trap; cut those down that fail."""
    histories, survived, skipped, errors = list[History](), 0, 0, dict[str, int]()
    for trap in drawn_traps(protocol):
        if extent.traps and trap not in extent.traps:
            continue
        example = trap_example(protocol, trap, extent.seed)
        result = None if example is None else await testee.answer([*build_topic(example).cases("trap")])
        if example is None or result is None or not result.answered:
            skipped += 1
        elif result.wrong is None:
            survived += 1
        else:
            error = same_error(result.wrong.reasons)
            if error in errors:
                histories[errors[error]].others.append(trap)
                continue
            errors |= {error: len(histories)} if error else {}
            histories.append(_history(trap, await shrunk(testee, example, result.wrong, number=0)))
    failed = len(histories) + sum(len(history.others) for history in histories)
    return Cell(passed=survived, failed=failed, skipped=skipped, histories=histories)


def same_error(reasons: Sequence[str]) -> str:
    """Return what errors of a kind have in common; empty if the consumer did not stop with an error."""
    first = reasons[0] if reasons else ""
    return general(first) if first.startswith("an error") else ""


@lru_cache(maxsize=256)
def trap_example(protocol: ProtocolName, trap: str, seed: int) -> FuzzExample | None:
    """Return a random example that has a trap; None if none of those that were drawn has it."""
    for number in range(_DRAWS):
        random = Random(f"{seed} {protocol} {trap} {number}")
        example = random_example(random, protocol, focus=(trap,), levels=(Level.APPLY,))
        try:
            topic = build_topic(example)
        except ProducerError:
            continue
        if trap in topic.traps and [*topic.cases("trap")]:
            return example
    return None


def random_histories(consumer: Consumer, command: str, extent: Extent) -> Cell:
    """Run random histories until one fails."""
    protocols = tuple(protocol for protocol in consumer.protocols if protocol in PROTOCOLS)
    if not protocols:
        return Cell(note="its protocol has no random histories")
    settings = Settings(seed=extent.seed, protocols=protocols, levels=consumer.levels)
    report = run_campaign(
        Process(command, _SECONDS, reset=True), settings, CampaignLimits(examples=extent.examples)
    )
    if report.failure is None:
        return Cell(passed=report.examples)
    name = f"example {report.failure.number}"
    return Cell(passed=report.examples - 1, failed=1, histories=[_history(name, report.failure)])


def _history(name: str, failure: Failure) -> History:
    example = failure.smallest
    topic, case = build_topic(example), failure.wrong.case
    settings = [f"protocol {example.protocol}, partitions: {example.partitions}"]
    settings += [f"traps: {', '.join(example.inject)}"] if example.inject else []
    settings += [f"options: {json.dumps(dict(example.options), sort_keys=True)}"] if example.options else []
    if isinstance(case, RestartCase):
        settings += case.log
    elif isinstance(case.request, ApplyRequest):
        settings.append(f"delivered: {delivery_text(case.request.messages)}")
    else:
        settings.append(f"message: {case.id.rpartition('.')[2]}")
    records = topic.records[:_MESSAGES]
    return History(
        name=name,
        statements=[*example.sql],
        settings=settings,
        reasons=[_stable(line) for reason in failure.wrong.reasons for line in reason.splitlines()],
        messages=[
            _text(f"{record.topic}/{record.partition}@{record.offset}", record.key, record.value)
            for record in records
        ],
    )


def _text(at: str, key: str | None, value: str | None) -> MessageText:
    return MessageText(at=at, key=_readable(key), value=_readable(value))


def _readable(part: str | None) -> str | None:
    """Return a part of a message as text; bytes that are no text are escaped."""
    if part is None:
        return None
    text = b64decode(part).decode("utf-8", "backslashreplace")
    return _cut(
        "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text), _LONGEST_PART
    )


def _stable(reason: str) -> str:
    """Return a reason that is the same in every run, and not too long for a page."""
    return _cut(_OBJECT.sub("", reason), _LONGEST)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
