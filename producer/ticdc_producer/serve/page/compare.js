// View: one change in all protocols side by side, and the history of a row.

import { empty, h, plain, replace, shown, timeOf } from './dom.js'
import { columnTable, kindOf, tableOf } from './detail.js'
import { rawPanel } from './raw.js'

/** @typedef {import('./types.js').Message} Message */
/** @typedef {import('./types.js').Event} Event */
/** @typedef {import('./types.js').Preview} Preview */
/** @typedef {{message: Message, event: Event}} Delivery */

/** @param {Message[]} messages @returns {Delivery[]} in the order of commits. */
export function deliveries(messages) {
  const all = messages.flatMap((message) => message.events.map((event) => ({ message, event })))
  const order = (/** @type {Delivery} */ { event }) => BigInt(event.commit_ts ?? 0)
  return all.sort((one, other) => (order(one) < order(other) ? -1 : order(one) > order(other) ? 1 : 0))
}

/** The changes of a stream, each once. @param {Message[]} messages @returns {Map<string, Delivery>} */
export function changesOf(messages) {
  const changes = new Map()
  for (const delivery of deliveries(messages)) {
    const { change } = delivery.event
    if (change !== undefined && !changes.has(change)) changes.set(change, delivery)
  }
  return changes
}

/** @param {Event} event */
function label(event) {
  const lines = event.lines?.length ? `line ${event.lines.join(', ')}: ` : ''
  const key = event.kind === 'row' ? keyOf(event) : ''
  return plain(`${lines}${kindOf(event)} ${tableOf(event)} ${key}`)
}

/** @param {Event} event */
function keyOf(event) {
  const image = event.after ?? event.before ?? {}
  const names = (event.columns ?? []).filter(([, , flag]) => (flag & 2) !== 0).map(([name]) => name)
  return names.map((name) => `${name}=${JSON.stringify(image[name])}`).join(' ')
}

/**
 * @param {HTMLElement} view
 * @param {{previews: Preview[], change: string, statement: (line: number) => string,
 *   onChange: (change: string) => void, onOpen: (message: Message) => void}} input
 */
export function renderCompare(view, input) {
  const changes = new Map()
  for (const preview of input.previews) {
    for (const [change, delivery] of changesOf(preview.messages ?? [])) if (!changes.has(change)) changes.set(change, delivery)
  }
  if (!changes.size) {
    replace(view, empty('No changes to compare', 'Insert, update or delete a row: this view shows the message of each protocol beside the statement.'))
    return
  }
  const chosen = changes.has(input.change) ? input.change : (changes.keys().next().value ?? '')
  const event = /** @type {Delivery} */ (changes.get(chosen)).event
  const select = h('select', { id: 'change', onchange: () => input.onChange(select.value) },
    [...changes].map(([change, delivery]) => h('option', { value: change, selected: change === chosen }, label(delivery.event))))
  const old = view.querySelector('.cards')?.scrollTop ?? 0
  replace(view,
    h('div', { class: 'bar' }, h('label', { for: 'change' }, 'Change'), select),
    (event.lines ?? []).map((line) => h('pre', { class: 'sql' }, shown(input.statement(line)))),
    h('div', { class: 'cards' }, input.previews.map((preview) => card(preview, chosen, input.onOpen))))
  const cards = view.querySelector('.cards')
  if (cards !== null) cards.scrollTop = old
}

/** @param {Preview} preview @param {string} change @param {(message: Message) => void} onOpen */
function card(preview, change, onOpen) {
  const title = h('h3', {}, preview.protocol)
  if (preview.error) return h('article', { class: 'card' }, title, h('p', { class: 'error' }, shown(preview.error.what)))
  const message = preview.messages.find(({ events }) => events.some((event) => event.change === change))
  if (message === undefined) {
    return h('article', { class: 'card' }, title, h('p', { class: 'null' }, 'This protocol has no message for the change.'))
  }
  const spans = message.spans
  return h('article', { class: 'card' },
    h('header', {}, title, h('span', { class: 'null mono' }, ` partition ${message.partition}, offset ${message.offset}`)),
    rawPanel('key', message.key, spans.filter(({ part }) => part === 'key')),
    rawPanel('value', message.value, spans.filter(({ part }) => part === 'value')),
    h('button', { type: 'button', class: 'link', onclick: () => onOpen(message) }, 'open the message'))
}

/**
 * @param {HTMLElement} view
 * @param {{messages: Message[], row: string, statement: (line: number) => string,
 *   onRow: (row: string) => void, onOpen: (message: Message) => void}} input
 */
export function renderHistory(view, input) {
  /** @type {Map<string, Delivery[]>} */
  const rows = new Map()
  for (const delivery of deliveries(input.messages)) {
    for (const row of delivery.event.rows ?? []) rows.set(row, [...(rows.get(row) ?? []), delivery])
  }
  if (!rows.size) {
    replace(view, empty('No rows', 'This view shows all changes of one row, with the differences between them.'))
    return
  }
  const chosen = rows.has(input.row) ? input.row : (rows.keys().next().value ?? '')
  const select = h('select', { id: 'row', onchange: () => input.onRow(select.value) },
    [...rows].slice(0, 2000).map(([row, found]) => h('option', { value: row, selected: row === chosen },
      plain(`${tableOf(found[0].event)} ${keyOf(found[0].event)} (${found.length})`))))
  const seen = new Set()
  replace(view,
    h('div', { class: 'bar' }, h('label', { for: 'row' }, 'Row'), select),
    h('ol', { class: 'history' }, (rows.get(chosen) ?? []).map(({ message, event }) => {
      const again = seen.has(event.change)
      seen.add(event.change)
      return h('li', {},
        h('p', {}, h('span', { class: `kind ${kindOf(event)}` }, kindOf(event)), again && h('span', { class: 'tag again' }, 'again'),
          h('span', { class: 'mono small' }, ` ${event.commit_ts ?? ''} `), h('span', { class: 'null' }, timeOf(event.commit_ts)), ' ',
          h('button', { type: 'button', class: 'link', onclick: () => input.onOpen(message) }, `partition ${message.partition}, offset ${message.offset}`)),
        (event.lines ?? []).map((line) => h('pre', { class: 'sql' }, shown(input.statement(line)))),
        columnTable(event))
    })))
}
