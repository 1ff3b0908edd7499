"""``ticdc-producer serve``."""

from __future__ import annotations

import gc
import io
import os
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeAlias, get_args

import typer

from ticdc_producer.cli.options import KafkaProperties
from ticdc_producer.cli.remote.server_client import TOKEN_VARIABLE
from ticdc_producer.serve.settings import (
    Limits,
    Permission,
    ServeSettings,
    check_kafka_ports,
    listen,
    url_of,
)

if TYPE_CHECKING:
    from rich.console import Console
    from starlette.types import ASGIApp

    from ticdc_producer.runs.run_report import RunReport
    from ticdc_producer.serve.service import Service
    from ticdc_producer.verifier.verdict import Verdict

_USUAL_THRESHOLDS = (700, 10, 10)


if TYPE_CHECKING:
    Allowed: TypeAlias = Permission
else:  # typer has no lists of literals
    Allowed = StrEnum("Allowed", {name: name for name in get_args(Permission)})


def serve(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = ServeSettings.host,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, help="0: a free one.")
    ] = ServeSettings.port,
    host_name: Annotated[
        list[str] | None,
        typer.Option("--host-name", metavar="NAME", help="A further name of this service; may be repeated."),
    ] = None,
    kafka: Annotated[
        str,
        typer.Option("--kafka", metavar="HOST:PORT", help="Kafka to write to. Default: an embedded one."),
    ] = "",
    kafka_address: Annotated[
        list[str] | None,
        typer.Option(
            "--kafka-address",
            metavar="HOST:PORT",
            help="Address of the embedded Kafka for other machines and containers; may be repeated.",
        ),
    ] = None,
    allow_kafka: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-kafka",
            metavar="HOST:PORT",
            help="Another Kafka that requests may name; may be repeated.",
        ),
    ] = None,
    schema_registry: Annotated[
        str, typer.Option("--schema-registry", metavar="URL", help="Schema registry for Avro.")
    ] = "",
    kafka_properties: KafkaProperties = None,
    allow: Annotated[
        list[Allowed] | None,
        typer.Option("--allow", help="What posted scenarios may use; may be repeated."),
    ] = None,
    attach: Annotated[
        list[str] | None,
        typer.Option(
            "--attach",
            metavar="NAME=SOURCE",
            help="A stream that the page may read: a sink URI, a folder or a file; may be repeated.",
        ),
    ] = None,
    attach_config: Annotated[
        list[str] | None,
        typer.Option(
            "--attach-config",
            metavar="NAME=FILE",
            help="The changefeed file of a stream of --attach; may be repeated.",
        ),
    ] = None,
    max_seconds: Annotated[
        float, typer.Option("--max-seconds", min=1, metavar="S", help="Time of one run.")
    ] = Limits.seconds,
    max_memory: Annotated[
        int,
        typer.Option("--max-memory", min=128, metavar="MIB", help="Memory of one run and what it starts."),
    ] = Limits.memory_bytes >> 20,
    max_queued: Annotated[
        int, typer.Option("--max-queued", min=1, metavar="N", help="Runs that wait.")
    ] = Limits.queued,
    max_runs: Annotated[
        int, typer.Option("--max-runs", min=1, metavar="N", help="Finished runs that are available.")
    ] = Limits.runs,
) -> int:
    """Serve runs and verifications over HTTP, with a Kafka, until Ctrl-C.

    It listens on loopback. Another --host requires a token in the environment variable TICDC_PRODUCER_TOKEN,
    which clients send. Posted scenarios cannot read this machine unless --allow permits it.
    """
    gc.set_threshold(*_USUAL_THRESHOLDS)  # a command postpones collections; a service must not grow
    from ticdc_producer.serve.attachments import attachment_configs_of, attachments_of

    attachments = attachments_of(attach or ())
    settings = ServeSettings(
        host=host,
        port=port,
        token=os.environ.get(TOKEN_VARIABLE, ""),
        host_names=frozenset(host_name or ()),
        kafka=kafka,
        kafka_addresses=tuple(kafka_address or ()),
        other_kafkas=frozenset(allow_kafka or ()),
        kafka_properties=tuple(kafka_properties or ()),
        schema_registry=schema_registry,
        permissions=frozenset(name for name in get_args(Permission) if name in (allow or ())),
        attachments=attachments,
        attachment_configs=attachment_configs_of(attach_config or (), attachments),
        limits=Limits(seconds=max_seconds, memory_bytes=max_memory << 20, queued=max_queued, runs=max_runs),
    )
    listener = listen(settings)  # first, so that Kafka cannot have its port
    check_kafka_ports(settings)
    typer.echo(f"listening on {url_of(settings, listener)}")
    from ticdc_producer.serve.server import serve as run

    run(settings, partial(_load, settings), listener)
    return 0


def _load(settings: ServeSettings, on_failure: Callable[[], None]) -> tuple[Service, ASGIApp]:
    """Load the service and its application. Kafka starts meanwhile, which takes as long."""
    from ticdc_producer.kafka.embedded.broker import StartingKafka

    kafka = None if settings.kafka else StartingKafka(addresses=settings.kafka_addresses)
    from ticdc_producer.cli.remote.command_service import answer_command
    from ticdc_producer.serve.app import create_app
    from ticdc_producer.serve.service import Service, Texts

    service = Service(settings, Texts(run_text, verdict_text), kafka, on_failure, _show)
    return service, create_app(service, answer_command)


def _show(line: str) -> None:
    with suppress(OSError):  # the program that has started the service may have closed its output
        typer.echo(line, err=True)


def run_text(report: RunReport, quiet: bool, colours: bool) -> str:
    from ticdc_producer.cli.report_text import show_report

    console = _console(colours)
    show_report(report, console, quiet=quiet)
    return console.export_text(styles=colours)


def verdict_text(verdict: Verdict, with_scenario: bool, quiet: bool, colours: bool) -> str:
    from ticdc_producer.cli.report_text import show_verdict

    console = _console(colours)
    show_verdict(verdict, console, quiet=quiet, way_out="" if with_scenario else "give --scenario")
    return console.export_text(styles=colours)


def _console(colours: bool) -> Console:
    from rich.console import Console

    return Console(file=io.StringIO(), record=True, force_terminal=colours, highlight=False, width=10_000)
