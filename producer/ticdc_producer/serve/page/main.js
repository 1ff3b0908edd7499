// The page: it sends the scenario while it is typed, and shows what the service answers.

import { RequestError, json, request, setToken } from './api.js'
import { renderCompare, renderHistory } from './compare.js'
import { byId, h, replace, shown } from './dom.js'
import { Editor } from './editor.js'
import { renderMessages, samePosition } from './messages.js'
import { fragmentOf, stateOf } from './permalink.js'
import { renderSettings, renderSource } from './settings.js'
import { renderTables } from './tables.js'
import { openTakeAway } from './takeaway.js'
import { chartsOf, renderTimeline } from './timeline.js'
import { renderVerdict } from './verdict.js'

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Answer} Answer */
/** @typedef {import('./types.js').Preview} Preview */
/** @typedef {import('./types.js').Position} Position */

const EXAMPLE = `CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20), price DECIMAL(8,2));
INSERT INTO orders VALUES (1, 'lamp', 19.90), (2, 'chair', 80.00), (3, 'desk', NULL);
UPDATE orders SET price = 75.00 WHERE id = 2;
UPDATE orders SET id = 4 WHERE id = 1;
DELETE FROM orders WHERE id = 3;
ALTER TABLE orders ADD COLUMN note TEXT;
INSERT INTO orders VALUES (5, 'sofa', 420.00, 'grey');
`
const VIEWS = [['messages', 'Messages'], ['compare', 'Protocols'], ['history', 'Row'], ['timeline', 'Timeline'], ['tables', 'Tables'], ['verdict', 'Verdict']]
const TYPING_MS = 150

/** @type {State} */
const state = {
  sql: EXAMPLE, protocol: 'canal-json', partitions: 3, dispatch: 'index-value',
  options: { 'canal-json': { 'enable-tidb-extension': 'true' } }, traps: [], view: 'messages', at: '', selected: null,
}
/** @type {import('./types.js').Choices} */
let choices = { protocols: [], dispatch: [], traps: [], invariants: {} }
/** @type {any} */
let schema = null
/** @type {{name: string, source: string, description: string}[]} */
let scenarios = []
/** @type {Answer | null} */
let answer = null
/** The state for which `answer` is the answer: other views of the same stream ask for it, whatever is typed. */
let answered = structuredClone(state)
/** @type {Preview | null} */
let verified = null
/** @type {Preview[] | null} */
let compared = null
/** @type {Map<string, Record<string, import('./types.js').Image[]>>} */
let tables = new Map()
let change = ''
let row = ''
let withResolved = true
let controller = new AbortController()
let timer = 0
/** Texts of the kinds of scenario that are not chosen now. @type {Record<string, string>} */
const drafts = { sql: EXAMPLE, yaml: 'version: 1\nsteps:\n  - sql: |\n      CREATE TABLE t (id INT PRIMARY KEY, v INT);\n      INSERT INTO t VALUES (1, 10);\n' }

const editor = new Editor(byId('editor'), () => {
  const kind = state.yaml === undefined ? 'sql' : 'yaml'
  state[kind] = editor.text
  drafts[kind] = editor.text
  schedule(TYPING_MS)
})

/** @param {number} delay */
function schedule(delay) {
  window.clearTimeout(timer)
  timer = window.setTimeout(refresh, delay)
}

/** @param {State} of */
function source(of) {
  if (of.scenario !== undefined) return { scenario: of.scenario }
  return of.yaml !== undefined ? { yaml: of.yaml } : { sql: of.sql ?? '' }
}

/** @param {State} of @param {string[]} protocols @param {Record<string, unknown>} [more] */
function body(of, protocols, more = {}) {
  const options = Object.fromEntries(protocols.filter((name) => of.options[name]).map((name) => [name, of.options[name]]))
  return { ...source(of), protocols, options, partitions: of.partitions, ...(of.dispatch && { dispatch: of.dispatch }), traps: of.traps, ...more }
}

async function refresh() {
  controller.abort()
  controller = new AbortController()
  const { signal } = controller
  const now = structuredClone(state)
  status('…')
  try {
    const next = /** @type {Answer} */ (await json('/v1/previews', body(now, [now.protocol]), { signal }))
    if (next.problems !== undefined) {
      problems(next.problems.map((problem) => ({ ...problem, line: problem.line ?? 0 })))
      status('the scenario has problems; the stream is that of the last text without any')
      await resume(signal)
      return
    }
    const [preview] = next.previews
    if (preview.error) {
      problems([{ line: lineOf(preview.error.where), what: preview.error.what, excerpt: '', hint: preview.error.hint }])
      status('the changefeed has an error')
      await resume(signal)
      return
    }
    answer = next
    answered = now
    verified = null
    compared = null
    tables = new Map()
    problems([])
    status(`${preview.total} messages in ${Math.round(next.seconds * 1000)} ms`)
    badge(null)
    render()
    link()
    await verify(signal)
  } catch (error) {
    failed(error)
  }
}

/**
 * Let the views of the last good text load again what this request has aborted.
 * @param {AbortSignal} signal
 */
async function resume(signal) {
  if (answer === null) return
  render()
  if (verified === null) await verify(signal)
}

/** @param {AbortSignal} signal */
async function verify(signal) {
  const next = /** @type {Answer} */ (await json('/v1/previews', body(answered, [answered.protocol], { verify: true }), { signal }))
  verified = next.previews?.[0]?.verdict ? next.previews[0] : null
  badge(verified)
  if (['verdict', 'timeline', 'messages'].includes(state.view)) render()
}

/** @param {unknown} error */
function failed(error) {
  if (error instanceof DOMException && error.name === 'AbortError') return
  if (error instanceof RequestError) {
    if (error.status === 401) { askForToken(); return }
    problems([{ line: lineOf(error.error.where), what: error.message, excerpt: '', hint: error.error.hint }])
    status(error.status === 429 ? 'the service is busy' : 'the service refuses this')
    return
  }
  status(error instanceof TypeError ? 'the service does not answer: is ticdc-producer serve running?' : String(error))
}

/** @param {string} where */
function lineOf(where) {
  return Number(/:(\d+)$/.exec(where)?.[1] ?? 0)
}

/** @param {string} text */
function status(text) {
  byId('status').textContent = text
}

/** @param {Preview | null} preview */
function badge(preview) {
  const element = byId('badge')
  const correct = preview?.verdict?.ok ?? false
  element.dataset.state = preview === null ? 'none' : correct ? 'ok' : 'bad'
  element.textContent = preview === null ? 'not verified' : correct ? 'correct' : preview.ok ? 'traps found' : 'not correct'
}

/** @param {{line: number, what: string, excerpt: string, hint: string}[]} list */
function problems(list) {
  editor.mark(new Map(list.filter(({ line }) => line > 0).map(({ line, what }) => [line, { kind: 'problem', text: what }])))
  editor.area.setAttribute('aria-invalid', String(list.length > 0))
  replace(byId('problems'), list.slice(0, 20).map(({ line, what, excerpt, hint }) => h('li', {},
    line > 0 && h('button', { type: 'button', class: 'link', onclick: () => editor.goTo(line) }, `line ${line}`), line > 0 && ': ',
    shown(excerpt ? `${what}, in ${excerpt}` : what), hint !== '' && h('span', { class: 'null' }, ' ', shown(hint)))))
}

/** @param {number} line */
function statement(line) {
  return answer?.statements.find((one) => one.line === line)?.text ?? ''
}

/** @param {number} line */
function goToLine(line) {
  editor.mark(new Map([[line, { kind: 'cause', text: 'the statement of the message' }]]))
  editor.goTo(line)
}

/** @param {Position} position */
function open(position) {
  state.selected = { topic: position.topic, partition: position.partition, offset: position.offset }
  setView('messages')
}

/** @param {string} view */
function setView(view) {
  state.view = view
  renderTabs()
  render()
  link()
}

function renderTabs() {
  const tabs = byId('tabs')
  if (!tabs.childElementCount) {
    replace(tabs, VIEWS.map(([name, title]) => h('button', {
      type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'views', onclick: () => setView(name),
    }, title)))
    tabs.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
      if (step === undefined) return
      const now = VIEWS.findIndex(([name]) => name === state.view)
      const [next] = VIEWS[(now + step + VIEWS.length) % VIEWS.length]
      setView(next)
      byId(`tab-${next}`).focus()
    })
  }
  for (const [name] of VIEWS) {
    const tab = byId(`tab-${name}`)
    tab.setAttribute('aria-selected', String(name === state.view))
    tab.tabIndex = name === state.view ? 0 : -1
  }
  const views = byId('views')
  views.setAttribute('role', 'tabpanel')
  views.setAttribute('aria-labelledby', `tab-${state.view}`)
}

function marks() {
  const preview = verified ?? answer?.previews[0]
  const faults = (preview?.faults ?? []).map((fault) => ({ topic: fault.topic, partition: fault.partition, offset: fault.offset, label: `fault ${fault.trap}`, kind: 'fault' }))
  const findings = (verified?.verdict?.findings ?? []).flatMap((finding) => finding.examples.flatMap((example) => example.events.map((event) => ({
    topic: event.topic, partition: event.partition, offset: event.offset, label: `${finding.severity} ${finding.id}`, kind: 'finding',
  }))))
  return [...faults, ...findings]
}

/** @type {string} */
let rendered = ''

function render() {
  const view = byId('views')
  if (rendered !== state.view) {
    view.replaceChildren()
    view.className = `view-${state.view}`
    rendered = state.view
  }
  const preview = answer?.previews[0]
  if (preview === undefined) return
  const { messages } = preview
  switch (state.view) {
    case 'compare': void compare(view); break
    case 'history':
      renderHistory(view, { messages, row, statement, onRow: (next) => { row = next; render() }, onOpen: open })
      break
    case 'timeline': renderTimeline(view, { charts: chartsOf(messages), marks: marks(), onOpen: open }); break
    case 'tables': void showTables(view, preview); break
    case 'verdict':
      renderVerdict(view, {
        verdict: verified?.verdict ?? null, ok: verified?.ok ?? null, invariants: choices.invariants, notInjected: preview.not_injected, warnings: preview.warnings, onOpen: open,
      })
      break
    default:
      renderMessages(view, {
        messages: withResolved ? messages : messages.filter(({ events }) => !events.length || events.some(({ kind }) => kind !== 'resolved')),
        withResolved, onResolved: (show) => { withResolved = show; render() },
        total: preview.total, left: preview.total - messages.length, selected: state.selected,
        marked: new Set(marks().map(({ topic, partition, offset }) => `${topic}/${partition}/${offset}`)),
        onSelect: (message) => { state.selected = { topic: message.topic, partition: message.partition, offset: message.offset }; render(); link() },
        actions: { statement, onLine: goToLine, onRow: (next) => { row = next; setView('history') } },
      })
  }
}

/** @param {HTMLElement} view */
async function compare(view) {
  if (compared === null) {
    if (!view.childElementCount) replace(view, h('p', { class: 'null' }, 'encoding the changes in all protocols …'))
    const of = answered
    try {
      const next = /** @type {Answer} */ (await json('/v1/previews', body(of, choices.protocols.map(({ name }) => name)), { signal: controller.signal }))
      if (next.problems !== undefined || of !== answered) return
      compared = next.previews
    } catch (error) {
      failed(error)
      return
    }
  }
  if (state.view !== 'compare') return
  renderCompare(view, {
    previews: compared, change: change || selectedChange(), statement,
    onChange: (next) => { change = next; render() },
    onOpen: (message) => {
      const protocol = compared?.find((preview) => preview.messages?.includes(message))?.protocol
      state.selected = { topic: message.topic, partition: message.partition, offset: message.offset }
      if (protocol !== undefined && protocol !== state.protocol) set({ protocol })
      setView('messages')
    },
  })
}

function selectedChange() {
  const message = answer?.previews[0].messages.find((one) => samePosition(one, state.selected))
  return message?.events.find((event) => event.change !== undefined)?.change ?? ''
}

/** Whether rows are on their way: one request at a time, so that a slider does not fill the service's queue. */
let fetching = false

/** @param {HTMLElement} view @param {Preview} preview */
async function showTables(view, preview) {
  const times = preview.times.map(String)
  if (state.at !== '' && !times.includes(state.at)) state.at = ''
  const at = state.at === '' ? times[times.length - 1] : state.at
  const before = times[times.indexOf(at) - 1]
  renderTables(view, {
    times: preview.times, resolved: preview.resolved, at: state.at, onTime: (ts) => { state.at = ts; render(); link() },
    tables: tables.get(at) ?? null, before: tables.get(before) ?? null,
  })
  const missing = [at, before].find((ts) => ts !== undefined && !tables.has(ts))
  if (missing === undefined || fetching) return
  fetching = true
  const of = answered
  try {
    const next = /** @type {Answer} */ (await json('/v1/previews', body(of, [of.protocol], { state_at: missing }), { signal: controller.signal }))
    const rows = next.previews?.[0]?.tables
    if (rows === undefined) return
    if (of === answered) tables.set(missing, rows)
  } catch (error) {
    failed(error)
    if (of === answered) return
  } finally {
    fetching = false
  }
  if (state.view === 'tables') render()  // the time may be another one by now
}

/** @param {Partial<State>} part */
function set(part) {
  Object.assign(state, part)
  settings()
  schedule(0)
}

function settings() {
  const focused = document.activeElement?.id
  renderSettings(byId('settings'), { choices, schema, state, onChange: set })
  if (focused) document.getElementById(focused)?.focus()
  renderSource(byId('source'), {
    scenarios, state, onKind: (kind) => { state.selected = null; void setKind(kind) },
    onScenario: (name) => { state.selected = null; void setScenario(name) },
  })
}

/** @param {string} kind */
async function setKind(kind) {
  if (kind === 'scenario') { await setScenario(state.scenario ?? scenarios.find(({ name }) => name === 'seed_t1')?.name ?? scenarios[0]?.name ?? ''); return }
  delete state.scenario
  delete state[kind === 'sql' ? 'yaml' : 'sql']
  state[/** @type {"sql" | "yaml"} */ (kind)] = drafts[kind]
  editor.setText(drafts[kind], false)
  set({})
}

/** @param {string} name */
async function setScenario(name) {
  state.scenario = name
  delete state.sql
  delete state.yaml
  try {
    const text = await (await request(`/v1/scenarios/${encodeURIComponent(name)}`)).text()
    if (state.scenario !== name) return  // another one has been chosen, or none
    editor.setText(text, true)
    drafts.yaml = text
  } catch (error) {
    if (state.scenario !== name) return
    failed(error)
  }
  set({})
}

let links = 0

async function link() {
  const number = ++links
  const fragment = await fragmentOf(state)
  if (number === links) history.replaceState(null, '', `#${fragment}`)
}

function askForToken() {
  const input = h('input', { type: 'password', id: 'token', autocomplete: 'off', required: true })
  const form = h('form', { class: 'token' }, h('h3', {}, 'This service requires its token'),
    h('p', { class: 'null' }, 'It is the value of TICDC_PRODUCER_TOKEN where the service was started. This page does not store it.'),
    h('label', { for: 'token' }, 'Token'), input, h('button', { type: 'submit', class: 'primary' }, 'Continue'))
  form.addEventListener('submit', (event) => { event.preventDefault(); setToken(input.value); void start() })
  replace(byId('views'), form)
  rendered = ''
  input.focus()
}

async function start() {
  try {
    const [found, listed, api] = await Promise.all([json('/v1/choices'), json('/v1/scenarios'), json('/openapi.json')])
    choices = found
    scenarios = listed
    schema = api.components?.schemas?.PreviewRequest ?? null
  } catch (error) {
    failed(error)
    return
  }
  await restore(location.hash)
}

/** @param {string} hash */
async function restore(hash) {
  if (!choices.protocols.length) return  // `start` does it when it has them
  const linked = await stateOf(hash)
  if (linked !== null) {
    const { sql, yaml, scenario, ...others } = linked
    Object.assign(state, others)
    if (!choices.protocols.some(({ name }) => name === state.protocol)) state.protocol = 'canal-json'
    if (!VIEWS.some(([name]) => name === state.view)) state.view = 'messages'
    renderTabs()
    if (scenario !== undefined) { await setScenario(scenario); return }
    const kind = yaml === undefined ? 'sql' : 'yaml'
    drafts[kind] = yaml ?? sql ?? ''
    await setKind(kind)
    return
  }
  editor.setText(state.sql ?? '', false)
  settings()
  schedule(0)
}

byId('take').addEventListener('click', () => openTakeAway(state, editor.text, async () => `${location.origin}/#${await fragmentOf(state)}`))
window.addEventListener('hashchange', () => void restore(location.hash))
let width = window.innerWidth
window.addEventListener('resize', () => {
  if (window.innerWidth !== width && state.view === 'timeline') render()
  width = window.innerWidth
})
renderTabs()
void start()
