"""A golden folder of a state alone, made without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ticdc_producer.model.table_form import table_form
from ticdc_producer.runs.prepare import prepare
from ticdc_producer.runs.write_golden import replicated_state
from ticdc_producer.targets.golden import write as sink

SHOP = Path(__file__).with_name("shop.sql")


def state_folder(
    place: Path,
    scenario: Path = SHOP,
    *,
    uri: str = "kafka:///shop?protocol=open-protocol",
    state_at: Sequence[int] = (),
) -> Path:
    """The folder that ``run --out`` writes, without messages and events."""
    job = prepare(scenario, sink_uri=uri, state_at=state_at, sets=["session.database=shop"])
    states = {"state": job.history.state, **{f"state.at/{ts}": job.state_until(ts) for ts in state_at}}
    with sink.golden_folder(place) as folder:
        forms = {}
        for name, state in states.items():
            (folder / name).mkdir(parents=True)
            for table, rows in replicated_state(job, state):
                file = sink.write_state(folder / name, table, rows)
                forms[file.relative_to(folder).as_posix()] = table_form(table)
        sink.write_manifest(folder, {"changefeed": job.changefeed.as_manifest(), "tables": forms})
    return place
