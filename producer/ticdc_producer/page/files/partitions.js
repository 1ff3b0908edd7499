// The partitions of a stream as a table, and the sizes of its messages.

import { h, shown } from './dom.js'

/** @typedef {import('./types.js').Report} Report */

/** @param {number} value */
function number(value) {
  return value.toLocaleString('en')
}

/** @param {Report} report @returns {Node[]} */
export function partitionsView(report) {
  const { partitions, more_partitions: more, charts } = report
  const all = partitions.length + more
  const most = Math.max(1, ...partitions.map(({ messages }) => messages))
  const columns = ['partition', 'messages', '', 'rows', 'DDLs', 'resolved', 'damaged', 'bytes', 'offsets']
  return [
    ...(charts.length < all ? [h('p', { class: 'null' }, `${charts.length} of ${number(all)} partitions are drawn, those that findings name first.`)] : []),
    h('section', { class: 'state' }, h('h3', {}, 'Partitions'), h('div', { class: 'scroll' }, h('table', { class: 'columns counts' },
      h('thead', {}, h('tr', {}, columns.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, partitions.map((part) => h('tr', {},
        h('th', { scope: 'row' }, shown(`${part.topic}/${part.partition}`)), h('td', {}, number(part.messages)),
        h('td', {}, h('meter', { min: 0, max: most, value: part.messages, 'aria-hidden': 'true' })),
        [part.rows, part.ddls, part.resolved, part.errors, part.size].map((value) => h('td', {}, number(value))),
        h('td', {}, `${number(part.first)} – ${number(part.last)}`)))))),
    more > 0 && h('p', { class: 'null' }, `and ${number(more)} partitions more.`)),
    ...(report.sizes.length ? [sizesView(report.sizes)] : []),
  ]
}

/** @param {[number, number][]} sizes exponent n and the number of messages smaller than 2^n bytes, and at least half of that. */
function sizesView(sizes) {
  const most = Math.max(...sizes.map(([, count]) => count))
  const bytes = (/** @type {number} */ power) => {
    const tens = Math.min(Math.floor(power / 10), 2)
    return `${number(2 ** (power - 10 * tens))}${['', ' KiB', ' MiB'][tens]}`
  }
  return h('section', { class: 'state' }, h('h3', {}, 'Message sizes'), h('div', { class: 'scroll' }, h('table', { class: 'columns counts' },
    h('thead', {}, h('tr', {}, ['bytes of key and value', 'messages', ''].map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, sizes.map(([power, count]) => h('tr', {}, h('th', { scope: 'row' }, `< ${bytes(power)}`), h('td', {}, number(count)),
      h('td', {}, h('meter', { min: 0, max: most, value: count, 'aria-hidden': 'true' }))))))))
}
