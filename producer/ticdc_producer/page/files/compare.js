// View: one change in all protocols side by side.

import { keyOf, kindOf, tableOf } from './detail.js'
import { empty, h, plain, replace, shown } from './dom.js'
import { rawPanel } from './raw.js'
import { deliveries } from './stream.js'

/** @typedef {import('./types.js').Message} Message */
/** @typedef {import('./types.js').Event} Event */
/** @typedef {import('./types.js').Preview} Preview */
/** @typedef {import('./types.js').Delivery} Delivery */

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

/**
 * @param {HTMLElement} view
 * @param {{changes: Map<string, Delivery>, previews: Preview[], change: string, statement: (line: number) => string,
 *   onChange: (change: string) => void, onOpen: (message: Message) => void}} input
 */
export function renderCompare(view, input) {
  const { changes, change: chosen } = input
  if (!changes.size) {
    replace(view, empty('No changes to compare', 'Insert, update or delete a row: this view shows the message of each protocol beside the statement.'))
    return
  }
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
