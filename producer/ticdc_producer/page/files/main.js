// The page: it sends the scenario while it is typed, and shows what the service answers.

import { RequestError, json, request, setToken } from './api.js'
import { openStreams } from './attach.js'
import { changesOf, renderCompare } from './compare.js'
import { byId, h, replace, shown } from './dom.js'
import { Editor } from './editor.js'
import { fragmentOf, stateOf } from './permalink.js'
import { languageOf, scenarioKind, scenarioSource } from './scenario.js'
import { renderSettings, renderSource } from './settings.js'
import { MemoryStream, samePosition } from './stream.js'
import { openTakeAway } from './takeaway.js'
import { showBadge, VIEWS, Views } from './views.js'

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Answer} Answer */
/** @typedef {import('./types.js').Preview} Preview */

const EXAMPLE = `CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(20), price DECIMAL(8,2));
INSERT INTO orders VALUES (1, 'lamp', 19.90), (2, 'chair', 80.00), (3, 'desk', NULL);
UPDATE orders SET price = 75.00 WHERE id = 2;
UPDATE orders SET id = 4 WHERE id = 1;
DELETE FROM orders WHERE id = 3;
ALTER TABLE orders ADD COLUMN note TEXT;
INSERT INTO orders VALUES (5, 'sofa', 420.00, 'grey');
`
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
/** The messages of a change in all protocols. @type {{change: string, previews: Preview[]} | null} */
let compared = null
let change = ''
let controller = new AbortController()
let timer = 0
/** Whether a stream of the service is shown instead of the preview. */
let attached = false
/** Texts of the kinds of scenario that are not chosen now. @type {Record<string, string>} */
const drafts = { sql: EXAMPLE, yaml: 'version: 1\nsteps:\n  - sql: |\n      CREATE TABLE t (id INT PRIMARY KEY, v INT);\n      INSERT INTO t VALUES (1, 10);\n' }

const editor = new Editor(byId('editor'), () => {
  const kind = state.yaml === undefined ? 'sql' : 'yaml'
  state[kind] = editor.text
  drafts[kind] = editor.text
  schedule(TYPING_MS)
})

const views = new Views({
  state, statement, onLine: goToLine, onState: () => void link(), onError: failed, compare,
  invariants: () => choices.invariants,
})

/** @param {number} delay */
function schedule(delay) {
  window.clearTimeout(timer)
  timer = window.setTimeout(refresh, delay)
}

/** @param {State} of @param {string[]} protocols @param {Record<string, unknown>} [more] */
function body(of, protocols, more = {}) {
  const options = Object.fromEntries(protocols.filter((name) => of.options[name]).map((name) => [name, of.options[name]]))
  return { ...scenarioSource(of), protocols, options, partitions: of.partitions, ...(of.dispatch && { dispatch: of.dispatch }), traps: of.traps, ...more }
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
    compared = null
    problems([])
    status(`${preview.total === 1 ? '1 message' : `${preview.total} messages`} in ${Math.round(next.seconds * 1000)} ms`)
    showBadge(null)
    views.notes = { ...preview, verdict: null }
    views.show(previewStream(preview), { other: attached })
    attached = false
    void link()
    await verify(signal)
  } catch (error) {
    failed(error)
  }
}

/** @param {Preview} preview */
function previewStream(preview) {
  const of = answered
  return new MemoryStream(preview.messages, {
    total: preview.total, times: preview.times.map(String), resolved: preview.resolved,
    note: preview.total > preview.messages.length ? `${preview.total - preview.messages.length} more messages: run the scenario to get them` : '',
    tables: async (at) => {
      const next = /** @type {Answer} */ (await json('/v1/previews', body(of, [of.protocol], { state_at: at }), { signal: controller.signal }))
      const tables = next.previews?.[0]?.tables ?? {}
      return Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, { rows, total: rows.length, error: '' }]))
    },
  })
}

/**
 * Let the views of the last good text load again what this request has aborted.
 * @param {AbortSignal} signal
 */
async function resume(signal) {
  if (answer === null || attached) return
  views.render()
  if (views.verified === null) await verify(signal)
}

/** @param {AbortSignal} signal */
async function verify(signal) {
  const next = /** @type {Answer} */ (await json('/v1/previews', body(answered, [answered.protocol], { verify: true }), { signal }))
  views.verified = next.previews?.[0]?.verdict ? next.previews[0] : null
  showBadge(views.verified)
  if (['verdict', 'timeline', 'messages'].includes(state.view)) views.render()
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

/** @param {{line: number, what: string, excerpt: string, hint: string}[]} list */
function problems(list) {
  editor.mark(new Map(list.filter(({ line }) => line > 0).map(({ line, what }) => [line, { kind: 'problem', text: what }])))
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

/** @param {HTMLElement} view */
async function compare(view) {
  const changes = changesOf(answer?.previews[0].messages ?? [])
  const wanted = change || selectedChange()
  const chosen = changes.has(wanted) ? wanted : changes.keys().next().value ?? ''
  if (chosen !== '' && compared?.change !== chosen) {
    if (!view.childElementCount) replace(view, h('p', { class: 'null' }, 'encoding the change in all protocols …'))
    const of = answered
    const next = /** @type {Answer} */ (await json('/v1/previews', body(of, choices.protocols.map(({ name }) => name), { change: chosen }), { signal: controller.signal }))
    if (next.problems !== undefined || of !== answered) return
    compared = { change: chosen, previews: next.previews }
  }
  if (state.view !== 'compare') return
  renderCompare(view, {
    changes, previews: compared?.previews ?? [], change: chosen, statement,
    onChange: (next) => { change = next; views.render() },
    onOpen: (message) => {
      const protocol = compared?.previews.find((preview) => preview.messages?.includes(message))?.protocol
      if (protocol !== undefined && protocol !== state.protocol) set({ protocol })
      views.open(message)
    },
  })
}

function selectedChange() {
  const message = answer?.previews[0].messages.find((one) => samePosition(one, state.selected))
  return message?.events.find((event) => event.change !== undefined)?.change ?? ''
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
  editor.show({ text: drafts[kind], language: kind === 'sql' ? 'sql' : 'yaml', readOnly: false })
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
    editor.show({ text, language: languageOf(name), readOnly: true })
    drafts[languageOf(name)] = text
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
  views.rendered = ''
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
    if (scenario !== undefined) { await setScenario(scenario); return }
    const kind = yaml === undefined ? 'sql' : 'yaml'
    drafts[kind] = yaml ?? sql ?? ''
    await setKind(kind)
    return
  }
  editor.show({ text: state.sql ?? '', language: 'sql', readOnly: false })
  settings()
  schedule(0)
}

byId('take').addEventListener('click', () => openTakeAway(state, editor.text, async () => `${location.origin}/#${await fragmentOf(state)}`))
window.addEventListener('hashchange', () => void restore(location.hash))
byId('open').addEventListener('click', () => openStreams(choices.protocols, (opened, stream) => {
  controller.abort()
  attached = true
  views.notes = null
  showBadge(null)
  views.show(stream, { other: true, notice: opened.left > 0 ? ofPart(opened, stream) : ['The messages are verified now.'] })
  status(`${opened.name}: ${opened.total.toLocaleString('en')} messages, ${opened.protocol}`)
  if (opened.left === 0) void verdictOf(stream, false)
}, failed))

/** Say why the newest messages of a topic have no verdict, and how to get one. @param {import('./types.js').Opened} opened @param {import('./stream.js').ServedStream} stream */
function ofPart(opened, stream) {
  const total = (opened.left + opened.total).toLocaleString('en')
  const all = () => { views.notice = [`All ${total} messages are read and verified now.`]; views.render(); void verdictOf(stream, true) }
  return [
    `These are the newest ${opened.total.toLocaleString('en')} of ${total} messages. A verdict needs all of them. `,
    h('button', { type: 'button', class: 'primary', id: 'verify-whole', onclick: all }, `Verify all ${total} messages`), ...ofCommand(opened),
  ]
}

/** Say with which command a topic of any size is verified. @param {import('./types.js').Opened} opened */
function ofCommand({ name }) {
  return [h('span', {}, ' Without a limit: '), h('code', {}, `ticdc-producer verify --sink-uri SINK_URI`), h('span', {}, `, with the sink URI of --attach ${name}.`)]
}

/** @param {import('./stream.js').ServedStream} stream @param {boolean} whole */
async function verdictOf(stream, whole) {
  try {
    const verdict = await stream.verdict(whole)
    if (views.stream !== stream || verdict === null) return
    views.verified = { verdict, ok: verdict.ok, not_injected: {}, warnings: [], faults: [] }
    showBadge(views.verified)
  } catch (error) {
    if (views.stream !== stream) return
    views.notice = [...shown(`${error instanceof Error ? error.message : error}.`), ...(whole ? ofCommand(stream.opened) : [])]
  }
  if (['verdict', 'timeline', 'messages'].includes(state.view)) views.render()
}

views.renderTabs()
void start()
