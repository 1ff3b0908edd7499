"""Command lines of clients: their arguments and files, and the requests that other clients post as JSON.

The rules for posted text apply to these requests. The client reads and writes files: the service names them,
and never opens a path of a command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ticdc_producer.cli import run_command, topic_commands, verify_command
from ticdc_producer.cli.remote.frames import frame, parts_of, read_frames, text_of
from ticdc_producer.cli.remote.server_client import COMMANDS
from ticdc_producer.cli.reports import Reports, check_verified, scenario_source, source_of
from ticdc_producer.errors import ArgumentError, FolderError, RefusedRequest, ScenarioError
from ticdc_producer.runs.options.commands import RUN, VERIFY
from ticdc_producer.runs.options.option import Option
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.scenario.load import shipped
from ticdc_producer.serve.posted import PostedFiles
from ticdc_producer.serve.submission import DecodeRequest, RunRequest, VerifyRequest

if TYPE_CHECKING:
    from ticdc_producer.serve.service import Service
    from ticdc_producer.serve.tasks.task import Task


_MOST_ARGUMENTS = 1000


@dataclass
class CommandLine:
    """A posted command line.

    :param files: the content of each file that the client has sent, by path and by path in a folder.
    :param folders: the paths that are folders.
    :param unreadable: why a file could not be read, by path.
    :param prepared: whether the client has sent the files that the service requires.
    :param before: the run whose result a watched run is compared with.
    """

    arguments: list[str] = field(default_factory=list)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    unreadable: dict[str, str] = field(default_factory=dict)
    prepared: bool = False
    colours: bool = False
    before: str = ""

    def text(self, path: str) -> str:
        """Return the content of a text file.

        :raises ScenarioError: if the client could not read it.
        """
        if path in self.folders or path not in self.files:
            why = "Is a directory" if path in self.folders else self.unreadable.get(path, "it was not sent")
            raise ScenarioError(f"cannot read the file: {why}", file=path)
        try:
            return self.files[path][""].decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ScenarioError("the file is not UTF-8", file=path) from None

    def content(self, path: str) -> dict[str, bytes]:
        """Return the content of a file, or the files of a folder.

        :raises FolderError: if the client could not read it.
        """
        if path in self.unreadable:
            raise FolderError(f"cannot be read: {self.unreadable[path]}", path=path)
        return self.files.get(path, {})


def read_command_line(body: bytes) -> CommandLine:
    """Read the command line in the body of a request.

    :raises RefusedRequest: for an invalid body.
    """
    line = CommandLine()
    try:
        for name, content in read_frames([body]):
            if name == "argument":
                if len(line.arguments) == _MOST_ARGUMENTS:
                    what = f"the command line has more than {_MOST_ARGUMENTS} arguments"
                    raise RefusedRequest(what, status=413)
                line.arguments.append(text_of(content))
            elif name == "file":
                path, entry, data = parts_of(content, 3)
                line.files.setdefault(text_of(path), {})[text_of(entry)] = data
            elif name == "folder":
                line.folders.add(text_of(content))
            elif name == "unreadable":
                path, why = parts_of(content, 2)
                line.unreadable[text_of(path)] = text_of(why)
            elif name == "before":
                line.before = text_of(content)
            elif name in ("prepared", "colours"):
                setattr(line, name, True)
    except ValueError as error:
        raise RefusedRequest(str(error), status=400) from None
    return line


_ENDINGS = (".sql", ".yaml", ".yml")


@dataclass(frozen=True, kw_only=True)
class Call:
    """The work that a command line requests.

    :param reads: paths that the client must send.
    :param checks: frames with which the client checks where results will be written.
    :param start: begins the work: a task, or the text of the output and the exit code.
    :param out: where the client writes the golden folder.
    :param reports: where the client writes JUnit XML and HTML.
    :param advises: whether the client prints what to do next.
    """

    reads: list[str]
    start: Callable[[CommandLine, Service], Task | tuple[str, int]]
    checks: list[bytes] = field(default_factory=list)
    out: str = ""
    reports: dict[str, str] = field(default_factory=dict)
    as_json: bool = False
    quiet: bool = False
    watch: bool = False
    advises: bool = False


@cache
def _commands() -> Any:
    """Return the commands that a service runs, with the options that they have without one."""
    app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})
    app.command("run")(run_command.run)
    app.command("decode")(topic_commands.decode)
    app.add_typer(verify_command.verify_app, name="verify")
    return typer.main.get_command(app)


def call_of(arguments: list[str]) -> Call:
    """Parse a command line.

    :raises ProducerError: for a command or an option that the service does not serve.
    :raises TyperException: for options that are wrong.
    """
    if not arguments or arguments[0] not in COMMANDS or {"-h", "--help"} & set(arguments):
        raise ArgumentError(f"the service runs {', '.join(COMMANDS)}", argument="server")
    name, *rest = arguments
    command = _commands().commands[name]
    context = command.make_context(f"ticdc-producer {name}", rest)
    if getattr(context, "_protected_args", ()):
        raise ArgumentError("`verify state` cannot be combined with --server", argument="server")
    check_options(name, {**context.params, "server": True})
    return {"run": _run_call, "verify": _verify_call, "decode": _decode_call}[name](context.params)


def _run_call(options: dict[str, Any]) -> Call:
    verified = options["verify_output"] and not options["dry_run"]
    reports = _reports(options, verified)
    if options["watch"] and not options["scenario"].endswith(_ENDINGS):
        raise ScenarioError("--watch requires a scenario file that exists", file=options["scenario"])
    out = "" if options["out"] is None else str(options["out"])
    replace = options["replace"] or options["watch"]
    checks = [frame("folder", out, b"replace" if replace else b"")] if out else []

    def start(line: CommandLine, service: Service) -> Task:
        fields = {**_fields(RUN, options, line), "replace": replace}
        request = RunRequest(**fields, scenario_topic=options["sink_uri"] is None)
        return service.run(request, partial(_report_files, reports, verified, _source(options, line)))

    return Call(
        reads=_inputs(options["scenario"], options["config"]),
        checks=[*checks, *_report_checks(reports)],
        start=start,
        out=out,
        reports=reports,
        as_json=options["as_json"],
        quiet=options["quiet"],
        watch=options["watch"],
        advises=not (options["as_json"] or options["quiet"] or options["watch"]),
    )


def _verify_call(options: dict[str, Any]) -> Call:
    folder = options["folder"]
    reports = _reports(options, True)

    def start(line: CommandLine, service: Service) -> Task:
        request = VerifyRequest(**_fields(VERIFY, {**options, "sink_uri": options["sink_uri"] or ""}, line))
        content = None if folder is None else PostedFiles(str(folder), line.content(str(folder)))
        return service.verify(request, partial(_report_files, reports, True, _source(options, line)), content)

    return Call(
        reads=[*_inputs(options["scenario"], options["config"]), *([str(folder)] if folder else [])],
        checks=_report_checks(reports),
        start=start,
        reports=reports,
        as_json=options["as_json"],
        quiet=options["quiet"],
    )


def _decode_call(options: dict[str, Any]) -> Call:
    path = options["file"] or options["folder"]

    def start(line: CommandLine, service: Service) -> tuple[str, int]:
        request = DecodeRequest(
            **_config(options, line), sink_uri=options["sink_uri"] or "", protocol=options["protocol"]
        )
        content = None if path is None else PostedFiles(str(path), line.content(str(path)))
        text = options["form"] == "text"
        lines, damaged = service.decoded(request, text=text, posted=content)
        return "".join(f"{event}\n" for event in lines), int(damaged)

    return Call(reads=_inputs(None, options["config"]) + ([str(path)] if path else []), start=start)


def _inputs(scenario: str | None, config: Path | None) -> list[str]:
    own = [scenario] if scenario is not None and scenario.endswith(_ENDINGS) else []
    return [*own, *([str(config)] if config is not None else [])]


def _fields(declared: Iterable[Option], options: dict[str, Any], line: CommandLine) -> dict[str, Any]:
    """Return the fields of a request; the files of the command line are texts in it."""
    fields = {option.field: options[option.name] for option in declared if option.field}
    return fields | _scenario(options["scenario"], line) | _config(options, line)


def _scenario(scenario: str | None, line: CommandLine) -> dict[str, Any]:
    if scenario is None or not scenario.endswith(_ENDINGS):
        return {"scenario": scenario}
    kind = "sql" if scenario.endswith(".sql") else "yaml"
    return {kind: line.text(scenario), "file": scenario}


def _config(options: dict[str, Any], line: CommandLine) -> dict[str, Any]:
    return {} if options["config"] is None else {"config": line.text(str(options["config"]))}


def _reports(options: dict[str, Any], verified: bool) -> dict[str, str]:
    """Return the reports that the client writes: their paths by kind."""
    files = {"junit-xml": options["junit_xml"], "html": options["html"]}
    for path in files.values():
        check_verified(path, verified)
    return {kind: str(path) for kind, path in files.items() if path is not None}


def _report_checks(reports: Mapping[str, str]) -> list[bytes]:
    return [frame("report", path, "") for path in reports.values()]


def _source(options: dict[str, Any], line: CommandLine) -> Callable[[], str]:
    """Return the text of the scenario, for the page: as it was sent, or that of a shipped one."""
    scenario = options["scenario"]
    if scenario is None or scenario not in line.files:
        return str if scenario not in shipped() else partial(scenario_source, scenario)
    return partial(source_of, scenario, line.text(scenario))


def _report_files(
    reports: Mapping[str, str], verified: bool, source: Callable[[], str], folder: Path
) -> Reports:
    paths = {kind: folder / kind if kind in reports else None for kind in ("junit-xml", "html")}
    return Reports(paths["junit-xml"], paths["html"], verified, source)
