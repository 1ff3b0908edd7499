"""The page in a real browser: each view, the keyboard, a phone, and hostile messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.browser import MISSING, Browser, browser
from tests.serve.service_page import served

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]

SQL = """CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20), price DECIMAL(8,2));
INSERT INTO orders VALUES (1, 'lamp', 19.90), (2, 'bench', 80);
UPDATE orders SET price = 75 WHERE id = 2;
DELETE FROM orders WHERE id = 1;
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a service without a Kafka."""
    with served() as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as session:
        yield session


@pytest.fixture
def page(chromium: Browser, url: str) -> Iterator[Browser]:
    """The page with the messages of ``SQL``; at the end it must have reported no errors."""
    chromium.resize(1400)
    chromium.open(url)
    chromium.until_text("#badge", "correct")
    chromium.type_text(SQL)
    chromium.until("return document.querySelector('.list')?.innerText.includes('bench')")
    chromium.until_text("#badge", "correct")
    yield chromium
    assert [error for error in chromium.errors() if "favicon" not in error] == []


def _select(page: Browser, kind: str) -> None:
    page.until(
        "const one = [...document.querySelectorAll('.message')].find((message) =>"
        "message.querySelector('.kind').innerText === arguments[0]); one?.click(); return one !== undefined",
        kind,
    )


def _choose_protocol(page: Browser, name: str) -> None:
    page.script(
        "const select = document.getElementById('protocol'); select.value = arguments[0];"
        "select.dispatchEvent(new Event('change'))",
        name,
    )


def test_a_message_beside_its_columns_and_its_statement(page: Browser) -> None:
    assert any(text.startswith("partition 0") for text in page.texts(".partition h3"))
    _select(page, "update")
    assert "UPDATE orders SET price = 75 WHERE id = 2" in page.text(".cause")
    changed = page.texts(".changed-before, .changed-after")
    assert changed == ["80.00", "75.00"]
    assert '"price":"75.00"' in page.text(".bytes-of .text")
    page.click(".cause .link")
    selected = page.editor("return content.getRootNode().getSelection().toString()")
    assert selected == "UPDATE orders SET price = 75 WHERE id = 2;"
    assert page.editor("return content.querySelector('.cause').textContent") == selected


@pytest.mark.parametrize(
    ("protocol", "kind", "item", "price"),
    [
        ("canal-json", "update", "bench", "75.00"),
        ("simple", "update", "bench", "75.00"),
        ("craft", "update", "bench", "75.00"),
        ("avro", "insert", "lamp", "19.90"),
    ],
)
def test_a_column_and_its_bytes_are_highlighted_together(
    page: Browser, protocol: str, kind: str, item: str, price: str
) -> None:
    if protocol != "canal-json":  # which is chosen at first
        before = page.script("return location.hash")
        _choose_protocol(page, protocol)
        page.until("return location.hash !== arguments[0]", before)
        page.until_text("#badge", "correct")
    _select(page, kind)
    cell, bytes_of_cell = '.value[data-span="0/after/item"]', '.range[data-span="0/after/item"]'
    for form in ("text", "hex"):
        written, other = (text.encode().hex(" ") if form == "hex" else text for text in (item, price))
        page.click(f'.bytes-of .bytes:last-of-type [data-form="{form}"]')
        page.hover(cell)
        lit = " ".join(page.texts(".bytes-of .lit:not(.ascii .lit)"))
        assert written in lit
        assert other not in lit
        page.hover(".event h4")
        assert page.texts(".lit") == []
        page.hover(bytes_of_cell)
        assert page.texts(".decoded .lit") == [item]
    page.script("document.querySelector(arguments[0]).focus()", '.value[data-span="0/after/price"]')
    assert page.texts(".decoded .lit") == [price]


def test_folded_json_keeps_the_digits_of_long_numbers(page: Browser) -> None:
    _select(page, "update")
    page.click('.bytes-of [data-form="folded"]')
    time = page.text(".event .mono").split()[0]
    assert len(time) > 16
    assert time in page.text(".tree")
    page.click('.bytes-of [data-form="hex"]')
    assert page.text(".hexdump .hex").startswith("7b 22 69 64 22")


def test_the_chosen_form_stays_for_the_next_message(page: Browser) -> None:
    _select(page, "update")
    page.click('.bytes-of .bytes:last-of-type [data-form="hex"]')
    _select(page, "delete")
    assert page.text('.bytes-of .bytes:last-of-type [aria-pressed="true"]') == "hex"
    page.click('.bytes-of .bytes:last-of-type [data-form="text"]')


def test_problems_are_at_their_line_and_the_stream_stays(page: Browser) -> None:
    page.type_text(SQL + "INSERT INTO orders VALUES ('x', 'y', 1);\n")
    assert "Incorrect integer value" in page.until_text("#problems", "line 5")
    numbers = "return [...content.getRootNode().querySelectorAll('.cm-gutterElement.problem')]"
    assert page.editor(f"{numbers}.map((element) => element.innerText)") == ["5"]
    assert "Incorrect integer" in page.editor("return content.querySelector('.cm-line.problem').title")
    assert page.texts(".message")
    assert page.editor("return content.ariaInvalid") == "true"


def test_other_views_of_the_stream_stay_while_the_text_has_problems(page: Browser) -> None:
    page.type_text(SQL + "INSERT INTO orders VALUES ('x', 'y', 1);\n")
    page.until_text("#problems", "line 5")
    page.click("#tab-verdict")
    page.until_text(".result", "keeps all guarantees")
    page.click("#tab-compare")
    page.until_text(".card", "offset")
    page.click("#tab-tables")
    page.until("return document.querySelectorAll('.state tbody tr').length === 1")


def test_one_change_in_all_protocols(page: Browser) -> None:
    _select(page, "update")
    page.click("#tab-compare")
    page.until("return document.querySelectorAll('.card .bytes').length >= 14")
    assert "UPDATE orders SET price = 75" in page.text(".view-compare .sql")
    cards = dict(zip(page.texts(".card h3"), page.texts(".card"), strict=True))
    assert {"canal-json", "open-protocol", "avro", "simple", "debezium", "craft", "maxwell"} <= set(cards)
    assert all("offset" in text for text in cards.values())


def test_the_history_of_a_row(page: Browser) -> None:
    _select(page, "update")
    page.click(".event .link")
    page.until("return document.querySelectorAll('.history li').length === 2")
    assert [text.split()[0] for text in page.texts(".history li")] == ["insert", "update"]


def test_a_click_in_the_timeline_opens_the_message(page: Browser) -> None:
    page.click("#tab-timeline")
    page.until("return document.querySelectorAll('.chart').length === 3")
    page.until(
        "const one = [...document.querySelectorAll('.mark')].find((mark) =>"
        "mark.getAttribute('aria-label').startsWith('delete'));"
        "one?.dispatchEvent(new MouseEvent('click', {bubbles: true})); return one !== undefined"
    )
    assert page.until_text(".event h4", "delete")
    page.click("#tab-timeline")
    count = "document.querySelectorAll('.mark').length"
    before = page.until(f"return {count}")
    page.click('[aria-label="Zoom in"]')
    page.until(f"return {count} < arguments[0]", before)
    page.click('[aria-label="Everything"]')
    page.until(f"return {count} === arguments[0]", before)


def test_the_tables_move_with_the_slider(page: Browser) -> None:
    page.click("#tab-tables")
    page.until("return document.querySelectorAll('.state tbody tr').length === 1")
    page.click('[aria-label="Earlier"]')
    page.until("return document.querySelectorAll('.state tbody tr').length === 2")
    assert "75.00" in page.text(".state")
    page.click('[aria-label="Earlier"]')
    page.until_text(".state", "80.00")


def test_the_last_of_many_times_is_displayed(page: Browser) -> None:
    page.click("#tab-tables")
    page.script(
        "for (const label of ['Earlier', 'Earlier', 'Earlier', 'Later'])"
        "document.querySelector(`[aria-label=${label}]`).click()"
    )
    page.until_text(".states[aria-busy=false] .state", "80.00")
    time = page.text(".time output").split()[0]
    page.type_text(SQL.replace("lamp", "torch"))
    page.until_text(".states[aria-busy=false] .state", "torch")
    assert page.text(".time output").split()[0] == time


def test_the_text_of_a_scenario_that_is_left_at_once_does_not_arrive(page: Browser) -> None:
    page.script(
        "for (const kind of ['scenario', 'sql']) document.querySelector(`[data-kind=${kind}]`).click()"
    )
    page.until_text("#badge", "correct")
    page.until("return document.querySelector('.list')?.innerText.includes('bench')")
    assert page.editor_text() == SQL
    assert page.editor("return content.ariaReadOnly") is None


def test_a_short_link_to_a_long_text_is_not_unpacked(page: Browser, url: str) -> None:
    script = (
        "const [done] = arguments;"
        "import('/page/permalink.js').then(async ({fragmentOf, stateOf}) =>"
        "done([await stateOf(await fragmentOf({sql: 'x'.repeat(9 << 20)})),"
        "(await stateOf(await fragmentOf({sql: 'x'.repeat(1 << 20)}))).sql.length]))"
    )
    assert page.command("execute/async", {"script": script, "args": []}) == [None, 1 << 20]


def test_the_findings_of_a_trap_lead_to_their_messages(page: Browser) -> None:
    page.click("#tab-verdict")
    page.click("#traps summary")
    page.click("#trap-early-resolved")
    page.until_text(".finding", "Usual cause")
    assert page.text("#badge") == "traps found"
    page.until(
        "const one = document.querySelector('.finding .example .link'); one?.click(); return one !== null"
    )
    page.until("return document.querySelector('.detail h3') !== null")


def test_a_link_has_the_scenario_and_the_options(page: Browser, url: str) -> None:
    _choose_protocol(page, "craft")
    page.until("return document.querySelector('.hexdump') !== null")
    before = page.script("return location.hash")
    _select(page, "delete")
    page.until("return location.hash !== arguments[0]", before)
    link = str(page.script("return location.href"))
    page.open(link)
    page.until("return document.querySelector('.hexdump') !== null")
    assert page.editor_text() == SQL
    assert "delete" in page.until_text(".event h4", "delete")
    page.open(f"{url}/#s=AAAA")
    page.until("return document.querySelector('.message') !== null")


def test_what_can_be_taken_away(page: Browser) -> None:
    page.click("#take")
    value = "return document.querySelector('dialog textarea').value"
    assert "ticdc-producer run scenario.sql --sink-uri 'kafka:///scenario?protocol=canal-json" in page.script(
        value
    )
    for name, part in (
        ("pytest", "@pytest.mark.ticdc("), ("JUnit 5", "TicdcTopic.ofSql(SCENARIO)"),
        ("Go", "ticdctest.Fill(t, ticdctest.Run{"), ("Node", "await fill(t, run)"), ("scenario.sql", SQL),
    ):  # fmt: skip
        page.click(f'[data-take="{name}"]')
        assert part in page.script(value)


def test_the_keyboard_reaches_messages_and_views(page: Browser) -> None:
    page.script("document.querySelector('.message[aria-selected=true]').focus()")
    before = page.script("return document.querySelector('.message[aria-selected=true]').dataset.position")
    page.keys("down")
    after = page.script("return document.activeElement.dataset.position")
    assert after != before
    assert after == page.script(
        "return document.querySelector('.message[aria-selected=true]').dataset.position"
    )
    page.script("document.getElementById('tab-messages').focus()")
    page.keys("right")
    assert page.script("return document.activeElement.id") == "tab-compare"


def test_the_keyboard_enters_and_leaves_the_editor(page: Browser) -> None:
    page.editor("content.focus()")
    focused = "return document.activeElement === document.querySelector('.highlighted')"
    assert page.script(focused)
    page.keys("tab")
    assert page.script("return document.activeElement.id") == "plain"
    assert page.editor_text() == SQL
    page.keys("shift", "tab")
    assert page.script(focused)
    page.keys("shift", "tab")
    assert page.script("return document.activeElement.closest('#source') !== null")


def test_what_assistive_technology_reads_of_the_editor(page: Browser) -> None:
    page.type_text(SQL + "INSERT INTO orders VALUES ('x', 'y', 1);\n")
    page.until_text("#problems", "line 5")
    nodes = page.devtools("Accessibility.getFullAXTree")["nodes"]
    (box,) = [node for node in nodes if node.get("role", {}).get("value") == "textbox" and "name" in node
              and node["name"]["value"] == "Scenario"]  # fmt: skip
    properties = {entry["name"]: entry["value"]["value"] for entry in box["properties"]}
    assert properties["multiline"]
    assert properties["invalid"] == "true"
    assert "Incorrect integer value" in box["description"]["value"]


def test_sql_and_yaml_have_colours(page: Browser) -> None:
    colours = (
        "return Object.fromEntries([...content.querySelectorAll('.cm-line span')]"
        ".map((span) => [span.textContent, getComputedStyle(span).color]))"
    )
    sql = page.editor(colours)
    assert len({sql["CREATE"], sql["'lamp'"], sql["19.90"]}) == 3
    page.click("[data-kind=yaml]")
    page.until_text("#badge", "correct")
    assert page.editor(colours)["version"] != page.editor("return getComputedStyle(content).color")


def test_plain_text_is_a_textarea_and_stays_chosen(page: Browser, url: str) -> None:
    page.click("#plain")
    area = "const area = document.getElementById('text');"
    assert page.script(f"{area} return area.value") == SQL
    page.open(url)
    page.until("return document.querySelector('.message') !== null")
    page.script(
        f"{area} area.value = arguments[0]; area.dispatchEvent(new Event('input', {{bubbles: true}}))",
        SQL + "INSERT INTO orders VALUES ('x', 'y', 1);\n",
    )
    page.until_text("#problems", "line 5")
    assert page.texts('.gutter [data-mark="problem"]') == ["5"]
    assert page.script(f"{area} return area.getAttribute('aria-invalid')") == "true"
    loaded = "return performance.getEntriesByType('resource').some(({name}) => /codemirror/.test(name))"
    assert not page.script(loaded), "who wants plain text does not load the editor"
    page.click("#plain")
    assert "VALUES ('x', 'y', 1)" in page.editor_text()
    assert page.script(loaded)


TABS = "return [...document.querySelectorAll('#tabs button')].map((tab) => [tab.offsetLeft, tab.offsetWidth])"


_OBSERVE_SHIFTS = """
window.shifts = []
const nameOf = (node) => (node.nodeType === 1 ? node : node.parentElement).outerHTML.slice(0, 80)
// The lines of the editor have no node here: they are in a shadow tree, and who types moves them.
const record = (list) => list.getEntries().forEach(({sources}) => window.shifts.push(
  ...sources.filter(({node}) => node !== null).map(({node}) => nameOf(node))))
new PerformanceObserver(record).observe({type: 'layout-shift', buffered: true})
"""
_SHIFTS = """
const [done] = arguments
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(window.shifts))))
"""


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_moves_while_the_page_loads_and_while_one_types(
    chromium: Browser, url: str, width: int
) -> None:
    """Chromium reports each visible element that a change of others moved (https://wicg.github.io/layout-instability)."""
    chromium.resize(width)
    chromium.open(url)
    chromium.script(_OBSERVE_SHIFTS)
    chromium.until_text("#badge", "correct")
    chromium.type_text(SQL)
    chromium.until_text(".list", "bench")
    chromium.until_text("#badge", "correct")
    chromium.type_text(SQL + "INSERT INTO orders VALUES ('x', 'y', 1);\n")
    chromium.until_text("#problems", "line 5")
    chromium.type_text(SQL)
    chromium.until("return document.querySelector('#problems').innerText === ''")
    chromium.until_text("#badge", "correct")
    for view in ("compare", "history", "timeline", "tables", "verdict", "messages"):
        chromium.click(f"#tab-{view}")
        chromium.until("return document.getElementById('views').childElementCount > 0")
    assert chromium.command("execute/async", {"script": _SHIFTS, "args": []}) == []


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(page: Browser, width: int, scheme: str) -> None:
    page.resize(width)
    page.prefer(scheme)
    tabs = page.script(TABS)
    assert page.script("const {tabs} = window; return tabs.scrollWidth <= tabs.clientWidth")
    for view in ("messages", "compare", "history", "timeline", "tables", "verdict"):
        page.click(f"#tab-{view}")
        page.until("return document.getElementById('views').childElementCount > 0")
        assert page.script("return document.documentElement.scrollWidth") <= width, view
        assert page.script(TABS) == tabs, "the tabs do not move"
    background = page.script("return getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, background.removeprefix("rgb(").rstrip(")").split(","))) > 380
    assert light == (scheme == "light")


HOSTILE = {
    "a script": ("<script>window.ran = 1</script>", "<script>window.ran = 1</script>"),
    "an image": ("<img src=x onerror='window.ran = 1'>", "<img src=x onerror='window.ran = 1'>"),
    "an end of an element": ("</textarea></pre><svg onload='window.ran=1'>", "</textarea></pre><svg onload="),
    "a template": ("${window.ran = 1} {{window.ran = 1}}", "${window.ran = 1} {{window.ran = 1}}"),
    "a link": (
        "<a href='javascript:window.ran = 1'>link</a>",
        "<a href='javascript:window.ran = 1'>link</a>",
    ),
    "a direction": ("\u202egpj.exe \u2066x\u2069", "\\u202Egpj.exe \\u2066x\\u2069"),
    "invisible characters": ("a\u200b\u00ad\ufeffb", "a\\u200B\\xAD\\uFEFFb"),
    "control characters": ("\x01\x08\x1b[31m", "\\x01\\x08\\x1B[31m"),
    "line separators": ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
}
"""Texts in a message, and what the page shows of them."""


@pytest.mark.parametrize(("text", "displayed"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_displayed_and_does_nothing(page: Browser, text: str, displayed: str) -> None:
    table = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200))"
    page.type_text(f"{table};\nINSERT INTO t VALUES (1, 0x{text.encode().hex()});\n")
    page.until_text(".list", "test.t id=1")
    _select(page, "insert")
    assert displayed in page.text(".decoded")
    for view in ("compare", "history", "timeline", "tables", "verdict", "messages"):
        page.click(f"#tab-{view}")
        page.until("return document.getElementById('views').childElementCount > 0")
    assert page.script("return window.ran === undefined")
    assert page.script("return document.querySelector('#views script, #views img, #views a') === null")


def test_a_hostile_scenario_name_and_link_do_nothing(page: Browser, url: str) -> None:
    state = {
        "scenario": "<img src=x onerror=window.ran=1>",
        "protocol": "<b>",
        "view": "<b>",
        "options": {"__proto__": 1},
    }
    script = (
        "const [state, done] = arguments;"
        "import('/page/permalink.js').then((module) => module.fragmentOf(state)).then(done)"
    )
    fragment = page.command("execute/async", {"script": script, "args": [state]})
    page.open(f"{url}/#{fragment}")
    page.until_text("#problems", "there is no such scenario")
    assert page.script("return window.ran === undefined && document.querySelector('img') === null")
    page.errors()  # of the request for the scenario, which the service refuses


def test_a_large_text_does_not_stall_the_page(page: Browser) -> None:
    page.type_text(
        "CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT);\n"
        "INSERT INTO t VALUES (1, REPEAT('{\"a\":[', 300000));\n"
    )
    page.until_text(".list", "test.t id=1")
    _select(page, "insert")
    assert "the first 65536 are shown" in page.until_text(".bytes-of", "are shown")
    assert len(page.text(".decoded")) < 5000
