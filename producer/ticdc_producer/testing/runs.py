"""Runs of scenarios for tests; each scenario is run once per pytest process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qsl, urlencode

from ticdc_producer import api
from ticdc_producer.config.parameters import has_parameter, parameter
from ticdc_producer.config.resolve import resolve
from ticdc_producer.config.sink_uri import default_sink_uri
from ticdc_producer.errors import FolderError
from ticdc_producer.protocols.registry import protocol_spec
from ticdc_producer.scenario.content_digest import content_sha256
from ticdc_producer.scenario.load import LoadableScenario, load_scenario
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.testing.marker import MarkerArguments, protocol_name
from ticdc_producer.testing.topic import Golden

if TYPE_CHECKING:
    from ticdc_producer.api import RunReport


_Key: TypeAlias = tuple[str, str, tuple[str, ...], tuple[str, ...]]


@dataclass
class GoldenRuns:
    """The golden folders of one pytest process.

    :param new_folder: creates an empty folder.
    :param verify: read each folder's messages again and verify them.
    :param run: runs a scenario, as ``api.run``.
    """

    new_folder: Callable[[], Path]
    verify: bool = False
    run: Callable[..., RunReport] = api.run
    _folders: dict[_Key, Golden] = field(default_factory=dict)

    def golden(self, arguments: MarkerArguments, protocol: str, *, test_folder: Path) -> Golden:
        """Return the golden folder of a scenario in one protocol.

        :param protocol: a name, optionally followed by parameters; empty for the scenario's own.
        :param test_folder: folder of the test, which is searched first for a scenario file.
        :raises ProducerError: if the scenario or one of the arguments is wrong, or Spark does not start.
        :raises FolderError: if the folder was verified and violates an invariant or its expectations.
        """
        scenario = _find_scenario(arguments.scenario, test_folder)
        name = scenario if isinstance(scenario, str) else content_sha256(load_scenario(scenario))
        key = (name, protocol, arguments.traps, arguments.overrides)
        if key not in self._folders:
            uri = sink_uri(load_scenario(scenario, arguments.overrides), protocol)
            folder = self.new_folder() / "golden"
            report = self.run(
                scenario,
                sink_uri=uri,
                out=folder,
                overrides=arguments.overrides,
                inject=arguments.traps,
                verify_output=self.verify,
            )
            if not report.ok:
                raise _violation(report, folder)
            self._folders[key] = Golden(folder)
        return self._folders[key]


def _violation(report: RunReport, folder: Path) -> FolderError:
    findings = [] if report.verdict is None else report.verdict.of_severity("error")
    names = ", ".join(finding.id for finding in findings) or "differences to the scenario"
    if reasons := report.not_injected:
        names = "; ".join(f"{name} was not injected, because {reason}" for name, reason in reasons.items())
    what = f"the messages of scenario {report.scenario} are not correct: {names}"
    return FolderError(what, path=str(folder), hint=f"ticdc-producer verify --in {folder}")


def own_protocol(arguments: MarkerArguments, *, test_folder: Path) -> str:
    """Return the protocol of a scenario's own changefeed.

    :raises ProducerError: if the scenario or its changefeed is wrong.
    """
    read = load_scenario(_find_scenario(arguments.scenario, test_folder), arguments.overrides)
    return resolve(scenario=read.changefeed, name=read.name).protocol


def sink_uri(scenario: ScenarioFile, protocol: str) -> str:
    """Return the scenario's sink URI with another protocol and without a broker.

    Other parameters are retained, except for options that the protocol does not have.

    :param protocol: a name, optionally followed by ``&`` and parameters, which override the scenario's; empty
        for the scenario's own.
    """
    own = str(scenario.changefeed.get("sink-uri") or default_sink_uri(scenario.name))
    path, _, query = own.partition("?")
    topic = path.rpartition("/")[2]
    options = dict(parse_qsl(query, keep_blank_values=True))
    if protocol:
        name, given = protocol_name(protocol), parse_qsl(protocol.partition("&")[2], keep_blank_values=True)
        options = {option: value for option, value in options.items() if _has(name, option)}
        options.update({"protocol": name, **dict(given)})
    return f"kafka:///{topic}?{urlencode(options)}" if options else f"kafka:///{topic}"


def _has(protocol: str, option: str) -> bool:
    known = parameter(option)
    return known is None or has_parameter(protocol_spec(protocol), known)


def _find_scenario(scenario: str | LoadableScenario, test_folder: Path) -> str | LoadableScenario:
    """Return the scenario file in the test's folder if it exists, else the scenario unchanged."""
    if not isinstance(scenario, str):
        return scenario
    file = test_folder / scenario
    return str(file) if file.is_file() else scenario
