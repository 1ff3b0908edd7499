"""Runs a small scenario, so that the first task of a process is as fast as later ones."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ticdc_producer.config import resolve
from ticdc_producer.errors import ProducerError
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.serve.child_messages import TEXT_FORMS
from ticdc_producer.serve.work import Texts
from ticdc_producer.simulate.job import prepare

_SCENARIO = "seed_t1"


def warm_up(folder: Path, texts: Texts) -> None:
    """Run a scenario into a folder, verify it and print the reports; this loads modules and fills caches.

    :param folder: gets a temporary folder.
    """
    with suppress(ProducerError, OSError), TemporaryDirectory(dir=folder) as name:  # a task will report it
        scenario = load_scenario(_SCENARIO)
        changefeed = resolve("kafka:///warm-up", scenario=scenario.changefeed, name=scenario.name)
        job = prepare(scenario, changefeed=changefeed)
        report = run_job(job, RunOptions(out=Path(name, "golden"), from_beginning=True))
        for form in TEXT_FORMS:
            texts.run(report, *form)
