"""A golden folder with a state only, made without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from ticdc_producer.model.shapes import IMAGE
from ticdc_producer.model.table import table_json
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.state import replicated_state
from ticdc_producer.targets.golden import write as sink
from ticdc_producer.targets.golden.folder import new_folder
from ticdc_producer.targets.golden.json_lines import state_lines
from ticdc_producer.verifier.consumer_state.row_sums import sums_json, sums_of_images

SHOP = Path(__file__).with_name("shop.sql")


def state_folder(
    path: Path,
    scenario: Path = SHOP,
    *,
    uri: str = "kafka:///shop?protocol=open-protocol",
    state_at: Sequence[int] = (),
    with_sums: bool = True,
) -> Path:
    """The folder that ``run --out`` writes, without messages and events.

    :param with_sums: the manifest has the sums of the rows, as a run writes them.
    """
    job = prepare(scenario, sink_uri=uri, state_at=state_at, overrides=["session.database=shop"])
    states = {"state": job.history.state, **{f"state.at/{ts}": job.state_until(ts) for ts in state_at}}
    with new_folder(path) as folder:
        tables, sums = {}, {}
        for name, state in states.items():
            (folder / name).mkdir(parents=True)
            for table, rows in replicated_state(job, state):
                images = pa.array(rows, IMAGE)
                file = sink.write_state(folder / name, table, [state_lines(table, images)])
                tables[file.relative_to(folder).as_posix()] = table_json(table)
                of_rows = sums_of_images(table.sent_columns, images)
                if with_sums and of_rows is not None:
                    sums[file.relative_to(folder).as_posix()] = sums_json(of_rows)
        content = {"changefeed": job.changefeed.as_manifest(), "tables": tables}
        sink.write_manifest(folder, content, sums)
    return path
