"""Charts as inline SVG, and their vertical axis."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator, StrMethodFormatter

from ticdc_producer.model import tso
from ticdc_producer.reports.timeline import Bucket, Mark

_UNITS = (
    ("days", 86_400_000),
    ("hours", 3_600_000),
    ("minutes", 60_000),
    ("seconds", 1000),
    ("milliseconds", 1),
)
_MIN_UNITS = 2
"""A unit is used if the time span is at least this number of it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A vertical axis that all partitions share.

    :param origin: TSO of the axis's 0; the smallest one.
    :param end: the largest TSO.
    :param unit: label of the unit, ``milliseconds`` to ``days``.
    :param milliseconds: length of one unit.
    """

    origin: int
    end: int
    unit: str
    milliseconds: int

    def of(self, ts: int) -> float:
        """Return a TSO in units since the origin."""
        return (ts - self.origin) / (self.milliseconds << tso.LOGICAL_BITS)


def scale(buckets: Iterable[Bucket]) -> Scale:
    """Return the axis that covers all rows and resolved events."""
    timestamps = [
        ts
        for bucket in buckets
        for ts in (bucket.lowest, bucket.highest, bucket.resolved and bucket.resolved[0])
        if ts is not None
    ]
    origin, end = min(timestamps, default=0), max(timestamps, default=0)
    span = tso.physical(end - origin)
    unit, milliseconds = next((unit for unit in _UNITS if span >= _MIN_UNITS * unit[1]), _UNITS[-1])
    return Scale(origin, end, unit, milliseconds)


_INCHES = (5.0, 2.5)
"""360 points wide, like a phone, so that text on a phone has its nominal size."""
_MAX_MARKERS = 60
"""Up to this number of buckets, each bucket gets a marker of its own."""
_ROLE = "role-"
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ticdc-producer",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 12,
    "path.simplify_threshold": 0.3,
}
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_STYLES: dict[str, dict[str, Any]] = {
    "rows": {"linewidth": 1.3, "markersize": 4, "zorder": 3},
    "resolved": {"linewidth": 3.5, "drawstyle": "steps-post", "zorder": 2},
    "ddl": {"linewidth": 1.2, "linestyle": (0, (4, 2))},
    "damaged": {"linestyle": "none", "marker": "s", "markersize": 6},
    "fault": {"linestyle": "none", "marker": "^", "markersize": 9},
    "error": {"linestyle": "none", "marker": "X", "markersize": 9},
    "warning": {"linestyle": "none", "marker": "D", "markersize": 7},
    "info": {"linestyle": "none", "marker": "o", "markersize": 6},
}
_FLOOR = 0.04
"""Height of marks that have no commit-ts, as a fraction of the chart."""


def partition_chart(
    buckets: Sequence[Bucket], marks: Sequence[Mark], scale: Scale, last: int, number: int = 0
) -> str:
    """Draw commit-ts against offset in one partition.

    :param number: number of the chart on the page, for the ids of the marks of findings.
    :param marks: positions of findings and faults.
    :param last: offset of the partition's last message.
    """
    with mpl.rc_context(_SETTINGS):
        figure, axes = _figure()
        _rows(axes, buckets, scale)
        _resolved(axes, buckets, scale, last)
        _ddls(axes, buckets)
        _damaged(axes, buckets)
        _marks(axes, marks, scale, number)
        low, high = scale.of(scale.origin), scale.of(scale.end)
        pad = (high - low) * 0.06 or 0.5
        axes.set_ylim(low - pad, high + pad)
        axes.set_title(f"commit-ts, in {scale.unit}", loc="left")
        axes.set_xlabel("offset")
        axes.xaxis.set_major_locator(MaxNLocator(3, integer=True))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        return _svg(figure)


def sizes_chart(sizes: Mapping[int, int]) -> str:
    """Draw the number of messages by size.

    :param sizes: exponent n → number of messages smaller than 2^n bytes and at least half of that.
    """
    with mpl.rc_context(_SETTINGS):
        figure, axes = _figure()
        powers = list(range(min(sizes, default=1), max(sizes, default=1) + 1))
        for bar in axes.bar(powers, [sizes.get(power, 0) for power in powers], width=0.85):
            bar.set_gid(f"{_ROLE}bar")
        ticks = powers[:: -(-len(powers) // 6)]
        axes.set_xticks(ticks, [f"< {_bytes(power)}" for power in ticks])
        axes.set_title("messages", loc="left")
        axes.set_xlabel("bytes of key and value")
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        return _svg(figure)


def symbol(role: str) -> str:
    """Draw the symbol of a role in the charts, for the legend."""
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(0.36, 0.2))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        if role == "ddl":
            _line(axes, role, [0.5, 0.5], [0, 1])
        elif _STYLES[role].get("marker"):
            _line(axes, role, [0.5], [0.5])
        else:
            _line(axes, role, [0, 1], [0.5, 0.5])
        return _svg(figure)


def _figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=_INCHES)
    axes = figure.add_axes((0.14, 0.2, 0.79, 0.66))
    axes.margins(x=0.02)
    return figure, axes


def _line(axes: Axes, role: str, x: Sequence[float], y: Sequence[float], **style: Any) -> None:
    axes.plot(x, y, **{"gid": f"{_ROLE}{role}", **_STYLES[role], **style})


def _rows(axes: Axes, buckets: Sequence[Bucket], scale: Scale) -> None:
    """Draw the largest commit-ts of each bucket as a line, and the range down to its smallest as a band."""
    points = [(bucket.first, scale.of(bucket.lowest), scale.of(bucket.highest)) for bucket in buckets
              if bucket.lowest is not None and bucket.highest is not None]  # fmt: skip
    if not points:
        return
    offsets, lowest, highest = (list(values) for values in zip(*points, strict=True))
    if lowest != highest:
        axes.fill_between(offsets, lowest, highest, gid=f"{_ROLE}band")
    _line(axes, "rows", offsets, highest, marker="o" if len(points) <= _MAX_MARKERS else "")


def _resolved(axes: Axes, buckets: Sequence[Bucket], scale: Scale, last: int) -> None:
    events = [bucket.resolved for bucket in buckets if bucket.resolved is not None]
    if events:
        steps = [(offset, scale.of(ts)) for ts, offset in events]
        steps.append((last, steps[-1][1]))
        _line(axes, "resolved", [x for x, _ in steps], [y for _, y in steps])


def _ddls(axes: Axes, buckets: Sequence[Bucket]) -> None:
    """Draw all DDLs as one path of vertical lines; NaN separates them."""
    offsets = [bucket.ddl_offset for bucket in buckets if bucket.ddl_offset is not None]
    x = [value for offset in offsets for value in (offset, offset, float("nan"))]
    _line(axes, "ddl", x, [0.0, 1.0, 0.0] * len(offsets), transform=axes.get_xaxis_transform())


def _damaged(axes: Axes, buckets: Sequence[Bucket]) -> None:
    offsets = [bucket.error_offset for bucket in buckets if bucket.error_offset is not None]
    _on_floor(axes, "damaged", offsets)


def _marks(axes: Axes, marks: Sequence[Mark], scale: Scale, number: int) -> None:
    """Draw the faults of a role as one element, and each finding as its own, because it has a link."""
    faults = [mark for mark in marks if mark.role == "fault"]
    timed = [(mark.offset, scale.of(mark.commit_ts)) for mark in faults if mark.commit_ts is not None]
    if timed:
        _line(axes, "fault", [x for x, _ in timed], [y for _, y in timed], clip_on=False, zorder=5)
    _on_floor(axes, "fault", [mark.offset for mark in faults if mark.commit_ts is None])
    for mark in marks:
        gid = f"{_ROLE}{mark.role}--{mark.id_in(number)}"
        if mark.role == "fault":
            continue
        if mark.commit_ts is None:
            _on_floor(axes, mark.role, [mark.offset], gid=gid)
        else:
            _line(
                axes, mark.role, [mark.offset], [scale.of(mark.commit_ts)], clip_on=False, zorder=5, gid=gid
            )


def _on_floor(axes: Axes, role: str, offsets: Sequence[int], **style: Any) -> None:
    if offsets:
        floor, transform = [_FLOOR] * len(offsets), axes.get_xaxis_transform()
        _line(axes, role, offsets, floor, transform=transform, zorder=5, **style)


def _bytes(power: int) -> str:
    """Format a power of two in bytes, KiB or MiB."""
    tens = min(power // 10, 2)
    return f"{1 << (power - 10 * tens):,}{('', 'K', 'M')[tens]}"


def _svg(figure: Figure) -> str:
    """Return the chart as an HTML element.

    Roles become classes. Ids of marks remain; others are removed, because a page has many charts.
    """
    for patch in (figure.patch, *(axes.patch for axes in figure.axes)):
        patch.set_visible(False)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata=_NO_METADATA)
    text = out.getvalue()
    text = re.sub(rf'id="{_ROLE}(\w+)"', r'class="\1"', text[text.index("<svg") :])
    text = re.sub(rf'id="{_ROLE}(\w+)--(at-[-\w]+)"', r'class="\1" id="\2"', text)
    # The page's style sheet does not apply inside a <use>d marker; without a style it inherits its colours.
    text = re.sub(r'(<path id="m[^>]*?) style="[^"]*"', r"\1", text, flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r' id="(?![mp][0-9a-f]{10}"|at-)[^"]*"', "", text)
    text = re.sub(r' xmlns(:xlink)?="[^"]*"', "", text)  # HTML does not need namespaces
    return re.sub(r"xlink:href", "href", re.sub(r"\s+", " ", text))
