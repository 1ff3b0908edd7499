"""How long ``ticdc-producer serve`` takes from the shell until it is ready, with its caches filled.

Prints when each part runs, and the CPU time of each process: on a machine with other work only the latter
says something. ``workers warm`` is the end of a first small run, which waits for the Python workers.

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

_STARTS, _UNMEASURED = 3, 1
_SECONDS = 120
_COMMAND = [sys.executable, "-m", "ticdc_producer", "serve", "--port", "0"]


class Start:
    """One start of the service.

    :ivar stamps: seconds from the start of the command, by what has happened.
    :ivar cpu: CPU seconds of each process when the first run has ended, by its kind.
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
        run = json.dumps({"scenario": "seed_t1"}).encode()
        request = urllib.request.Request(
            f"{url}/v1/runs?wait={_SECONDS}", run, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            assert json.load(answer)["ok"], "the run has failed"
        self._stamp("workers warm")
        self.cpu |= dict(_cpu(service.pid))


def _cpu(number: int) -> Iterator[tuple[str, float]]:
    """The kind and the CPU seconds of each process of the service."""
    service = psutil.Process(number)
    workers = 0.0
    for one in [service, *service.children(recursive=True)]:
        try:
            times, command = one.cpu_times(), one.cmdline()
        except psutil.NoSuchProcess:  # it has just ended
            continue
        seconds = times.user + times.system
        if one == service:
            yield "service", seconds
        elif "kafka.Kafka" in command and one.name() == "java":
            yield "Kafka", seconds
        elif one.name() == "java":
            yield "Spark", seconds
        else:
            workers += seconds
    yield "workers", workers


def main() -> None:
    """Start it some times, and print the medians."""
    starts = [Start() for _ in range(_UNMEASURED + _STARTS)][_UNMEASURED:]
    print(f"medians of {_STARTS} starts, load {os.getloadavg()[0]:.1f}")
    for name in starts[0].stamps:
        seconds = [one.stamps[name] for one in starts]
        print(f"{name:<22} {median(seconds):6.2f} s   ({', '.join(f'{one:.2f}' for one in seconds)})")
    for kind in starts[0].cpu:
        seconds = [one.cpu[kind] for one in starts]
        print(f"CPU of {kind:<22} {median(seconds):6.2f} s")


if __name__ == "__main__":
    main()
