"""Times previews of 50 statements in the process that makes them: ``python -m benchmarks.previews``.

Prints the median of the processor time and of the elapsed time, after some previews that fill the caches.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter, process_time

from ticdc_producer.serve.preview import Preview
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.submission import PreviewRequest
from ticdc_producer.serve.uploads import PostedScenario

SIX = ("canal-json", "open-protocol", "avro", "simple", "debezium", "craft")
REPEATS = 9


def statements() -> str:
    """Return 50 statements on one table."""
    table = "CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(40), price DECIMAL(10,2), at DATETIME);\n"
    inserts = (
        f"INSERT INTO orders VALUES ({row}, 'lamp {row}', {row}.5, '2024-01-01');\n" for row in range(25)
    )
    updates = (f"UPDATE orders SET price = price + 1 WHERE id = {row};\n" for row in range(15))
    deletes = (f"DELETE FROM orders WHERE id = {row};\n" for row in range(9))
    return "".join((table, *inserts, *updates, *deletes))


def measured(protocols: tuple[str, ...], *, verify: bool) -> tuple[float, float]:
    """Return processor time and elapsed time of one preview, in milliseconds."""
    request = PreviewRequest(sql=statements(), protocols=protocols, partitions=3, verify=verify)
    scenario = PostedScenario(file="scenario.sql", text=statements().encode())
    preview = Preview(request=request, scenario=scenario, settings=ServeSettings())
    processor, elapsed = process_time(), perf_counter()
    result = preview(lambda _news: None)
    assert result.ok
    return 1000 * (process_time() - processor), 1000 * (perf_counter() - elapsed)


def main() -> None:
    """Print a line for each kind of preview."""
    print("protocols  verify  processor ms  elapsed ms")
    for protocols in (SIX[:1], SIX):
        for verify in (False, True):
            times = [measured(protocols, verify=verify) for _ in range(REPEATS)][3:]
            processor, elapsed = (median(column) for column in zip(*times, strict=True))
            print(f"{len(protocols):9}  {verify!s:6}  {processor:12.0f}  {elapsed:10.0f}")


if __name__ == "__main__":
    main()
