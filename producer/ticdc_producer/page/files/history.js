// View: the history of a row.

import { columnTable, kindOf, tableOf } from './detail.js'
import { cellNodes, empty, h, plain, replace, shown, timeOf } from './dom.js'

/**
 * @param {HTMLElement} view
 * @param {{rows: {name: string, label: string}[], row: string, deliveries: import('./types.js').Delivery[], more: boolean,
 *   tables: [string, string][], statement: (line: number) => string, onRow: (row: string) => void,
 *   onOpen: (position: import('./types.js').Position) => void}} input
 */
export function renderHistory(view, input) {
  const { rows, row, deliveries } = input
  if (!rows.length && !input.tables.length) {
    replace(view, empty('No rows', 'This view shows all changes of one row, with the differences between them.'))
    return
  }
  const select = h('select', { id: 'row', onchange: () => input.onRow(select.value) },
    rows.slice(0, 2000).map(({ name, label }) => h('option', { value: name, selected: name === row }, plain(label))))
  const seen = new Set()
  replace(view,
    input.tables.length > 0 && search(input),
    rows.length > 0 && h('div', { class: 'bar' }, h('label', { for: 'row' }, 'Row'), select),
    row === '' && h('p', { class: 'null' }, 'Find a row by its handle key, or open a message and choose “history of the row”.'),
    row !== '' && !deliveries.length && h('p', { class: 'null' }, 'No message has this row.'),
    h('ol', { class: 'history' }, deliveries.map((delivery) => {
      const { event } = delivery
      const again = event.change !== undefined && seen.has(event.change)
      seen.add(event.change)
      return h('li', {},
        h('p', {}, h('span', { class: `kind ${kindOf(event)}` }, kindOf(event)), again && h('span', { class: 'tag again' }, 'again'),
          h('span', { class: 'mono small' }, ` ${event.commit_ts ?? ''} `), h('span', { class: 'null' }, timeOf(event.commit_ts)), ' ',
          h('button', { type: 'button', class: 'link', onclick: () => input.onOpen(delivery) }, `partition ${delivery.partition}, offset ${delivery.offset}`)),
        (event.lines ?? []).map((line) => h('pre', { class: 'sql' }, shown(input.statement(line)))),
        event.query !== undefined && h('pre', { class: 'sql' }, cellNodes(event.query)),
        columnTable(event))
    })),
    input.more && h('p', { class: 'null' }, 'The row has more changes.'))
}

/** @param {Parameters<typeof renderHistory>[1]} input */
function search(input) {
  const table = h('select', { id: 'find-table', 'aria-label': 'Table' },
    input.tables.map((name, number) => h('option', { value: number }, plain(name.join('.')))))
  const key = h('input', { id: 'find-key', placeholder: 'handle key, such as 42', 'aria-label': 'Values of the handle key, separated by commas', required: true })
  const form = h('form', { class: 'bar' }, h('span', {}, 'Find'), table, key, h('button', { type: 'submit' }, 'Find'))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    input.onRow(JSON.stringify([...input.tables[Number(table.value)], ...key.value.split(',').map((part) => part.trim())]))
  })
  return form
}
