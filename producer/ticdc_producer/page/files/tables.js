// View: the rows that a consumer must have that has read up to a time.

import { cellNodes, empty, h, replace, shown, timeOf } from './dom.js'

/** @typedef {import('./types.js').Image} Image */
/** @typedef {import('./types.js').Tables} Tables */

/** @typedef {{times: (string | number)[], resolved: boolean, at: string, onTime: (ts: string) => void,
 *   tables: Tables | null, before: Tables | null, note: string}} Input */

/** What is displayed: the slider stays while it is dragged, and moves among the times of now. @type {Input} */
let displayed

/** @param {HTMLElement} view @param {Input} input */
export function renderTables(view, input) {
  const { times } = input
  displayed = input
  if (!times.length) {
    replace(view, input.note === ''
      ? empty('No times', 'After a commit, this view shows the rows that a consumer must have.')
      : empty('The tables are left out', input.note))
    return
  }
  const index = Math.max(0, times.map(String).indexOf(input.at))
  const chosen = String(times[input.at === '' ? times.length - 1 : index])
  const number = input.at === '' ? times.length - 1 : index
  /** @param {number} to */
  const go = (to) => { if (to >= 0 && to < displayed.times.length) displayed.onTime(String(displayed.times[to])) }
  let bar = view.querySelector('.time')
  if (bar === null || bar.getAttribute('data-times') !== String(times.length)) {
    const slider = h('input', { type: 'range', id: 'time', min: 0, max: times.length - 1, step: 1, value: number })
    slider.addEventListener('input', () => go(Number(slider.value)))
    bar = h('div', { class: 'bar time', 'data-times': times.length },
      h('label', { for: 'time' }, input.resolved ? 'As of resolved-ts' : 'As of commit-ts'),
      h('button', { type: 'button', 'aria-label': 'Earlier', onclick: () => go(Number(slider.value) - 1) }, '‹'),
      slider,
      h('button', { type: 'button', 'aria-label': 'Later', onclick: () => go(Number(slider.value) + 1) }, '›'),
      h('output', { class: 'mono small' }))
    replace(view, bar, input.note !== '' && h('p', { class: 'null' }, input.note), h('div', { class: 'states' }))
  }
  const slider = /** @type {HTMLInputElement} */ (bar.querySelector('input'))
  slider.value = String(number)
  slider.setAttribute('aria-valuetext', `${chosen}, ${timeOf(chosen)}`)
  replace(/** @type {Element} */ (bar.querySelector('output')), chosen, ' ', h('span', { class: 'null' }, timeOf(chosen)))
  const states = /** @type {Element} */ (view.querySelector('.states'))
  states.setAttribute('aria-busy', String(input.tables === null))
  if (input.tables === null) return
  const names = Object.keys(input.tables)
  replace(states, names.length
    ? names.map((name) => tableView(name, /** @type {Tables} */ (input.tables)[name], whole(input.before?.[name])))
    : empty('No tables yet', 'Up to this time, no table has been created that TiCDC replicates.'))
}

/** Return the tables of a report at a time. @param {import('./types.js').ReportTables} tables @param {string} at @returns {Tables} */
export function tablesAt({ times, rows, at: tables }, at) {
  const time = times.map(String).indexOf(at)
  return Object.fromEntries(Object.entries(tables).filter(([, of]) => of[time] !== undefined).map(([name, of]) => {
    const [total, error, numbers] = of[time]
    return [name, { rows: numbers.map((number) => rows[number]), total, error }]
  }))
}

const MOST_ROWS = 500

/** @param {import('./types.js').TableRows | undefined} table The rows with which others are compared: those of a part cannot be. */
function whole(table) {
  return table !== undefined && table.rows.length === table.total ? table.rows : null
}

/** @param {string} name @param {import('./types.js').TableRows} table @param {Image[] | null} before */
export function tableView(name, table, before) {
  const { rows, total, error } = table
  const columns = Object.keys(rows[0] ?? {})
  const known = new Set((before ?? []).map((row) => JSON.stringify(row)))
  return h('section', { class: 'state' },
    h('h3', {}, shown(name), (error === '' || total > 0) && h('span', { class: 'null' }, total === 1 ? ' 1 row' : ` ${total.toLocaleString('en')} rows`)),
    error !== '' && h('p', { class: 'warning' }, shown(error)),
    rows.length
      ? h('div', { class: 'scroll' }, h('table', { class: 'columns' },
        h('thead', {}, h('tr', {}, columns.map((column) => h('th', { scope: 'col' }, shown(column))))),
        h('tbody', {}, rows.slice(0, MOST_ROWS).map((row) => h('tr', { class: before !== null && !known.has(JSON.stringify(row)) ? 'new' : '' },
          columns.map((column) => h('td', { class: 'value' }, cellNodes(row[column]))))))))
      : error === '' && h('p', { class: 'null' }, 'empty'),
    total > Math.min(MOST_ROWS, rows.length) && h('p', { class: 'null' }, `${(total - Math.min(MOST_ROWS, rows.length)).toLocaleString('en')} more`))
}
