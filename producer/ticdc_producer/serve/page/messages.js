// View: messages of each partition in offset order, and the selected one.

import { cellText, empty, h, plain, replace, shown } from './dom.js'
import { kindOf, messageDetail, tableOf } from './detail.js'

/** @typedef {import('./types.js').Message} Message */
/** @typedef {import('./types.js').Position} Position */

/** @param {Position} one @param {Position | null} other */
export function samePosition(one, other) {
  return other !== null && one.topic === other.topic && one.partition === other.partition && one.offset === other.offset
}

/** @param {Message} message */
function summary(message) {
  const event = message.events.find(({ kind }) => kind === 'row') ?? message.events[0]
  if (event === undefined) return 'no events'
  if (event.query !== undefined) return cellText(event.query).slice(0, 120)
  if (event.error !== undefined) return event.error
  if (event.kind !== 'row') return String(event.commit_ts ?? '')
  const image = event.after ?? event.before ?? {}
  const pairs = Object.entries(image).slice(0, 4).map(([name, cell]) => `${name}=${cellText(cell).slice(0, 40)}`)
  return pairs.join(' ')
}

/**
 * @param {Message[]} messages
 * @param {Position | null} selected
 * @param {(message: Message) => void} onSelect
 * @param {Set<string>} marked positions with a fault or a finding, as `topic/partition/offset`.
 */
export function messageList(messages, selected, onSelect, marked) {
  const seen = new Set()
  /** @type {Map<string, HTMLElement[]>} */
  const partitions = new Map()
  const chosen = messages.find((message) => samePosition(message, selected))
  for (const message of messages) {
    const name = `${message.topic}/${message.partition}`
    const rows = partitions.get(name) ?? partitions.set(name, []).get(name) ?? []
    const changes = message.events.map((event) => event.change).filter((change) => change !== undefined)
    const again = changes.length > 0 && changes.every((change) => seen.has(`${name}/${change}`))
    for (const change of changes) seen.add(`${name}/${change}`)
    const event = message.events.find(({ kind }) => kind === 'row') ?? message.events[0]
    const position = `${name}/${message.offset}`
    const kind = event === undefined ? 'none' : kindOf(event)
    rows.push(h('button', {
      type: 'button', class: 'message', role: 'option', 'aria-selected': String(message === chosen),
      tabindex: message === chosen ? 0 : -1, 'data-position': position,
      onclick: () => onSelect(message),
    },
    h('span', { class: 'offset' }, message.offset),
    h('span', { class: `kind ${kind}` }, kind),
    h('span', { class: 'what' }, event !== undefined && tableOf(event) !== '' && event.kind === 'row' && h('b', {}, shown(tableOf(event)), ' '), shown(summary(message))),
    message.events.length > 1 && h('span', { class: 'tag' }, `${message.events.length} events`),
    again && h('span', { class: 'tag again' }, 'again'),
    marked.has(position) && h('span', { class: 'tag fault' }, 'fault')))
  }
  return [...partitions].map(([name, rows]) => h('section', { class: 'partition' },
    h('h3', {}, 'partition ', shown(name.slice(name.lastIndexOf('/') + 1)), h('span', { class: 'null' }, ` ${plain(name.slice(0, name.lastIndexOf('/')))}, ${rows.length}`)),
    h('div', { role: 'group' }, rows)))
}

/**
 * @param {HTMLElement} view
 * @param {{messages: Message[], total: number, left: number, withResolved: boolean,
 *   onResolved: (show: boolean) => void, selected: Position | null, marked: Set<string>,
 *   onSelect: (message: Message) => void, actions: Parameters<typeof messageDetail>[1], more?: Node | null}} input
 */
export function renderMessages(view, input) {
  const { messages, selected } = input
  if (!input.total) {
    replace(view, empty('No messages', 'The scenario commits nothing that TiCDC sends. Insert a row into a table with a primary key.'))
    return
  }
  const old = view.querySelector('.list')
  const scroll = old?.scrollTop ?? 0
  const focused = /** @type {HTMLElement | null} */ (document.activeElement?.closest('.message') ?? null)?.dataset.position
  const chosen = messages.find((message) => samePosition(message, selected))
    ?? messages.find(({ events }) => events.some(({ kind }) => kind === 'row')) ?? messages[0]
  const box = h('input', { type: 'checkbox', id: 'resolved', checked: input.withResolved, onchange: () => input.onResolved(box.checked) })
  const list = h('div', { class: 'list', role: 'listbox', 'aria-label': 'Messages' },
    messageList(messages, chosen ?? null, input.onSelect, input.marked),
    input.more ?? (input.left > 0 && h('p', { class: 'null note' }, `${input.left} more messages: run the scenario to get them`)))
  list.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const order = chosen === undefined ? -1 : messages.indexOf(chosen)
    const next = messages[Math.min(messages.length - 1, Math.max(0, order + step))]
    input.onSelect(next)
    const element = view.querySelector(`.message[aria-selected="true"]`)
    if (element instanceof HTMLElement) element.focus()
  })
  replace(view, h('div', { class: 'split' },
    h('div', { class: 'side' }, h('div', { class: 'filter' }, box, h('label', { for: 'resolved' }, 'resolved events')), list),
    chosen !== undefined && messageDetail(chosen, input.actions)))
  list.scrollTop = scroll
  if (focused !== undefined) {
    const element = [...list.querySelectorAll('.message')].find((one) => one instanceof HTMLElement && one.dataset.position === focused)
    if (element instanceof HTMLElement) element.focus({ preventScroll: true })
  }
  const current = list.querySelector('[aria-selected="true"]')
  if (current instanceof HTMLElement && (current.offsetTop < list.scrollTop || current.offsetTop > list.scrollTop + list.clientHeight - 30)) {
    list.scrollTop = current.offsetTop - list.clientHeight / 2
  }
}
