"""The measured tables of ``docs/consumers.md``; ``python -m tests.peers.page`` writes them again.

Each table is between ``<!-- measured: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.docs.markdown import code, table
from tests.peers import golden_cases
from tests.peers.connect import CHANGES, Change, differences, kind_of
from tests.peers.flink import CANAL, DEBEZIUM, Form
from tests.peers.golden_cases import CANAL_FILES, DEBEZIUM_FILES, Case, canal_cases, debezium_cases
from tests.peers.limits import CANAL_CONSUMERS, CONNECT, DEBEZIUM_CONSUMERS, LIMITS, refusal
from tests.peers.software import Accepted, Answer, Refusal, Software, build, bytes_of

PAGE = Path(__file__).parents[2] / "docs" / "consumers.md"
CONSUMERS = (*CANAL_CONSUMERS, *DEBEZIUM_CONSUMERS)
_MARKED = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_Messages = Iterator[tuple[str, Case]]


class Measured:
    """Results of every golden message with every consumer of its protocol."""

    def __init__(self, software: Software) -> None:
        self.accepted: Counter[tuple[str, str]] = Counter()
        self.total: Counter[tuple[str, str]] = Counter()
        """Counts by variant and consumer."""
        self.rows_accepted: Counter[tuple[str, str]] = Counter()
        self.rows: Counter[tuple[str, str]] = Counter()
        """Counts by file and consumer, for the variants without options."""
        self.rejected: Counter[tuple[str, str]] = Counter()
        self.messages: dict[tuple[str, str], tuple[str, str]] = {}
        """Consumer and kind of refusal → file and event of the first one, and the error message."""
        self.changed: Counter[Change] = Counter()
        self.positions: dict[Change, str] = {}
        self._software = software
        for consumer in CANAL_CONSUMERS:
            self._measure(consumer, CANAL_FILES, canal_cases, CANAL)
        for consumer in DEBEZIUM_CONSUMERS:
            self._measure(consumer, DEBEZIUM_FILES, debezium_cases, DEBEZIUM)

    def _measure(
        self,
        consumer: str,
        files: list[tuple[Path, str]],
        cases: Callable[[Path, str], Iterator[Case]],
        form: Form,
    ) -> None:
        for path, variant in files:
            for case in cases(path, variant):
                if not case.golden.error:
                    key, value = case.golden.key, case.golden.value
                    declared = form.declared(case.columns)
                    answer = self._software.ask(consumer, key=key, value=value, columns=declared)
                    self._count(consumer, path.name.split(".")[0], variant, case, answer)

    def _count(self, consumer: str, stem: str, variant: str, case: Case, answer: Answer) -> None:
        accepted = isinstance(answer, Accepted)
        self.total[variant, consumer] += 1
        self.accepted[variant, consumer] += accepted
        if case.row and variant in (golden_cases.CANAL, golden_cases.DEBEZIUM):
            self.rows[stem, consumer] += 1
            self.rows_accepted[stem, consumer] += accepted
        position = f"{stem}.{variant}, event {case.golden.events[0]}"
        if isinstance(answer, Refusal):
            limit = refusal(consumer, case)
            assert limit, (position, answer)
            self.rejected[consumer, limit.what] += 1
            self.messages.setdefault((consumer, limit.what), (position, f"{answer.type}: {answer.message}"))
        elif consumer == CONNECT:
            self._count_changes(position, case, answer)

    def _count_changes(self, position: str, case: Case, answer: Accepted) -> None:
        sent, returned = json.loads(case.golden.value or b""), json.loads(bytes_of(answer.content["value"]))
        for change in {kind_of(difference) for difference in differences(sent, returned)}:
            assert change
            self.changed[change] += 1
            self.positions.setdefault(change, position)


def rows(measured: Measured) -> str:
    """Number of rows of each file that each consumer accepts."""
    stems = sorted({stem for stem, _ in measured.rows})
    lines = [
        [code(stem), *(_share(measured.rows_accepted, measured.rows, stem, name) for name in CONSUMERS)]
        for stem in stems
    ]
    sums = [
        f"{sum(measured.rows_accepted[stem, name] for stem in stems):,} of "
        f"{sum(measured.rows[stem, name] for stem in stems):,}"
        for name in CONSUMERS
    ]
    return table(["file", *map(code, CONSUMERS)], [*lines, ["all", *sums]])


def variants(measured: Measured) -> str:
    """Messages of each variant, DDLs and watermarks included."""
    names = sorted({variant for variant, _ in measured.total})
    return table(
        ["messages", *map(code, CONSUMERS)],
        [
            [code(name), *(_share(measured.accepted, measured.total, name, each) for each in CONSUMERS)]
            for name in names
        ],
    )


def _share(accepted: Counter[tuple[str, str]], total: Counter[tuple[str, str]], name: str, other: str) -> str:
    return f"{accepted[name, other]:,} of {total[name, other]:,}" if total[name, other] else ""


def refusals(measured: Measured) -> str:
    """The refused messages, with the error messages of the consumers."""
    head = ["consumer", "rejected", "messages", "first", "error message", "reason, and what helps"]
    return table(
        head,
        [
            [
                code(name),
                limit.what,
                f"{measured.rejected[name, limit.what]:,}",
                position,
                code(_short(messages)),
                limit.why,
            ]
            for limit in LIMITS
            for name in limit.consumers
            for position, messages in [measured.messages[name, limit.what]]
        ],
    )


def _short(messages: str) -> str:
    """Class and message without the package, the position in the text, and quoted text."""
    line = messages.splitlines()[0].replace("`", "'")
    kind, _, message = line.partition(": ")
    return f"{kind.rpartition('.')[2]}: {message if len(message) <= 80 else message[:79] + '…'}"


def changes(measured: Measured) -> str:
    """The known differences of Kafka Connect."""
    return table(
        ["what", "messages", "first", "reason"],
        [[each.what, f"{measured.changed[each]:,}", measured.positions[each], each.why] for each in CHANGES],
    )


TABLES = {"rows": rows, "variants": variants, "refusals": refusals, "changes": changes}


def regenerated(text: str, measured: Measured) -> str:
    return _MARKED.sub(lambda match: match[1] + "\n" + TABLES[match[2]](measured) + "\n" + match[3], text)


if __name__ == "__main__":
    build()
    with Software() as running:
        PAGE.write_text(regenerated(PAGE.read_text("utf-8"), Measured(running)), "utf-8")
