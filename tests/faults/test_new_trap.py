"""A trap is one class: what docs/extending/trap.md lists is all that a new one needs."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import trap_tables
from tests.docs.markdown import FENCED
from tests.spark_command import run_on_spark
from tests.verifier.topic import Topic, account, ts
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import FaultError
from ticdc_producer.faults.catalogue import catalogue, catalogue_text, trap
from ticdc_producer.faults.traps import built_in
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import SimulatedTopic, simulated_topic
from ticdc_producer.verifier.coverage import TrapOccurrences, Visibility, exercised
from ticdc_producer.verifier.options import VerifyOptions

ROOT = Path(__file__).parents[2]
SCENARIO = Path(__file__).with_name("together.yaml")
_, CLASS, *_ = [
    text for language, text in FENCED.findall((ROOT / "docs/extending/trap.md").read_text("utf-8"))
]
"""The class of the page."""
LEGAL = """
from ticdc_producer.faults.event_traps import has_op
from ticdc_producer.faults.event_traps import CopyTrap, is_drawn
from ticdc_producer.model.trap_coverage import seen_as


class DeleteTwice(CopyTrap):
    id = "delete-twice"
    summary = "A delete is delivered twice."
    consumer_action = "Applies it once."
    default_rate = 1.0
    occurrence = "a delete"
    coverage = seen_as("event", "row_again and op = 'delete'")

    def copied(self, events, plan):
        return has_op(events, Op.DELETE) & is_drawn(events, plan, self.id)


class Nothing:
    pass


class Silent(CopyTrap):
    id = "silent"
    summary = "It says nothing to consumers."
    coverage = DeleteTwice.coverage

    def copied(self, events, plan):
        return has_op(events, Op.DELETE)
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    """Install a package with traps, by entry point."""
    module = f"acme_{abs(hash(folder)) % 10**8}"
    (folder / f"{module}.py").write_text(CLASS + LEGAL)
    info = folder / "acme_traps-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-traps\nVersion: 1.0\n")
    lines = [f"{name.replace('_', '-')} = {module}:{class_name}" for name, class_name in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[ticdc_producer.traps]", *lines, ""]))
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    catalogue.cache_clear()


@pytest.fixture(autouse=True)
def _own_catalogue() -> Iterator[None]:
    yield
    catalogue.cache_clear()


@pytest.fixture
def new_traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, lost_delete="LostDelete", delete_twice="DeleteTwice")


@pytest.mark.usefixtures("new_traps")
def test_a_registered_trap_is_in_the_catalogue_and_in_the_tables() -> None:
    assert trap("lost-delete").requires == "a delete"
    assert "- id: lost-delete\n" in catalogue_text()
    assert "| `lost-delete` | A delete never arrives" in trap_tables.illegal()
    assert "| `delete-twice` | A delete is delivered twice. |" in trap_tables.delivery()
    assert "| `delete-twice` | `rate` | every one | a delete |" in trap_tables.settings()


@pytest.mark.usefixtures("new_traps")
@pytest.mark.parametrize(("name", "difference"), [("lost-delete", -1), ("delete-twice", 1)])
def test_a_registered_trap_is_injected(name: str, difference: int) -> None:
    uri = "kafka:///t?protocol=canal-json&partition-num=2&enable-tidb-extension=true"
    sent, clean = (simulated_topic(prepare(SCENARIO, sink_uri=uri, inject=inject)) for inject in ([name], []))
    assert {fault["trap"] for fault in sent.faults} == {name}
    assert deletes(sent) - deletes(clean) == difference * len(sent.faults)


@pytest.mark.slow
def test_a_registered_trap_is_injected_in_tasks_of_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    install(package, monkeypatch, delete_twice="DeleteTwice")
    uri = "kafka:///t?protocol=canal-json&partition-num=2&enable-tidb-extension=true"
    out = tmp_path / "golden"
    run_on_spark(package, SCENARIO, "--sink-uri", uri, "--inject", "delete-twice", "--out", out)
    faults = [json.loads(line) for line in (out / "faults.jsonl").read_text("utf-8").splitlines()]
    assert {fault["trap"] for fault in faults} == {"delete-twice"}
    topic = simulated_topic(prepare(SCENARIO, sink_uri=uri, inject=["delete-twice"]))
    assert len(faults) == len(topic.faults)


def deletes(topic: SimulatedTopic) -> int:
    return sum(row["op"] == "delete" for row in topic.expected_events.to_pylist())


@pytest.mark.usefixtures("new_traps")
def test_a_stream_is_searched_for_a_registered_trap() -> None:
    topic = Topic("t").row(0, ts(1), after=account(1)).row(0, ts(2), before=account(1))
    assert deletes_twice(topic) is None
    again = topic.row(0, ts(3), after=account(1)).row(0, ts(2), before=account(1))
    occurrences = deletes_twice(again)
    assert occurrences is not None
    assert occurrences.location == "t/0@3[0]"


def deletes_twice(topic: Topic) -> TrapOccurrences | None:
    engine, rules = LocalEngine(), {"delete-twice": trap("delete-twice").coverage}
    decoded = engine.of_batches(topic.table().to_batches(), DECODED)
    return exercised(engine, decoded, Visibility(options=VerifyOptions()), rules)["delete-twice"]


@pytest.mark.parametrize(
    ("class_name", "complaint"),
    [
        ("Nothing", "must be a subclass of Trap"),
        ("Absent", "cannot be loaded: AttributeError"),
        ("Silent", "consumer_action: Field required"),
    ],
)
def test_a_registered_class_that_is_no_trap_is_refused_with_its_origin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, class_name: str, complaint: str
) -> None:
    install(tmp_path, monkeypatch, strange=class_name)
    with pytest.raises(FaultError, match=complaint) as caught:
        catalogue()
    assert "entry point strange = acme_" in str(caught.value)


def test_two_traps_of_one_id_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, first="LostDelete", second="LostDelete")
    with pytest.raises(FaultError, match="another trap has this id"):
        catalogue()


def test_the_package_names_a_trap_in_its_class_alone() -> None:
    """Its id is no condition elsewhere: what all files but the trap's say is said of a kind of traps.

    Only the random histories name traps of SQL: each of their parts says which of them it makes.
    """
    package = ROOT / "producer/ticdc_producer"
    traps = {
        trap.id: package / "faults/traps" / f"{trap.__module__.rpartition('.')[2]}.py" for trap in built_in()
    }
    quoted = re.compile("|".join(rf'["\']({re.escape(name)})["\']' for name in traps))
    other_meanings = {"handle-key-only", "claim-check", "truncated"}
    mentions = {
        (name, path.relative_to(package).as_posix())
        for path in package.rglob("*.py")
        for match in quoted.finditer(path.read_text("utf-8"))
        if (name := next(filter(None, match.groups()))) not in other_meanings
        and path != traps[name]
        and not path.is_relative_to(package / "conformance/fuzz")
    }
    assert mentions == set()
