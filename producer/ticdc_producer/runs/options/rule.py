"""A combination of options that is rejected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from ticdc_producer.errors import ArgumentError, ChangefeedError, ProducerError

STORAGE, BROKER, EMBEDDED, PULSAR = "a storage sink", "a broker", "an embedded broker", "a Pulsar sink"
"""The kinds of sinks."""
GOLDEN, SCENARIO, RECORDING = "a golden folder", "a scenario", "a recording"


@dataclass(frozen=True)
class OptionRule:
    """A combination that is rejected.

    :param given: what is given: options, and the kind of the sink or the source.
    :param absent: options of which none is given.
    :param parameter: the key of the changefeed that the error is about; empty: it is about options.
    :param argument: the option that the error is about; empty: the first one that it has in backticks.
    """

    what: str
    given: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    hint: str = ""
    parameter: str = ""
    argument: str = ""

    def error(self) -> ProducerError:
        """Return the error, which speaks Python."""
        names = re.findall(r"`(\w+)`", f"{self.what} {self.hint}")
        if self.parameter:
            return ChangefeedError(self.what, parameter=self.parameter, hint=self.hint).about(*names)
        argument = self.argument or names[0]
        return ArgumentError(self.what, argument=argument, hint=self.hint).about(*names)


def apart(
    options: Iterable[str], others: Iterable[str], hint: str = "", key: str = ""
) -> Iterator[OptionRule]:
    """Yield the rules that no option is combined with one of the others."""
    for option, other in product(options, others):
        name = other if other in (STORAGE, PULSAR, GOLDEN, SCENARIO) else f"`{other}`"
        yield OptionRule(f"`{option}` cannot be combined with {name}", (option, other), (), hint, key)


def requires(options: Iterable[str], other: str, hint: str = "", key: str = "") -> Iterator[OptionRule]:
    """Yield the rules that each option requires another one."""
    for option in options:
        yield OptionRule(f"`{option}` requires `{other}`", (option,), (other,), hint, key)


def check_rules(rules: Iterable[OptionRule], given: set[str]) -> None:
    """Reject a combination.

    :param given: the options that are given, and what else the rules name.
    :raises ProducerError: for the first rule that it breaks.
    """
    for rule in rules:
        if given.issuperset(rule.given) and given.isdisjoint(rule.absent):
            raise rule.error()
