"""How long ``ticdc-producer serve`` takes from the shell until it is ready, with its caches filled.

Prints when each part runs, and the CPU time of each process: on a machine with other work only the latter
says something. The first small run shows whether the process of runs has its modules; the second one is
verified as well.

    python -m benchmarks.service_start
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from statistics import median
from time import perf_counter

import psutil

from benchmarks.figures import Figure

_STARTS, _UNMEASURED = 3, 2
_SECONDS = 120
_COMMAND = [sys.executable, "-m", "ticdc_producer", "serve", "--port", "0"]


class Start:
    """One start of the service.

    :ivar stamps: seconds from the start of the command, by what has happened.
    :ivar cpu: CPU seconds of each process, by its kind: until the service is ready, and until the last run.
    """

    def __init__(self) -> None:
        self.stamps: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self._began = perf_counter()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        with subprocess.Popen(
            _COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        ) as service:
            try:
                self._measure(service)
            finally:
                service.terminate()

    def _stamp(self, name: str) -> None:
        self.stamps[name] = perf_counter() - self._began

    def _measure(self, service: subprocess.Popen[str]) -> None:
        assert service.stdout is not None
        assert service.stderr is not None
        url = service.stdout.readline().removeprefix("listening on ").strip()
        self._stamp("listening")
        for line in service.stderr:
            self._stamp(line.partition(" at ")[0].strip())
            if line == "ready\n":
                break
        threading.Thread(target=service.stderr.read, daemon=True).start()
        with urllib.request.urlopen(f"{url}/ready", timeout=_SECONDS) as answer:
            assert json.load(answer)["ready"], "the service is not ready"
        self.cpu = {f"{kind} until ready": seconds for kind, seconds in _cpu(service.pid)}
        for name, verified in (("first run", False), ("first verified run", True)):
            post_run(url, verified)
            self._stamp(name)
        self.cpu |= dict(_cpu(service.pid))


def post_run(url: str, verified: bool) -> None:
    """Let a service run a small scenario, and wait for the end."""
    body = json.dumps({"scenario": "seed_t1", "verify": verified}).encode()
    request = urllib.request.Request(
        f"{url}/v1/runs?wait={_SECONDS}", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        assert json.load(answer)["ok"], "the run has failed"


def _cpu(number: int) -> Iterator[tuple[str, float]]:
    """The kind and the CPU seconds of each process of the service."""
    service = psutil.Process(number)
    workers = 0.0
    for process in [service, *service.children(recursive=True)]:
        try:
            times, command = process.cpu_times(), process.cmdline()
        except psutil.NoSuchProcess:  # it has just ended
            continue
        seconds = times.user + times.system
        if process == service:
            yield "service", seconds
        elif "kafka.Kafka" in command and process.name() == "java":
            yield "Kafka", seconds
        elif process.name() == "java":
            yield "Spark", seconds
        else:
            workers += seconds
    yield "workers", workers


def figures() -> Iterator[Figure]:
    """The medians of some starts; the first ones fill the caches."""
    starts = [Start() for _ in range(_UNMEASURED + _STARTS)][_UNMEASURED:]
    for name in starts[0].stamps:
        seconds = [start.stamps[name] for start in starts]
        detail = ", ".join(f"{spent:.2f}" for spent in seconds)
        yield Figure(f"service-start/{name.replace(' ', '-')}", median(seconds), "s", detail)
    for kind in starts[0].cpu:
        cpu = median(start.cpu[kind] for start in starts)
        yield Figure(f"service-start-cpu/{kind.replace(' ', '-')}", cpu, "s of CPU")


def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f}")
    for figure in figures():
        print(f"{figure.name:<40} {figure.value:6.2f} {figure.unit:<8} {figure.detail}")


if __name__ == "__main__":
    main()
