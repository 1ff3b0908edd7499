// A stream that the views show: in the memory of the page, or as a copy in the service.

import { json } from './api.js'
import { cellText } from './dom.js'
import { keyOf, tableOf } from './detail.js'
import { chartsOf } from './timeline.js'

/** @typedef {import('./types.js').Message} Message */
/** @typedef {import('./types.js').Event} Event */
/** @typedef {import('./types.js').Position} Position */
/** @typedef {import('./types.js').Stream} Stream */
/** @typedef {import('./types.js').Query} Query */
/** @typedef {import('./types.js').Page} Page */
/** @typedef {import('./types.js').Delivery} Delivery */

/** Messages of a page of the list. */
export const PAGE = 500

/** @param {Position} one @param {Position | null} other */
export function samePosition(one, other) {
  return other !== null && one.topic === other.topic && one.partition === other.partition && one.offset === other.offset
}

/** @param {Message[]} messages @returns {Delivery[]} in the order of commits. */
export function deliveries(messages) {
  const all = messages.flatMap((message) => message.events.map((event) => (
    { topic: message.topic, partition: message.partition, offset: message.offset, event })))
  const order = (/** @type {Delivery} */ { event }) => BigInt(event.commit_ts ?? 0)
  return all.sort((one, other) => (order(one) < order(other) ? -1 : order(one) > order(other) ? 1 : 0))
}

/** @param {Message[]} messages */
function partitionsOf(messages) {
  /** @type {Map<string, import('./types.js').Partition>} */
  const partitions = new Map()
  for (const { topic, partition } of messages) {
    const name = `${topic}/${partition}`
    const known = partitions.get(name) ?? { topic, partition, messages: 0 }
    partitions.set(name, { ...known, messages: known.messages + 1 })
  }
  return [...partitions.values()]
}

/** A stream whose messages the page has. @implements {Stream} */
export class MemoryStream {
  /**
   * @param {Message[]} messages
   * @param {{total: number, times: string[], resolved: boolean, note?: string, noteOfTables?: string, charts?: import('./types.js').Chart[],
   *   tables: (at: string) => Promise<import('./types.js').Tables>}} parts
   */
  constructor(messages, parts) {
    this.messages = messages
    this.total = parts.total
    this.times = parts.times
    this.resolved = parts.resolved
    this.tables = parts.tables
    this.partitions = partitionsOf(messages)
    this.finds = false
    /** @type {[string, string][]} */
    this.names = []
    this.given = parts.charts
    this.note = parts.note ?? ''
    this.noteOfTables = parts.noteOfTables ?? ''
  }

  /** @param {Query} query @returns {Promise<Page>} */
  async page(query) {
    const { partition } = query
    const all = this.messages.filter((message) =>
      (query.resolved || !message.events.length || message.events.some(({ kind }) => kind !== 'resolved'))
      && (partition === null || (message.topic === partition.topic && message.partition === partition.partition)))
    const { at } = query
    const number = at === null ? query.first : Math.max(0, all.findIndex((message) => samePosition(message, at)))
    const first = number - (number % PAGE)
    return { first, total: all.length, messages: all.slice(first, first + PAGE) }
  }

  /** @param {Position} position @returns {Promise<Message | null>} */
  async message(position) {
    return this.messages.find((message) => samePosition(message, position)) ?? null
  }

  /** @param {Position} position */
  has(position) {
    return this.messages.some((message) => samePosition(message, position))
  }

  /** @returns {{name: string, label: string}[]} */
  rows() {
    /** @type {Map<string, {event: Event, count: number}>} */
    const rows = new Map()
    for (const { event } of deliveries(this.messages)) {
      for (const name of event.rows ?? []) rows.set(name, { event: rows.get(name)?.event ?? event, count: (rows.get(name)?.count ?? 0) + 1 })
    }
    return [...rows].map(([name, { event, count }]) => ({ name, label: `${tableOf(event)} ${keyOf(event)} (${count})` }))
  }

  /** @param {string} name @returns {Promise<{deliveries: Delivery[], more: boolean}>} */
  async row(name) {
    return { deliveries: deliveries(this.messages).filter(({ event }) => event.rows?.includes(name)), more: false }
  }

  /** @returns {Promise<import('./types.js').Chart[]>} */
  async charts() {
    return this.given ?? chartsOf(this.messages)
  }
}

/** A copy of a stream in the service, of which the page asks for what it shows. @implements {Stream} */
export class ServedStream {
  /** @param {import('./types.js').Opened} opened */
  constructor(opened) {
    this.opened = opened
    this.total = opened.total
    this.times = opened.times.map(String)
    this.resolved = opened.resolved
    this.partitions = opened.partitions
    this.names = opened.tables
    this.finds = true
    this.note = ''
    this.noteOfTables = ''
    /** @type {Map<string, string>} The rows that were looked at, with their labels. */
    this.known = new Map()
  }

  /** @param {string} path @param {Record<string, unknown>} [parameters] @returns {Promise<any>} */
  get(path, parameters = {}) {
    const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined)
    return json(`/v1/streams/${this.opened.id}/${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`)
  }

  /** @param {Query} query @returns {Promise<Page>} */
  async page(query) {
    const { partition, at } = query
    const where = partition ?? at
    return this.get('messages', {
      first: at === null ? query.first : null, resolved: query.resolved, topic: where?.topic, partition: where?.partition, offset: at?.offset,
      whole: at !== null && partition === null ? true : null,
    })
  }

  /** @param {Position} position @returns {Promise<Message | null>} */
  async message(position) {
    return this.get('message', { topic: position.topic, partition: position.partition, offset: position.offset })
  }

  rows() {
    return [...this.known].map(([name, label]) => ({ name, label }))
  }

  /** @param {string} name @returns {Promise<{deliveries: Delivery[], more: boolean}>} */
  async row(name) {
    const { changes, more } = await this.get('row', { row: name })
    const [schema, table, ...key] = JSON.parse(name)
    this.known.set(name, `${schema}.${table} ${key.map(cellText).join(', ')} (${changes.length}${more ? '+' : ''})`)
    return { deliveries: changes, more }
  }

  /** @returns {Promise<import('./types.js').Chart[]>} */
  async charts() {
    return (await this.get('timeline')).charts
  }

  /** @param {string} at @returns {Promise<import('./types.js').Tables>} */
  async tables(at) {
    return (await this.get('tables', { at: at === '' ? null : at })).tables
  }

  /** @param {Position} position */
  has({ topic, partition, offset }) {
    return this.opened.partitions.some((part) => part.topic === topic && part.partition === partition
      && offset >= (part.first ?? 0) && offset <= (part.last ?? Infinity))
  }

  /** @param {boolean} whole Whether all messages of the topic are verified, also those that were not copied. @returns {Promise<import('./types.js').Verdict | null>} */
  async verdict(whole) {
    return (await this.get('verdict', { whole: whole || null })).verdict
  }
}
