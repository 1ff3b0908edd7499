"""Commands of the pages that cannot run unchanged: their replacements, or the reason why they do not run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tests.docs.page_commands import Command


class NotRun(NamedTuple):
    """Commands that :mod:`tests.docs.test_commands_run` does not run."""

    page: str
    part: str
    """A part of the command's text; the empty text selects all commands of the page."""
    reason: str


class Replaced(NamedTuple):
    """A part of a command that a test replaces."""

    old: str
    new: str
    """May contain names such as ``{bootstrap}``, which the test fills in when it runs."""
    reason: str


NOT_RUN = (
    NotRun("verifying.md", "--follow", "tests/verifier/test_follow.py follows topics"),
    NotRun("real-topics.md", "--shrink", "tests/conformance/fuzz/test_shrink_recording.py has a command"),
    NotRun("real-topics.md", "of-tests", "needs a server; tests/recording/test_binlog.py starts one"),
    NotRun("README.md", "ticdc-producer run seed_t1", "tests/cli/test_process.py runs it as a process"),
    NotRun("README.md", "pytest -n 3", "it runs these tests"),
    NotRun("index.md", "ticdc-producer run seed_t1", "tests/cli/test_process.py runs it as a process"),
    NotRun(
        "consumers.md", "TICDC_KAFKA_CONSUMER", "needs TiCDC's programs; tests/peers/test_ticdc_programs.py"
    ),
    NotRun("avro.md", "pip install", "fetches from a package index"),
    NotRun("ci.md", "docker compose", "no engine for images; tests/serve/test_container.py has the service"),
    NotRun("kafka.md", "docker compose", "the tests have their own broker"),
    NotRun("kafka.md", "broker st", "takes port 9092; tests/cli/test_broker_command.py starts one"),
    NotRun("runs.md", "--watch", "does not end; tests/cli/test_watch.py has what it does"),
    NotRun(
        "kafka.md",
        "kafka.example.com",
        "no such host; tests/runs/test_secured_kafka.py has similar commands",
    ),
    NotRun("clusters.md", "spark-submit", "no such cluster; tests/runs/test_standalone.py starts one"),
    NotRun("clusters.md", "venv-pack", "fetches from a package index"),
    NotRun("conformance.md", "mvn", "fetches from Maven Central; tests/peers/test_testee_java.py does that"),
    NotRun(
        "conformance.md", "testee_java", "needs what Maven built; tests/peers/test_testee_java.py runs it"
    ),
    NotRun("serve.md", "", "tests/serve/test_process.py and tests/serve/test_server_client.py run a service"),
    NotRun("sql.md", "test_differential.py", "it is a slow test; tests/scenario/sql/test_differential.py"),
    NotRun("storage.md", "s3://", "no such bucket; see tests/runs/test_object_store.py"),
    NotRun("testing.md", "kafka.example.com", "no such host; see tests/testing/test_topics.py"),
    NotRun("verifying.md", ":/lake/", "needs the extra lake; tests/consumer_state/test_table_formats.py"),
    NotRun("verifying.md", "orders.dump", "needs kcat; tests/cli/test_dumps.py has such a file"),
    NotRun("vectors.md", "", "tests/tools/test_vectors.py runs the whole page"),
    NotRun("verifying-your-consumer.md", "", "tests/docs/test_consumer_page.py runs the whole page"),
)

REPLACED = (
    Replaced(
        "kafka://localhost:9092/", "kafka://{bootstrap}/{page}-", "one broker, own topics for each page"
    ),
    Replaced("http://localhost:8081", "mock://{page}", "a registry inside this process"),
    Replaced("//tester:secret@localhost/", "//{server}/", "a server that the test starts"),
    Replaced("/mnt/large/", "large/", "stays in the test's folder"),
    Replaced("file:///tmp/", "file://{folder}/tmp/", "stays in the test's folder"),
    Replaced("python examples/", "{python} examples/", "the interpreter of the tests"),
    Replaced("generate.rows=250000", "generate.rows=40", "a large run, small"),
    Replaced("generate.transactions=2250000", "generate.transactions=20", "a large run, small"),
    Replaced("generate.transactions=5000000", "generate.transactions=20", "a large run, small"),
    Replaced(
        "--rate 5000/s --duration 10m", "--rate 200/s --duration 2s", "two seconds instead of ten minutes"
    ),
    Replaced(
        "golden --protocol all",
        "golden --protocol all --filter required.*.rows.* --filter required.craft.apply.seed_t1.truncate",
        "Spark takes a quarter of an hour for the topics of all cases",
    ),
)


def not_run(command: Command) -> str | None:
    """Why a command is not run; None if it is."""
    for left_out in NOT_RUN:
        if left_out.page == command.page and left_out.part in command.text:
            return left_out.reason
    return None


def replaced(text: str, known: Mapping[str, str]) -> str:
    """A command with the replacements of ``REPLACED``.

    :param known: values of the names in the replacements.
    """
    for replacement in REPLACED:
        if replacement.old in text:
            text = text.replace(replacement.old, replacement.new.format_map(known))
    return text
