// The views of a stream and their tabs.

import { renderHistory } from './history.js'
import { byId, empty, h, replace } from './dom.js'
import { renderMessages } from './messages.js'
import { samePosition } from './stream.js'
import { renderTables } from './tables.js'
import { renderTimeline } from './timeline.js'
import { renderVerdict } from './verdict.js'

/** @typedef {import('./types.js').Position} Position */
/** @typedef {import('./types.js').Stream} Stream */
/** @typedef {import('./types.js').Verified} Verified */
/** @typedef {import('./types.js').Tables} Tables */

export const VIEWS = [['messages', 'Messages'], ['compare', 'Protocols'], ['history', 'Row'], ['timeline', 'Timeline'], ['tables', 'Tables'], ['verdict', 'Verdict']]

/** @param {Verified | null} verified */
export function showBadge(verified) {
  const element = byId('badge')
  const correct = verified?.verdict?.ok ?? false
  element.dataset.state = verified === null ? 'none' : verified.ok ? 'ok' : 'bad'
  element.textContent = verified === null ? 'not verified' : correct ? 'correct' : verified.ok ? 'traps found' : 'not correct'
}

export class Views {
  /**
   * @param {{state: {view: string, at: string, selected: Position | null}, invariants: () => Record<string, string>,
   *   statement: (line: number) => string, onLine?: (line: number) => void, onState: () => void,
   *   onError: (error: unknown) => void, compare?: (view: HTMLElement) => Promise<void>, names?: string[],
   *   ofVerdict?: () => Node[], ofTimeline?: () => Node[]}} input
   */
  constructor(input) {
    this.input = input
    this.state = input.state
    /** @type {Stream | null} */
    this.stream = null
    /** @type {Verified | null} */
    this.verified = null
    /** Faults and other notes that are known before the verdict. @type {Verified | null} */
    this.notes = null
    /** Why there is no verdict. @type {(string | Node)[]} */
    this.notice = []
    this.row = ''
    this.withResolved = true
    /** @type {import('./types.js').Query["partition"]} */
    this.partition = null
    this.first = 0
    /** @type {Position | null} The position whose page is shown next. */
    this.at = null
    this.rendered = ''
    this.number = 0
    /** @type {Map<string, Tables>} */
    this.tables = new Map()
    let width = window.innerWidth
    window.addEventListener('resize', () => {
      if (window.innerWidth !== width && this.state.view === 'timeline') this.render()
      width = window.innerWidth
    })
  }

  /** @param {Stream} stream @param {{other?: boolean, verified?: Verified | null, notice?: (string | Node)[]}} [parts] Whether it is another stream than before; its verdict, if it is known, or why there is none. */
  show(stream, { other = false, verified = null, notice = [] } = {}) {
    this.stream = stream
    this.verified = verified
    this.notice = notice
    this.tables = new Map()
    if (other) {
      byId('views').replaceChildren()
      this.partition = null
      this.first = 0
      this.row = ''
      this.state.at = ''
      this.state.selected = null
    }
    this.at = this.state.selected
    this.render()
  }

  /** The names of the tabs. */
  get names() {
    const { names } = this.input
    if (names !== undefined) return VIEWS.filter(([name]) => names.includes(name)).sort(([one], [other]) => names.indexOf(one) - names.indexOf(other))
    return VIEWS.filter(([name]) => name !== 'compare' || (this.input.compare !== undefined && !this.stream?.finds))
  }

  /** @param {string} view */
  setView(view) {
    this.state.view = view
    this.render()
    this.input.onState()
  }

  /** @param {Position} position */
  open(position) {
    this.state.selected = { topic: position.topic, partition: position.partition, offset: position.offset }
    this.at = this.state.selected
    this.partition = null
    this.setView('messages')
  }

  renderTabs() {
    const tabs = byId('tabs')
    const { names } = this
    if (!names.some(([name]) => name === this.state.view)) this.state.view = 'messages'
    if (tabs.childElementCount !== names.length) {
      replace(tabs, names.map(([name, title]) => h('button', {
        type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'views', onclick: () => this.setView(name),
      }, title)))
      tabs.onkeydown = (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
        if (step === undefined) return
        const now = this.names.findIndex(([name]) => name === this.state.view)
        const [next] = this.names[(now + step + this.names.length) % this.names.length]
        this.setView(next)
        byId(`tab-${next}`).focus()
      }
    }
    for (const [name] of names) {
      const tab = byId(`tab-${name}`)
      tab.setAttribute('aria-selected', String(name === this.state.view))
      tab.tabIndex = name === this.state.view ? 0 : -1
    }
    const views = byId('views')
    views.setAttribute('role', 'tabpanel')
    views.setAttribute('aria-labelledby', `tab-${this.state.view}`)
  }

  marks() {
    const faults = ((this.verified ?? this.notes)?.faults ?? []).map((fault) => ({ topic: fault.topic, partition: fault.partition, offset: fault.offset, label: `fault ${fault.trap}`, kind: 'fault' }))
    const findings = (this.verified?.verdict?.findings ?? []).flatMap((finding) => finding.examples.flatMap((example) => example.events.map((event) => ({
      topic: event.topic, partition: event.partition, offset: event.offset, label: `${finding.severity} ${finding.id}`, kind: 'finding',
    }))))
    return [...faults, ...findings]
  }

  render() {
    this.renderTabs()
    const view = byId('views')
    const { state, stream } = this
    if (this.rendered !== state.view) {
      view.replaceChildren()
      view.className = `view-${state.view}`
      this.rendered = state.view
    }
    if (stream === null) return
    const number = ++this.number
    const current = () => number === this.number && stream === this.stream
    this.renderView(view, stream, current).catch((error) => { if (current()) this.input.onError(error) })
  }

  /** @param {HTMLElement} view @param {Stream} stream @param {() => boolean} current Whether nothing else is to be shown by now. */
  async renderView(view, stream, current) {
    const open = (/** @type {Position} */ position) => this.open(position)
    const { statement } = this.input
    switch (this.state.view) {
      case 'compare': await this.input.compare?.(view); break
      case 'history': {
        const rows = stream.rows()
        const row = this.row !== '' && (stream.finds || rows.some(({ name }) => name === this.row)) ? this.row : rows[0]?.name ?? ''
        const changes = row === '' ? { deliveries: [], more: false } : await stream.row(row)
        if (!current()) return
        renderHistory(view, { rows: stream.rows(), row, ...changes, tables: stream.names, statement, onRow: (next) => { this.row = next; this.render() }, onOpen: open })
        break
      }
      case 'timeline': {
        if (!view.childElementCount) replace(view, h('p', { class: 'null' }, 'reading the timeline …'))
        const charts = await stream.charts()
        if (current()) renderTimeline(view, { charts, marks: this.marks(), more: this.input.ofTimeline?.(), onOpen: open })
        break
      }
      case 'tables': await this.renderTables(view, stream, current); break
      case 'verdict':
        if (this.verified === null) replace(view, empty('Not verified', ...(this.notice.length ? this.notice : ['The messages are verified after they are shown.'])))
        else renderVerdict(view, { verified: this.verified, invariants: this.input.invariants(), more: this.input.ofVerdict?.(), has: (position) => stream.has(position), onOpen: open })
        break
      default: await this.renderMessages(view, stream, current)
    }
  }

  /** @param {HTMLElement} view @param {Stream} stream @param {() => boolean} current */
  async renderMessages(view, stream, current, focus = false) {
    const { state } = this
    const page = await stream.page({ first: this.first, resolved: this.withResolved, partition: this.partition, at: this.at })
    if (!current()) return
    this.first = page.first
    this.at = null
    const brief = page.messages.find((message) => samePosition(message, state.selected))
      ?? page.messages.find(({ events }) => events.some(({ kind }) => kind === 'row')) ?? page.messages[0]
    const message = brief === undefined ? null : await stream.message(brief)
    if (!current()) return
    const again = () => { this.first = 0; this.at = state.selected; this.render() }
    renderMessages(view, {
      page, stream, brief, message, focus, partition: this.partition, withResolved: this.withResolved,
      marked: new Set(this.marks().map(({ topic, partition, offset }) => `${topic}/${partition}/${offset}`)),
      onResolved: (resolved) => { this.withResolved = resolved; again() },
      onPartition: (partition) => { this.partition = partition; this.first = 0; this.at = null; this.render() },
      onFirst: (first) => { this.first = first; state.selected = null; this.render() },
      onOffset: (position) => { this.at = position; this.partition = position; state.selected = position; this.render() },
      onSelect: (position, byKey) => {
        state.selected = { topic: position.topic, partition: position.partition, offset: position.offset }
        const number = ++this.number
        const isCurrent = () => number === this.number && stream === this.stream
        void this.renderMessages(view, stream, isCurrent, byKey).catch(this.input.onError)
        this.input.onState()
      },
      actions: { statement: this.input.statement, onLine: this.input.onLine, onRow: (next) => { this.row = next; this.setView('history') } },
    })
  }

  /** @param {HTMLElement} view @param {Stream} stream @param {() => boolean} current */
  async renderTables(view, stream, current) {
    const { state } = this
    const { times } = stream
    if (state.at !== '' && !times.includes(state.at)) state.at = ''
    const at = state.at === '' ? times[times.length - 1] ?? '' : state.at
    const before = times[times.indexOf(at) - 1]
    const draw = () => renderTables(view, {
      times, resolved: stream.resolved, note: stream.noteOfTables, at: state.at, onTime: (ts) => { state.at = ts; this.render(); this.input.onState() },
      tables: this.tables.get(at) ?? null, before: this.tables.get(before) ?? null,
    })
    draw()
    for (const ts of [at, before]) {
      if (ts === undefined || this.tables.has(ts) || !times.length) continue
      await this.requested(stream, ts, current)
      if (!current()) return
      draw()
    }
  }

  /** Fetch the rows of a time. One request at a time: a slider does not fill the service's queue. @param {Stream} stream @param {string} ts @param {() => boolean} current */
  async requested(stream, ts, current) {
    while (this.request !== undefined) await this.request
    if (!current() || this.tables.has(ts)) return
    this.request = stream.tables(ts).then((rows) => { if (stream === this.stream) this.tables.set(ts, rows) }).finally(() => { this.request = undefined })
    await this.request
  }

  /** @type {Promise<void> | undefined} */
  request
}
