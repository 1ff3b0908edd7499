// One message: its statement, its events with their columns, and its bytes beside them.

import { cellNodes, h, plain, sameCell, shown, timeOf } from './dom.js'
import { rawPanel } from './raw.js'

/** @typedef {import('./types.js').Message} Message */
/** @typedef {import('./types.js').Event} Event */

/** @param {Event} event */
export function kindOf(event) {
  return event.kind === 'row' ? (event.op ?? 'row') : event.kind
}

/** @param {Event} event */
export function tableOf(event) {
  return [event.schema, event.table].filter(Boolean).join('.')
}

/** @param {Event} event The values of its handle key. */
export function keyOf(event) {
  const image = event.after ?? event.before ?? {}
  const names = (event.columns ?? []).filter(([, , flag]) => (flag & 2) !== 0).map(([name]) => name)
  return names.map((name) => `${name}=${JSON.stringify(image[name])}`).join(' ')
}

/**
 * @param {Message} message
 * @param {{statement?: (line: number) => string, onLine?: (line: number) => void,
 *   onRow?: (row: string) => void}} [actions]
 */
export function messageDetail(message, actions = {}) {
  const time = new Date(message.timestamp)
  const detail = h('article', { class: 'detail', 'aria-label': 'Message' },
    h('header', {},
      h('h3', { class: 'mono' }, shown(`${message.topic}/${message.partition}@${message.offset}`)),
      h('span', { class: 'null' }, Number.isNaN(time.getTime()) ? '' : time.toISOString().replace('T', ' ').slice(0, 23))),
    h('div', { class: 'halves' },
      h('div', { class: 'decoded' }, message.events.length
        ? message.events.map((event, index) => eventDetail(event, index, actions))
        : h('p', { class: 'null' }, 'This message has no events.'),
      (message.count ?? 0) > message.events.length && h('p', { class: 'null' }, `${message.count} events, of which the first ${message.events.length} are displayed`)),
      h('div', { class: 'bytes-of' },
        rawPanel('key', message.key, message.spans.filter((span) => span.part === 'key')),
        rawPanel('value', message.value, message.spans.filter((span) => span.part === 'value')),
        message.headers.map((header) => rawPanel(`header ${plain(header.key)}`, header.value, [])))))
  linkRanges(detail)
  return detail
}

/** @param {Event} event @param {number} index @param {Parameters<typeof messageDetail>[1]} actions */
function eventDetail(event, index, actions = {}) {
  const lines = event.lines ?? []
  const row = event.rows?.[0]
  return h('section', { class: 'event' },
    h('h4', {}, h('span', { class: `kind ${kindOf(event)}` }, kindOf(event)), ' ', shown(tableOf(event)),
      event.handle_key_only && h('span', { class: 'null' }, ' handle key only'),
      row !== undefined && actions.onRow && h('button', { type: 'button', class: 'link', onclick: () => actions.onRow?.(row) }, 'history of the row')),
    event.commit_ts ? h('p', { class: 'mono small' }, `${event.commit_ts}`, h('span', { class: 'null' }, ` ${timeOf(event.commit_ts)}`)) : null,
    event.query !== undefined && h('pre', { class: 'sql' }, cellNodes(event.query)),
    event.error !== undefined && h('p', { class: 'error' }, shown(`${event.error} at byte ${event.error_byte}: expected ${event.error_expected}`)),
    event.kind === 'row' && columnTable(event, index),
    lines.map((line) => h('p', { class: 'cause' },
      h('button', { type: 'button', class: 'link', onclick: () => actions.onLine?.(line) }, `line ${line}`),
      ' ', h('code', {}, shown(actions.statement?.(line) ?? '')))))
}

/** @param {Event} event @param {number} [index] without it, the columns have no ranges of bytes. */
export function columnTable(event, index) {
  const described = event.columns ?? []
  const names = [...new Set([...described.map(([name]) => name), ...Object.keys(event.before ?? {}), ...Object.keys(event.after ?? {})])]
  const types = new Map(described.map(([name, type, flag]) => [name, { type, key: (flag & 2) !== 0 }]))
  const both = event.before !== undefined && event.after !== undefined
  const images = /** @type {("before" | "after")[]} */ (['before', 'after']).filter((name) => event[name] !== undefined)
  return h('div', { class: 'scroll' }, h('table', { class: 'columns' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'column'), h('th', { scope: 'col' }, 'type'), images.map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, names.map((name) => h('tr', {},
      h('th', { scope: 'row' }, shown(name), types.get(name)?.key && h('span', { class: 'key', title: 'handle key' }, ' key')),
      h('td', { class: 'null' }, shown(types.get(name)?.type ?? '')),
      images.map((image) => h('td', {
        class: both && !sameCell(event.before?.[name], event.after?.[name]) ? `value changed-${image}` : 'value',
        'data-span': index === undefined ? null : `${index}/${image}/${name}`,
        tabindex: index === undefined ? null : '0',
      }, cellNodes(event[image]?.[name]))))))))
}

/** Highlight the bytes of the column under the pointer or with the focus, and the other way round. @param {HTMLElement} detail */
function linkRanges(detail) {
  /** @param {globalThis.Event} event */
  const light = (event) => {
    const target = /** @type {Element} */ (event.target).closest('[data-span]')
    for (const element of detail.querySelectorAll('.lit')) element.classList.remove('lit')
    if (target === null) return
    const key = target.getAttribute('data-span')
    for (const element of detail.querySelectorAll('[data-span]')) {
      if (element.getAttribute('data-span') === key) element.classList.add('lit')
    }
  }
  detail.addEventListener('pointerover', light)
  detail.addEventListener('focusin', light)
}
