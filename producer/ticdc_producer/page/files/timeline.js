// View: a chart for each partition, commit-ts against offset.

import { kindOf } from './detail.js'
import { arrowKeys, empty, h, plain, replace, shown, svg, timeOf } from './dom.js'

/** @typedef {import('./types.js').Point} Point */
/** @typedef {import('./types.js').Chart} Chart */
/** @typedef {{topic: string, partition: number, offset: number | null, label: string, kind: string}} Mark */

/** @param {import('./types.js').Message[]} messages @returns {Chart[]} */
export function chartsOf(messages) {
  /** @type {Map<string, Chart & {points: Point[]}>} */
  const charts = new Map()
  const seen = new Set()
  for (const message of messages) {
    const name = `${message.topic}/${message.partition}`
    let chart = charts.get(name)
    if (chart === undefined) {
      chart = { topic: message.topic, partition: message.partition, points: [], first: message.offset, last: message.offset }
      charts.set(name, chart)
    }
    chart.last = message.offset
    for (const event of message.events) {
      const again = event.change !== undefined && seen.has(`${name}/${event.change}`)
      if (event.change !== undefined) seen.add(`${name}/${event.change}`)
      const what = event.kind === 'row' ? `${kindOf(event)} ${event.schema}.${event.table}` : event.kind
      chart.points.push({
        offset: message.offset, ts: BigInt(event.commit_ts ?? 0), kind: event.kind, again,
        label: `${what} at offset ${message.offset}, ${timeOf(event.commit_ts)}${again ? ', again' : ''}`,
      })
    }
  }
  return [...charts.values()]
}

const HEIGHT = 150
const MOST_MARKS = 200
const MOST_DOTS = 60
const LEFT = 64
const BOTTOM = 20
const TOP = 10
/** @type {[number, number]} The shown part of each chart. */
let range = [0, 1]

/**
 * @param {HTMLElement} view
 * @param {{charts: Chart[], marks: Mark[], more?: Node[], onOpen: (position: {topic: string, partition: number, offset: number}) => void}} input
 */
export function renderTimeline(view, input) {
  if (!input.charts.length) {
    replace(view, empty('No timeline', 'Each partition has a chart here, with its rows, DDLs, resolved events, faults and findings.'))
    return
  }
  const width = Math.max(280, view.clientWidth - 24)
  /** @param {number} from @param {number} to */
  const zoom = (from, to) => {
    const size = Math.min(1, Math.max(0.02, to - from))
    const start = Math.min(1 - size, Math.max(0, from))
    range = [start, start + size]
    renderTimeline(view, input)
  }
  const [from, to] = range
  const size = to - from
  const buttons = [
    ['Zoom in', '+', from + size / 4, to - size / 4], ['Zoom out', '−', from - size / 2, to + size / 2],
    ['Earlier', '‹', from - size / 2, to - size / 2], ['Later', '›', from + size / 2, to + size / 2], ['Everything', '1:1', 0, 1],
  ]
  const times = input.charts.flatMap(timesOf).filter((ts) => ts > 0n)
  const low = times.reduce((one, other) => (other < one ? other : one), times[0] ?? 0n)
  const high = times.reduce((one, other) => (other > one ? other : one), times[0] ?? 1n)
  const focus = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.zoom : undefined
  replace(view,
    h('div', { class: 'bar' },
      h('span', { role: 'group', 'aria-label': 'Zoom' }, buttons.map(([label, text, start, end]) => h('button', {
        type: 'button', 'aria-label': label, 'data-zoom': label, onclick: () => zoom(Number(start), Number(end)),
      }, text))),
      legend()),
    input.charts.map((chart) => chartView(chart, input, width, low, high, zoom)), input.more ?? [])
  if (focus !== undefined) /** @type {HTMLElement | null} */ (view.querySelector(`[data-zoom="${focus}"]`))?.focus()
}

/** @param {Chart} chart */
function timesOf({ points, buckets }) {
  const ofBuckets = (buckets ?? []).flatMap(([, lowest, highest, , resolved]) => [lowest, highest, resolved]).filter((ts) => ts !== null)
  return [...(points ?? []).map(({ ts }) => ts), ...ofBuckets.map((ts) => BigInt(/** @type {string | number} */ (ts)))]
}

function legend() {
  const entries = [['row', 'row'], ['again', 'delivered again'], ['ddl', 'DDL'], ['resolved', 'resolved'], ['fault', 'fault'], ['finding', 'finding']]
  return h('ul', { class: 'legend' }, entries.map(([kind, text]) => h('li', {}, svgIcon(kind), text)))
}

/** @param {string} kind */
function svgIcon(kind) {
  return svg('svg', { width: 14, height: 14, viewBox: '-7 -7 14 14', 'aria-hidden': 'true' }, symbol(kind))
}

/** @param {string} kind */
function symbol(kind) {
  const shapes = /** @type {Record<string, [string, Record<string, any>]>} */ ({
    row: ['circle', { r: 3.5 }], again: ['circle', { r: 3.5 }], ddl: ['path', { d: 'M0-5 5 0 0 5-5 0Z' }],
    resolved: ['path', { d: 'M-5 0H5' }], fault: ['path', { d: 'M-4-4 4 4M-4 4 4-4' }],
    finding: ['path', { d: 'M0-5 5 4H-5Z' }], error: ['path', { d: 'M0-5 5 4H-5Z' }], tombstone: ['circle', { r: 2 }],
  })
  const [name, attributes] = shapes[kind] ?? shapes.row
  return svg(name, { class: `mark-${kind}`, ...attributes })
}

/**
 * @param {Chart} chart @param {Parameters<typeof renderTimeline>[1]} input @param {number} width
 * @param {bigint} low @param {bigint} high @param {(from: number, to: number) => void} zoom
 */
function chartView(chart, input, width, low, high, zoom) {
  const count = Math.max(1, chart.last - chart.first)
  const start = chart.first + range[0] * count
  const end = chart.first + range[1] * count
  const span = Number(high - low) || 1
  /** @param {number} offset */
  const x = (offset) => LEFT + ((offset - start) / Math.max(0.5, end - start)) * (width - LEFT - 16)
  /** @param {bigint} ts */
  const y = (ts) => HEIGHT - BOTTOM - 6 - (Number(ts - low) / span) * (HEIGHT - BOTTOM - TOP - 12)
  const points = chart.points ?? []
  const visible = points.filter(({ offset, ts }) => offset >= start - 0.5 && offset <= end + 0.5 && ts > 0n)
  const resolved = visible.filter(({ kind }) => kind === 'resolved')
  /** @param {Point} point */
  const element = (point) => mark(point.again ? 'again' : point.kind, x(point.offset), y(point.ts), point.label, point.offset)
  /** @param {string} kind @param {number} left @param {number} top @param {string} label @param {number} offset */
  function mark(kind, left, top, label, offset) {
    const open = () => input.onOpen({ topic: chart.topic, partition: chart.partition, offset })
    return svg('g', {
      class: 'mark', role: 'button', tabindex: -1, 'aria-label': plain(label), transform: `translate(${left.toFixed(1)} ${top.toFixed(1)})`,
      onclick: open, onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); open() } },
    }, svg('title', {}, plain(label)), svg('circle', { r: 8, class: 'target' }), symbol(kind))
  }
  const own = input.marks.filter((one) => one.topic === chart.topic && one.partition === chart.partition && one.offset !== null && one.offset >= start - 0.5 && one.offset <= end + 0.5)
  const steps = resolved.map(({ offset, ts }, index) => `${index ? `H${x(offset).toFixed(1)}V` : `M${x(offset).toFixed(1)} `}${y(ts).toFixed(1)}`).join('')
  const picture = svg('svg', {
    class: 'chart', width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: 'group',
    'aria-label': `Partition ${chart.partition}: commit-ts against offset, ${chart.buckets === undefined ? `${points.length} events` : `offsets ${chart.first} to ${chart.last}`}`,
  },
  svg('path', { class: 'axis', d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${width - 8}` }),
  svg('text', { class: 'tick', x: LEFT - 6, y: y(high) + 4, 'text-anchor': 'end' }, timeOf(String(high)).slice(11, 19)),
  svg('text', { class: 'tick', x: LEFT - 6, y: y(low) + 4, 'text-anchor': 'end' }, timeOf(String(low)).slice(11, 19)),
  ticks(start, end).map((offset) => svg('text', { class: 'tick', x: x(offset), y: HEIGHT - 5, 'text-anchor': 'middle' }, offset)),
  steps && svg('path', { class: 'steps', d: steps }),
  bucketShapes(chart.buckets ?? [], start, end, x, y),
  visible.map(element),
  (chart.buckets ?? []).flatMap(([, , , ddl, , , error]) => [[ddl, 'ddl', 'DDL'], [error, 'error', 'message that does not decode']])
    .filter(([offset]) => offset !== null && Number(offset) >= start - 0.5 && Number(offset) <= end + 0.5).slice(0, MOST_MARKS)
    .map(([offset, kind, label]) => mark(String(kind), x(Number(offset)), kind === 'ddl' ? TOP + 6 : HEIGHT - BOTTOM - 1, `${label} at offset ${offset}`, Number(offset))),
  own.map(({ kind, offset, label }) => mark(kind, x(offset ?? 0), HEIGHT - BOTTOM - 1, label, offset ?? 0)))
  picture.querySelector('.mark')?.setAttribute('tabindex', '0')  // the arrow keys reach the others
  arrowKeys(/** @type {any} */ (picture), '.mark')
  if (chart.buckets !== undefined) {
    const { buckets } = chart
    picture.classList.add('clickable')
    picture.addEventListener('click', (event) => {
      if (/** @type {Element} */ (event.target).closest('.mark') !== null) return
      const at = start + ((/** @type {MouseEvent} */ (event).offsetX - LEFT) / (width - LEFT - 16)) * (end - start)
      const bucket = buckets.findLast(([first]) => first <= at) ?? buckets[0]
      if (bucket !== undefined) input.onOpen({ topic: chart.topic, partition: chart.partition, offset: bucket[0] })
    })
  }
  picture.addEventListener('wheel', (event) => {
    const wheel = /** @type {WheelEvent} */ (event)
    if (!wheel.ctrlKey) return
    wheel.preventDefault()
    const at = range[0] + ((wheel.offsetX - LEFT) / (width - LEFT)) * (range[1] - range[0])
    const factor = wheel.deltaY > 0 ? 1.25 : 0.8
    zoom(at - (at - range[0]) * factor, at + (range[1] - at) * factor)
  }, { passive: false })
  return h('section', { class: 'timeline' }, h('h3', {}, 'partition ', chart.partition, h('span', { class: 'null' }, ' ', shown(chart.topic))), picture)
}

/**
 * Draw the range of commit-ts in each bucket, and the largest resolved-ts.
 * @param {import('./types.js').Bucket[]} buckets @param {number} start @param {number} end
 * @param {(offset: number) => number} x @param {(ts: bigint) => number} y
 */
function bucketShapes(buckets, start, end, x, y) {
  const first = Math.max(0, buckets.findLastIndex(([offset]) => offset <= start))
  const within = buckets.slice(first).filter(([offset], number) => number === 0 || offset <= end)
  const clipped = (/** @type {number} */ offset) => x(Math.max(start, offset)).toFixed(1)
  const height = (/** @type {string | number} */ ts) => y(BigInt(ts)).toFixed(1)
  const rows = within.filter(([, lowest]) => lowest !== null)
  const line = rows.map(([offset, , highest]) => `${clipped(offset)} ${height(highest ?? 0)}`)
  const back = rows.map(([offset, lowest]) => `${clipped(offset)} ${height(lowest ?? 0)}`).reverse()
  const steps = within.filter(([, , , , ts]) => ts !== null)
    .map(([, , , , ts, offset], number) => `${number ? `H${clipped(offset ?? 0)}V` : `M${clipped(offset ?? 0)} `}${height(ts ?? 0)}`).join('')
  return [
    rows.length > 1 && svg('path', { class: 'band', d: `M${[...line, ...back].join('L')}Z` }),
    steps && svg('path', { class: 'steps', d: steps }),
    rows.length > 1 && svg('path', { class: 'highest', d: `M${line.join('L')}` }),
    rows.length <= MOST_DOTS && rows.map(([offset, , highest]) => svg('circle', { class: 'mark-row', r: 2.5, cx: clipped(offset), cy: height(highest ?? 0) })),
  ].flat()
}

/** @param {number} start @param {number} end */
function ticks(start, end) {
  const step = Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, end - start))) / 2)
  const offsets = []
  for (let offset = Math.ceil(start / step) * step; offset <= end && offsets.length < 30; offset += step) offsets.push(Math.round(offset))
  return [...new Set(offsets)]
}
