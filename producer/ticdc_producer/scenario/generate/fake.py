"""Values of the faker library: a pool of them, made once on the driver, that rows draw from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from ticdc_producer.errors import ScenarioError, nearest

if TYPE_CHECKING:
    from faker import Generator

_OF_TODAY = frozenset({"date_time", "ssn", "passport", "profile"})
"""Parts of the library whose values depend on the day on which they are made."""
_ALSO_OF_TODAY = frozenset({"uuid1", "uuid7", "businesses_ogrn", "individuals_ogrn"})
_PLAIN = (str, int, float, Decimal, date, datetime)


class _TodayError(Exception):
    """A value was about to depend on the clock."""


@lru_cache(maxsize=256)
def fake_values(provider: str, locale: str, pool: int, seed: int) -> tuple[str, ...]:
    """So many values, as SQL would write them; the same for the same version of the library.

    :raises ScenarioError: for a locale or provider that there is not, and values that are no scalars or
        depend on today.
    """
    fake = _seeded(locale, seed)
    make = _provider(fake, provider, locale)
    found: list[str] = []
    for _ in range(pool):
        try:
            value = make()
        except _TodayError:
            raise _of_today(provider) from None
        except Exception as error:
            raise ScenarioError(f"faker's {provider} gives no value: {error}") from None
        if isinstance(value, bool) or not isinstance(value, _PLAIN):
            what = f"faker's {provider} gives a {type(value).__name__}, which is no value of a column"
            raise ScenarioError(what, hint="name a provider of texts or numbers")
        found.append(str(value))
    return tuple(found)


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


def _provider(fake: Generator, name: str, locale: str) -> Callable[[], Any]:
    from faker.providers import BaseProvider

    found: dict[str, Callable[[], Any]] = {}
    of_today: set[str] = set(_ALSO_OF_TODAY)
    for provider in fake.get_providers():
        part = type(provider).__module__.removeprefix("faker.providers.").partition(".")[0]
        for method, _ in inspect.getmembers(provider, inspect.ismethod):
            if method.startswith("_"):
                continue
            if part in _OF_TODAY and not hasattr(BaseProvider, method):
                of_today.add(method)
                setattr(fake, method, _refuse_today)  # other providers call it, too
            else:
                found[method] = getattr(provider, method)
    if name in of_today:
        raise _of_today(name)
    if name not in found:
        what = f"faker has no provider {name!r} in locale {locale}"
        raise ScenarioError(what, hint=nearest(name, found, listed="the documentation of faker"))
    return found[name]


def _refuse_today(*_args: object, **_kwargs: object) -> NoReturn:
    raise _TodayError


def _of_today(name: str) -> ScenarioError:
    what = f"faker's {name} depends on the day on which it is called"
    return ScenarioError(what, hint="columns of dates draw from min to max without it")
