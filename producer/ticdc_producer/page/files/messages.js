// View: messages of each partition in offset order, and the selected one.

import { cellText, empty, h, plain, replace, shown } from './dom.js'
import { kindOf, messageDetail, tableOf } from './detail.js'
import { PAGE } from './stream.js'

/** @typedef {import('./types.js').Message} Message */
/** @typedef {import('./types.js').Position} Position */

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
 * @param {Message | undefined} chosen
 * @param {(message: Message) => void} onSelect
 * @param {Set<string>} marked positions with a fault or a finding, as `topic/partition/offset`.
 * @param {Map<string, number>} counts messages of each partition.
 */
export function messageList(messages, chosen, onSelect, marked, counts) {
  const seen = new Set()
  /** @type {Map<string, HTMLElement[]>} */
  const partitions = new Map()
  for (const message of messages) {
    const name = `${message.topic}/${message.partition}`
    const rows = partitions.get(name) ?? partitions.set(name, []).get(name) ?? []
    const changes = message.events.map((event) => event.change).filter((change) => change !== undefined)
    const again = changes.length > 0 && changes.every((change) => seen.has(`${name}/${change}`))
    for (const change of changes) seen.add(`${name}/${change}`)
    const event = message.events.find(({ kind }) => kind === 'row') ?? message.events[0]
    const position = `${name}/${message.offset}`
    const kind = event === undefined ? 'none' : kindOf(event)
    const count = message.count ?? message.events.length
    rows.push(h('button', {
      type: 'button', class: 'message', role: 'option', 'aria-selected': String(message === chosen),
      tabindex: message === chosen ? 0 : -1, 'data-position': position,
      onclick: () => onSelect(message),
    },
    h('span', { class: 'offset' }, message.offset),
    h('span', { class: `kind ${kind}` }, kind),
    h('span', { class: 'what' }, event !== undefined && tableOf(event) !== '' && event.kind === 'row' && h('b', {}, shown(tableOf(event)), ' '), shown(summary(message))),
    count > 1 && h('span', { class: 'tag' }, `${count} events`),
    again && h('span', { class: 'tag again' }, 'again'),
    marked.has(position) && h('span', { class: 'tag fault' }, 'fault')))
  }
  return [...partitions].map(([name, rows]) => h('section', { class: 'partition' },
    h('h3', {}, 'partition ', shown(name.slice(name.lastIndexOf('/') + 1)), h('span', { class: 'null' }, ` ${plain(name.slice(0, name.lastIndexOf('/')))}, ${counts.get(name) ?? rows.length}`)),
    h('div', { role: 'group', 'aria-label': plain(`partition ${name}`) }, rows)))
}

/** @typedef {{topic: string, partition: number} | null} Partition */
/** @typedef {{page: import('./types.js').Page, stream: import('./types.js').Stream, brief: Message | undefined, message: Message | null,
 *   focus: boolean, partition: Partition, withResolved: boolean, marked: Set<string>,
 *   onResolved: (show: boolean) => void, onPartition: (partition: Partition) => void, onFirst: (first: number) => void,
 *   onOffset: (position: Position) => void, onSelect: (message: Message, byKey: boolean) => void,
 *   actions: Parameters<typeof messageDetail>[1]}} Input */

/** @param {HTMLElement} view @param {Input} input */
export function renderMessages(view, input) {
  const { page, stream, brief } = input
  const { messages } = page
  if (!stream.total) {
    replace(view, empty('No messages', stream.note || 'The scenario commits nothing that TiCDC sends. Insert a row into a table with a primary key.'))
    return
  }
  const old = view.querySelector('.list')
  const isSame = old?.getAttribute('data-first') === String(page.first)
  const scroll = isSame ? old?.scrollTop ?? 0 : 0
  const focused = /** @type {HTMLElement | null} */ (document.activeElement?.closest('.message, .filter [id]') ?? null)
  const focusedPosition = focused?.dataset.position
  const focusedId = focused?.id
  const box = h('input', { type: 'checkbox', id: 'resolved', checked: input.withResolved, onchange: () => input.onResolved(box.checked) })
  const counts = new Map(stream.partitions.map((part) => [`${part.topic}/${part.partition}`, (input.withResolved ? part.messages : part.others) ?? 0]))
  const list = h('div', { class: 'list', role: 'listbox', 'aria-label': 'Messages', 'data-first': page.first },
    messageList(messages, brief, (message) => input.onSelect(message, false), input.marked, counts),
    !messages.length && h('p', { class: 'null note' }, 'No message matches.'),
    stream.note !== '' && h('p', { class: 'null note' }, stream.note))
  list.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const order = brief === undefined ? -1 : messages.indexOf(brief)
    const next = messages[Math.min(messages.length - 1, Math.max(0, order + step))]
    if (next !== undefined) input.onSelect(next, true)
  })
  replace(view, h('div', { class: 'split' },
    h('div', { class: 'side' }, h('div', { class: 'filter' }, box, h('label', { for: 'resolved' }, 'resolved events')), pager(input), list),
    input.message !== null && messageDetail(input.message, input.actions)))
  list.scrollTop = scroll
  const target = input.focus ? list.querySelector('[aria-selected="true"]')
    : focusedId ? document.getElementById(focusedId)
      : focusedPosition === undefined ? null : [...list.querySelectorAll('.message')].find((one) => one instanceof HTMLElement && one.dataset.position === focusedPosition)
  if (target instanceof HTMLElement) target.focus({ preventScroll: true })
  const current = list.querySelector('[aria-selected="true"]')
  if (current instanceof HTMLElement && (current.offsetTop < list.scrollTop || current.offsetTop > list.scrollTop + list.clientHeight - 30)) {
    list.scrollTop = current.offsetTop - list.clientHeight / 2
  }
}

/** The choice of a part of a long list. @param {Input} input */
function pager(input) {
  const { page, stream } = input
  if (stream.total <= PAGE) return null
  const last = page.first + page.messages.length
  const name = (/** @type {{topic: string, partition: number}} */ part) => `${part.topic}/${part.partition}`
  const chosen = input.partition === null ? '' : name(input.partition)
  const partition = h('select', {
    id: 'partition', 'aria-label': 'Partition', onchange: () => input.onPartition(stream.partitions.find((part) => name(part) === partition.value) ?? null),
  }, h('option', { value: '' }, 'all partitions'), stream.partitions.map((part) => h('option', { value: name(part), selected: name(part) === chosen }, plain(name(part)))))
  const offset = h('input', { id: 'offset', type: 'number', min: 0, placeholder: 'offset', 'aria-label': 'Offset', required: true })
  const go = h('form', {}, offset, h('button', { type: 'submit' }, 'Go'))
  go.addEventListener('submit', (event) => {
    event.preventDefault()
    const of = input.partition ?? input.brief ?? stream.partitions[0]
    input.onOffset({ topic: of.topic, partition: of.partition, offset: Number(offset.value) })
  })
  const step = (/** @type {string} */ id, /** @type {string} */ label, /** @type {string} */ text, /** @type {number} */ first, /** @type {boolean} */ possible) =>
    h('button', { type: 'button', id, 'aria-label': label, disabled: !possible, onclick: () => input.onFirst(first) }, text)
  return h('div', { class: 'filter pager' },
    step('page-first', 'First page', '«', 0, page.first > 0), step('page-before', 'Page before', '‹', page.first - PAGE, page.first > 0),
    h('span', { role: 'status' }, page.total ? `${(page.first + 1).toLocaleString('en')}–${last.toLocaleString('en')} of ${page.total.toLocaleString('en')}` : '0'),
    step('page-next', 'Next page', '›', page.first + PAGE, last < page.total),
    step('page-last', 'Last page', '»', Math.max(0, page.total - 1) - (Math.max(0, page.total - 1) % PAGE), last < page.total),
    partition, go)
}
