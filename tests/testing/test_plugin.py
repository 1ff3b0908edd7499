"""The plugin without Spark and Kafka: imports, collection and errors."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tests.testing.page import write_page_files

ROOT = Path(__file__).parents[2]
PLUGIN = "ticdc_producer.testing.plugin"


@pytest.fixture
def tried(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project that uses the plugin of this checkout, installed or not."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", PLUGIN)
    pytester.makeini("[pytest]\naddopts = --strict-markers -p no:cacheprovider\n")
    return pytester


def test_pytest_and_hypothesis_find_the_entry_points() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    (plugin,) = declared["pytest11"].values()
    assert plugin == PLUGIN
    module, _, function = declared["hypothesis"]["ticdc"].partition(":")
    assert callable(getattr(import_module(module), function))


def test_a_project_without_topics_loads_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    code = (
        "import sys, pytest; pytest.main(['-q', '-p', sys.argv[1], '-p', 'no:cacheprovider']);"
        "heavy = {'pyspark', 'pyarrow', 'confluent_kafka', 'pydantic', 'hypothesis', 'msgspec', 'sqlglot'};"
        "print('loaded', *sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    env = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code, PLUGIN], capture_output=True, text=True, check=True, env=env
    )
    assert "1 passed" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded"


def _collected(tried: pytest.Pytester, *options: str) -> list[str]:
    result = tried.runpytest_inprocess("--collect-only", "-q", *options)
    return [line for line in result.outlines if "::" in line]


def test_a_test_of_several_protocols_is_run_once_for_each(tried: pytest.Pytester) -> None:
    tried.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.ticdc(scenario="seed_t1", protocol=["craft", "canal-json&enable-tidb-extension=true"])
        class TestAll:
            def test_a(self, ticdc_topic): pass
            def test_without_a_topic(self): pass

        @pytest.mark.ticdc(scenario="seed_t1", protocol="craft")
        def test_one(ticdc_topic): pass
        """
    )
    assert _collected(tried) == [
        "test_it.py::TestAll::test_a[craft]",
        "test_it.py::TestAll::test_a[canal-json&enable-tidb-extension=true]",
        "test_it.py::TestAll::test_without_a_topic",
        "test_it.py::test_one",
    ]


def test_tests_of_other_protocols_are_skipped(tried: pytest.Pytester) -> None:
    tried.makepyfile(
        """
        import pytest

        @pytest.mark.ticdc(scenario="seed_t1", protocol=["craft", "debezium"])
        def test_listed(ticdc_topic): pass

        @pytest.mark.ticdc(scenario="seed_t1")
        def test_of_the_scenarios_own(ticdc_topic): pass
        """
    )
    result = tried.runpytest_inprocess("--ticdc-protocol=canal-json", "-rs")
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(["*the test is of open-protocol, --ticdc-protocol=canal-json"])


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("scenari='seed_t1'", "unknown argument 'scenari' (did you mean 'scenario'?)"),
        ("protocol='craft'", "it names no scenario"),
        ("'seed_t1'", "it takes keyword arguments only"),
        (
            "scenario='seed_t1', protocol='canal-jsn'",
            "unknown protocol 'canal-jsn' (did you mean 'canal-json'?)",
        ),
        ("scenario='seed_t1', traps='poison'", "traps is not a list"),
        ("scenario='seed_t1', overrides=[1]", "overrides contains other values than strings"),
    ],
)
def test_a_wrong_marker_is_reported_before_anything_runs(
    tried: pytest.Pytester, marker: str, message: str
) -> None:
    tried.makepyfile(
        f"import pytest\n@pytest.mark.ticdc({marker})\ndef test_it(ticdc_topic): raise SystemExit(9)\n"
    )
    result = tried.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    assert f"test_it: marker ticdc: {message}" in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("", "the test needs a marker: @pytest.mark.ticdc(scenario="),
        ("@pytest.mark.ticdc(scenario='nowhere')", "nowhere"),
        ("@pytest.mark.ticdc(scenario='seed_t1', protocol='craft&bath-by=partition')", "'bath-by'"),
        ("@pytest.mark.ticdc(scenario='seed_t1', traps=['no-such-trap'])", "no-such-trap"),
        ("@pytest.mark.ticdc(scenario='seed_t1', overrides=['sed=1'])", "sed"),
    ],
)
def test_an_error_of_a_run_is_one_line(tried: pytest.Pytester, marker: str, message: str) -> None:
    tried.makepyfile(f"import pytest\n{marker}\ndef test_it(ticdc_topic): pass\n")
    result = tried.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    head = next(n for n, line in enumerate(result.outlines) if "ERROR at setup of test_it" in line)
    error, after = result.outlines[head + 1 : head + 3]
    assert message in error
    assert after.startswith("====")  # no traceback follows


def test_a_protocol_option_that_names_none_is_a_usage_error(tried: pytest.Pytester) -> None:
    result = tried.runpytest_inprocess("--ticdc-protocol=crafts")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--ticdc-protocol: unknown protocol 'crafts' (did you mean 'craft'?)"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ticdc-client=client.id=x"], "has no effect on the embedded Kafka (add --ticdc-bootstrap)"),
        (["--ticdc-bootstrap=h:1", "--ticdc-client=hunter2"], "it is not of the form name=value"),
        (["--ticdc-bootstrap=h:1", "--ticdc-client=acks=hunter2"], "property 'acks' cannot be set by users"),
        (
            ["--ticdc-bootstrap=h:1", "--ticdc-client=sasl.password=${NO_SUCH_PASSWORD}"],
            "environment variable 'NO_SUCH_PASSWORD' is not set",
        ),
    ],
)
def test_wrong_properties_of_clients_are_a_usage_error_and_not_repeated(
    tried: pytest.Pytester, options: list[str], message: str
) -> None:
    result = tried.runpytest_inprocess(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--ticdc-client*{message}*"])
    assert "hunter2" not in result.stderr.str() + result.stdout.str()


def test_a_kafka_that_does_not_answer_is_reported(tried: pytest.Pytester) -> None:
    tried.makepyfile("def test_it(ticdc_broker): pass")
    result = tried.runpytest_inprocess(
        "--ticdc-bootstrap=127.0.0.1:1", "--ticdc-client=socket.connection.setup.timeout.ms=1000"
    )
    result.assert_outcomes(errors=1)
    assert "127.0.0.1:1: no Kafka broker answers" in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_the_strategies_of_the_page_work(tried: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    write_page_files(tried.path)
    monkeypatch.syspath_prepend(tried.path)
    tried.runpytest_inprocess("test_messages.py").assert_outcomes(passed=2)
