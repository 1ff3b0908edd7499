"""Pools of values of the faker library, computed once on the driver; rows draw from them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest

if TYPE_CHECKING:
    from faker import Generator

_CLOCK_DEPENDENT = frozenset({"date_time", "ssn", "passport", "profile"})
"""Parts of the library whose values depend on the current day."""
_CLOCK_DEPENDENT_METHODS = frozenset({"uuid1", "uuid7", "businesses_ogrn", "individuals_ogrn"})
_PLAIN = (str, int, float, Decimal, date, datetime)


class _ClockDependentError(Exception):
    """A value was about to depend on the clock."""


@lru_cache(maxsize=256)
def fake_values(provider: str, locale: str, pool: int, seed: int) -> tuple[str, ...]:
    """Return ``pool`` values as SQL literals; they depend on the version of the library.

    :raises ScenarioError: for an unknown locale or provider, and for values that are not scalars or depend
        on the current day.
    """
    fake = _seeded(locale, seed)
    make = _provider(fake, provider, locale)
    texts: list[str] = []
    for _ in range(pool):
        try:
            value = make()
        except _ClockDependentError:
            raise _clock_dependent_error(provider) from None
        except Exception as error:
            raise ScenarioError(f"faker's {provider} gives no value: {error}") from None
        if isinstance(value, bool) or not isinstance(value, _PLAIN):
            what = f"faker's {provider} gives a {type(value).__name__}, which is not a value of a column"
            raise ScenarioError(what, hint="use a provider of texts or numbers")
        texts.append(str(value))
    return tuple(texts)


def _seeded(locale: str, seed: int) -> Generator:
    from faker import Factory  # slow to import, and few scenarios need it

    try:
        fake = Factory.create(locale)
    except AttributeError:
        from faker.config import AVAILABLE_LOCALES

        hint = nearest(locale, sorted(AVAILABLE_LOCALES)) or "such as en_US, de_DE, ja_JP"
        raise ScenarioError(f"faker has no locale {locale!r}", hint=hint) from None
    fake.seed_instance(seed)
    return fake


def _provider(fake: Generator, name: str, locale: str) -> Callable[[], object]:
    from faker.providers import BaseProvider

    methods: dict[str, Callable[[], object]] = {}
    clock_dependent: set[str] = set(_CLOCK_DEPENDENT_METHODS)
    for provider in fake.get_providers():
        part = type(provider).__module__.removeprefix("faker.providers.").partition(".")[0]
        for method, _ in inspect.getmembers(provider, inspect.ismethod):
            if method.startswith("_"):
                continue
            if part in _CLOCK_DEPENDENT and not hasattr(BaseProvider, method):
                clock_dependent.add(method)
                setattr(fake, method, _refuse_clock)  # other providers call it
            else:
                methods[method] = getattr(provider, method)
    if name in clock_dependent:
        raise _clock_dependent_error(name)
    if name not in methods:
        what = f"faker has no provider {name!r} in locale {locale}"
        raise ScenarioError(what, hint=nearest(name, methods, listed="the documentation of faker"))
    return methods[name]


def _refuse_clock(*_args: object, **_kwargs: object) -> NoReturn:
    raise _ClockDependentError


def _clock_dependent_error(name: str) -> ScenarioError:
    what = f"faker's {name} depends on the day on which it is called"
    return ScenarioError(what, hint="date columns with min and max need no faker")
