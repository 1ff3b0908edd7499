"""Times previews of 50 statements: ``python -m benchmarks.previews``.

Prints the median of the processor time and of the elapsed time in a process that makes them, after some
previews that fill the caches; then the elapsed time of requests to a service, of which two processes make
previews of several protocols.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter, process_time
from typing import Any

from tests.serve.service_app import application
from ticdc_producer.serve.previews.preview import Preview
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.submission import PreviewRequest
from ticdc_producer.serve.tasks.child_messages import Result
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


def request_of(
    protocols: tuple[str, ...], *, verify: bool = False, change: str | None = None
) -> PreviewRequest:
    """Return the request of a preview."""
    return PreviewRequest(sql=statements(), protocols=protocols, partitions=3, verify=verify, change=change)


def preview_of(protocols: tuple[str, ...], *, verify: bool = False, change: str | None = None) -> Result:
    """Return a preview."""
    request = request_of(protocols, verify=verify, change=change)
    scenario = PostedScenario(file="scenario.sql", text=statements().encode())
    return Preview(request=request, scenario=scenario, settings=ServeSettings())(lambda _news: None)


def a_change() -> str:
    """Return one change, as the page compares it in all protocols."""
    content: Any = preview_of(SIX[:1]).content
    events = (event for message in content["previews"][0]["messages"] for event in message["events"])
    return next(str(event["change"]) for event in events if event.get("op") == "update")


def measured(protocols: tuple[str, ...], *, verify: bool, change: str | None) -> tuple[float, float]:
    """Return processor time and elapsed time of one preview, in milliseconds."""
    processor, elapsed = process_time(), perf_counter()
    assert preview_of(protocols, verify=verify, change=change).ok
    return 1000 * (process_time() - processor), 1000 * (perf_counter() - elapsed)


def print_service() -> None:
    """Print the elapsed times of requests to a service."""
    with application() as app:
        service = app.service
        service.preview(request_of(SIX))  # both processes start
        for protocols, change, text in (
            (SIX[:1], None, "messages"),
            (SIX, None, "messages"),
            (SIX, a_change(), "one change"),
        ):
            times = []
            for _ in range(3 * REPEATS):
                started = perf_counter()
                service.preview(request_of(protocols, change=change))
                times.append(1000 * (perf_counter() - started))
            print(f"{len(protocols):9}  {text:13}  {'':12}  {median(times[REPEATS:]):10.0f}", flush=True)


def main() -> None:
    """Print a line for each kind of preview."""
    print("protocols  of             processor ms  elapsed ms")
    for protocols in (SIX[:1], SIX):
        for verify, change, text in (
            (False, None, "messages"),
            (True, None, "and a verdict"),
            (False, a_change(), "one change"),
        ):
            times = [measured(protocols, verify=verify, change=change) for _ in range(REPEATS)][3:]
            processor, elapsed = (median(column) for column in zip(*times, strict=True))
            print(f"{len(protocols):9}  {text:13}  {processor:12.0f}  {elapsed:10.0f}", flush=True)
    print("by the service")
    print_service()


if __name__ == "__main__":
    main()
