// The page in one file: the views of a verdict, with a timeline and a sample of the messages.

import { byId, h, shown } from './dom.js'
import { partitionsView } from './partitions.js'
import { MemoryStream } from './stream.js'
import { tablesAt } from './tables.js'
import { showBadge, Views } from './views.js'

/** @type {import('./types.js').Report} */
const report = JSON.parse(byId('data').textContent ?? '')
const { messages, total, tables } = report
byId('name').append(...shown(report.name), h('span', { class: 'null' }, ' ', ...shown(report.protocol)))
byId('made').append(...shown(report.created))
const names = ['verdict', 'messages', 'history', 'timeline', 'tables']
const state = { view: names.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'verdict', at: '', selected: null }
const views = new Views({
  state, names, statement: () => '', onState: () => history.replaceState(null, '', `#${state.view}`), onError: (error) => { throw error }, invariants: () => report.invariants,
  ofVerdict: () => report.source === '' ? [] : [h('details', {}, h('summary', {}, `Scenario: ${report.lines === 1 ? '1 line' : `${report.lines.toLocaleString('en')} lines`}`), h('pre', { class: 'sql' }, shown(report.source)))],
  ofTimeline: () => report.partitions.length ? partitionsView(report) : [],
})
views.show(new MemoryStream(messages, {
  total: messages.length, times: tables.times.map(String), resolved: tables.resolved, charts: report.charts, noteOfTables: tables.note,
  tables: async (at) => tablesAt(tables, at),
  note: total > messages.length ? `A sample of ${total.toLocaleString('en')} messages: those that findings name, and the first of each partition.` : '',
}), { verified: report.verified })
showBadge(report.verified)
