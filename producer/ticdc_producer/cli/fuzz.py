"""``ticdc-producer conformance`` with random histories: --fuzz, --replay and --shrink."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from ticdc_producer.hints import counted
from ticdc_producer.runs.options.conformance import DEFAULT_EXAMPLES

if TYPE_CHECKING:
    from ticdc_producer.conformance.case_spec import Level
    from ticdc_producer.conformance.fuzz.campaign import Report
    from ticdc_producer.conformance.fuzz.example import FuzzExample
    from ticdc_producer.conformance.fuzz.shrink import Failure
    from ticdc_producer.conformance.fuzz.testee import FuzzTestee, Wrong
    from ticdc_producer.conformance.wire import ProtocolName

T = TypeVar("T")
DEFAULT_FOLDER = Path("conformance-failures")


@dataclass(frozen=True, kw_only=True)
class RandomHistories:
    """The options of random histories."""

    seed: int | None
    examples: int | None
    time: str | None
    altered_tables: bool
    processes: int | None


@dataclass(frozen=True, kw_only=True)
class FuzzOptions:
    """The other options of the command line.

    :param command: starts the testee.
    :param timeout: for one answer, as given.
    :param levels: levels of the requests; empty for both.
    :param save: folder of failures; None: the default one.
    :param reset: whether the process continues at a restart.
    :param kafka: address of the Kafka to which it commits its offsets; empty: none.
    """

    command: str
    timeout: str
    protocols: Sequence[str]
    levels: Sequence[Level]
    save: Path | None
    reset: bool
    kafka: str
    as_json: bool

    @property
    def folder(self) -> Path:
        """Folder of failures."""
        return self.save or DEFAULT_FOLDER

    @property
    def chosen_protocols(self) -> list[ProtocolName]:
        """The protocols of random histories, by default all."""
        from ticdc_producer.conformance.fuzz.protocols import PROTOCOLS

        return [name for name in PROTOCOLS if not self.protocols or name in self.protocols]

    @property
    def chosen_levels(self) -> tuple[Level, ...]:
        """The levels of requests, by default those without restarts."""
        from ticdc_producer.conformance.case_spec import LEVELS_OF_HISTORIES, Level

        return tuple(level for level in Level if level in (self.levels or LEVELS_OF_HISTORIES))

    def testee(self) -> FuzzTestee:
        """Return the program under test. It starts with the first request."""
        from ticdc_producer.conformance.catalog import seconds_of
        from ticdc_producer.conformance.fuzz.testee import Process

        return Process(self.command, seconds_of(self.timeout), reset=self.reset, kafka=self.kafka)


def random_histories(declared: Mapping[str, object]) -> int:
    """Draw, replay or shrink histories; 1 if one fails.

    :param declared: the options of ``conformance``, by name.
    """
    given: dict[str, Any] = {**declared}
    options = FuzzOptions(
        command=given["testee"],
        protocols=given["protocol"] or (),
        levels=given["level"] or (),
        **{name: given[name] for name in ("timeout", "save", "reset", "kafka", "as_json")},
    )
    if given["replay"] is not None:
        return replay(options, given["replay"])
    if given["shrink"] is not None:
        return shrink(options, given["shrink"])
    return fuzz(RandomHistories(**{part.name: given[part.name] for part in fields(RandomHistories)}), options)


def fuzz(histories: RandomHistories, options: FuzzOptions) -> int:
    """Send random histories until one fails; 1 if one does."""
    from ticdc_producer.conformance.catalog import seconds_of
    from ticdc_producer.conformance.fuzz.campaign import CampaignLimits, run_campaign
    from ticdc_producer.conformance.fuzz.recorded import regressions
    from ticdc_producer.conformance.fuzz.stream import Settings

    seconds = None if histories.time is None else seconds_of(histories.time, argument="time")
    unlimited = histories.examples is None and seconds is None
    settings = Settings(
        seed=histories.seed or 0,
        protocols=options.chosen_protocols,
        levels=options.chosen_levels,
        follows_ddl=histories.altered_tables,
    )
    report = run_campaign(
        options.testee(),
        settings,
        CampaignLimits(examples=DEFAULT_EXAMPLES if unlimited else histories.examples, seconds=seconds),
        processes=_cores() if histories.processes is None else histories.processes,
        regressions=[*regressions(options.folder)],
        on_status=_print_status,
    )
    folder = _save(options, report.failure) if report.failure else None
    if options.as_json:
        typer.echo(json.dumps(_report_json(report, folder), ensure_ascii=False, indent=2))
    else:
        for line in _report_lines(report, options, folder):
            typer.echo(line)
    return 0 if report.failure is None else 1


def replay(options: FuzzOptions, folder: Path) -> int:
    """Send the example of a folder again; 1 if it fails."""
    from ticdc_producer.conformance.fuzz.shrink import first_wrong

    example = _example(options, folder)
    wrong = asyncio.run(_with_testee(options, lambda testee: first_wrong(testee, example)))
    if options.as_json:
        reasons = [] if wrong is None else list(wrong.reasons)
        typer.echo(json.dumps({"ok": wrong is None, "reasons": reasons}, ensure_ascii=False, indent=2))
    else:
        for line in ["passed"] if wrong is None else ["failed", *_delivery(wrong), *_reasons(wrong)]:
            typer.echo(line)
    return 0 if wrong is None else 1


def shrink(options: FuzzOptions, path: Path) -> int:
    """Cut a golden folder or a scenario down to a few statements that fail, too; 0 if it passes."""
    from ticdc_producer.conformance.fuzz.shrink import first_wrong, shrunk

    example = _example(options, path)

    async def smallest(testee: FuzzTestee) -> Failure | None:
        wrong = await first_wrong(testee, example)
        return None if wrong is None else await shrunk(testee, example, wrong)

    failure = asyncio.run(_with_testee(options, smallest))
    if failure is None:
        typer.echo("passed: there is nothing to shrink")
        return 0
    folder = _save(options, failure)
    for line in _failure_lines(failure, options, folder):
        typer.echo(line)
    return 1


def _example(options: FuzzOptions, path: Path) -> FuzzExample:
    from ticdc_producer.conformance.fuzz.recorded import recorded_example
    from ticdc_producer.conformance.fuzz.topic import build_topic

    example = recorded_example(path, options.chosen_levels)
    build_topic(example)  # raises for statements that fail
    return example


async def _with_testee(options: FuzzOptions, use: Callable[[FuzzTestee], Awaitable[T]]) -> T:
    testee = options.testee()
    try:
        return await use(testee)
    finally:
        await testee.close()


def _report_lines(report: Report, options: FuzzOptions, folder: Path | None) -> list[str]:
    times = f"{report.seconds:.0f} s; the testee waited {report.idle:.0f} of {report.exchange:.0f} s"
    restarts = f", {counted(report.restarts, 'restart')}" if report.restarts else ""
    lines = [f"{counted(report.examples, 'example')}, {counted(report.cases, 'case')}{restarts} in {times}"]
    if report.regressions:
        lines.append(f"{report.regressions} examples of earlier failures")
    if report.skipped:
        lines.append(f"skipped: {', '.join(report.skipped)}")
    lines += report.steering.text_lines()
    if report.failure is not None and folder is not None:
        lines += _failure_lines(report.failure, options, folder)
    return lines


def _failure_lines(failure: Failure, options: FuzzOptions, folder: Path) -> list[str]:
    from ticdc_producer.conformance.fuzz.recorded import replay_command

    example = failure.smallest
    orders = "".join(f", order {delivery.order}" for delivery in example.deliveries)
    source = f"example {failure.number}" if failure.number else "the example"
    before = counted(failure.original.statements, "statement")
    return [
        f"failed: {source}; {before}, shrunk to {example.statements}",
        *(f"  {line}" for line in example.text.splitlines()),
        f"protocol {example.protocol}, {counted(example.partitions, 'partition')}{orders}",
        *_delivery(failure.wrong),
        *([f"traps: {', '.join(example.inject)}"] if example.inject else []),
        *([f"options: {json.dumps(dict(example.options))}"] if example.options else []),
        *_reasons(failure.wrong),
        f"saved: {folder}",
        f"replay: {replay_command(options.command, folder, reset=options.reset, kafka=options.kafka)}",
    ]


def _save(options: FuzzOptions, failure: Failure) -> Path:
    from ticdc_producer.conformance.fuzz.recorded import save_failure

    return save_failure(options.folder, failure, options.command, reset=options.reset, kafka=options.kafka)


def _delivery(wrong: Wrong) -> list[str]:
    """Return the line with the order of the messages, or one per life; none for a request of one message."""
    from ticdc_producer.conformance.delivery import delivery_text
    from ticdc_producer.conformance.restart.case import RestartCase
    from ticdc_producer.conformance.wire import ApplyRequest

    if isinstance(wrong.case, RestartCase):
        return list(wrong.case.log)

    request = wrong.case.request
    return [f"delivered: {delivery_text(request.messages)}"] if isinstance(request, ApplyRequest) else []


def _reasons(wrong: Wrong) -> list[str]:
    return [f"  {line}" for reason in wrong.reasons for line in reason.splitlines()]


def _report_json(report: Report, folder: Path | None) -> dict[str, object]:
    import msgspec

    failure = report.failure
    return {
        "ok": failure is None,
        "examples": report.examples,
        "cases": report.cases,
        "restarts": report.restarts,
        "regressions": report.regressions,
        "rejected": report.rejected,
        "seconds": round(report.seconds, 1),
        "exchange": round(report.exchange, 1),
        "idle": round(report.idle, 1),
        "skipped": report.skipped,
        "survived": report.steering.as_json(),
        "failure": None
        if failure is None
        else {
            "example": failure.number,
            "smallest": msgspec.to_builtins(failure.smallest),
            "statements": failure.smallest.statements,
            "reasons": list(failure.wrong.reasons),
            "folder": str(folder),
        },
    }


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _print_status(line: str) -> None:
    typer.echo(line, err=True)
