// The restart level: a consumer that survives being killed. Its own checkpoint is in the file of its database.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decoded, keyOf, rank, steps } from './testee.mjs'

/** Thrown where the runner stops the consumer: nothing happens after it. */
class Stopped extends Error {}

/** What a step makes durable. */
class Points {
  labels = []
  constructor(stop) {
    this.stop = stop
  }
  reached(label) {
    this.labels.push(label)
    if (this.labels.length === this.stop) throw new Stopped()
  }
}

/** Tables in a file of changes. A line is written as a whole, like a transaction. */
class Database {
  tables = new Map()
  ddls = new Set()
  resolved = 0n
  offsets = {}
  last = 0n
  constructor(path) {
    this.path = path
    if (!existsSync(path)) return
    for (const line of readFileSync(path, 'utf8').split('\n')) if (line) this.apply(JSON.parse(line))
  }
  write(change) {
    this.apply(change)
    appendFileSync(this.path, `${JSON.stringify(change)}\n`)
  }
  apply({ table, ts, ddl, clears, key, row, resolved, offsets }) {
    if (resolved !== undefined) {
      this.resolved = BigInt(resolved)
      this.offsets = offsets
      return
    }
    const rows = clears ? new Map() : (this.tables.get(table) ?? new Map())
    this.tables.set(table, rows)
    this.last = BigInt(ts)
    if (ddl) this.ddls.add(ddl)
    else if (row) rows.set(key, row)
    else rows.delete(key)
  }
}

/** Equal for all copies of a DDL. */
function identity({ ts, fields }) {
  return `${ts} ${fields.schema}.${fields.table} ${fields.query}`
}

class Consumer {
  waiting = []
  constructor({ directory, partitions }) {
    this.database = new Database(join(directory, 'database.jsonl'))
    this.next = { ...this.database.offsets }
    this.resolved = new Map()
    for (const [topic, count] of Object.entries(partitions)) {
      for (let number = 0; number < count; number++) this.resolved.set(`${topic}/${number}`, this.database.resolved)
    }
  }

  deliver(messages, points) {
    for (const { topic, partition, offset, value } of messages) {
      const name = `${topic}/${partition}`
      this.receive({ name, offset, event: decoded(value) }, points)
      this.next[name] = offset + 1
      let smallest = null
      for (const ts of this.resolved.values()) if (smallest === null || ts < smallest) smallest = ts
      this.release(smallest, points)
    }
  }

  receive({ name, offset, event }, points) {
    if (event.kind === 'resolved') {
      if (event.ts > this.resolved.get(name)) this.resolved.set(name, event.ts)
    } else if (event.ts > this.database.resolved) {
      for (const half of steps(event)) this.waiting.push({ name, offset, event: half })
    } else if (event.kind === 'ddl' && !this.database.ddls.has(identity(event))) {
      this.write(event, points) // its resolved-ts came before it
    }
  }

  /** Applies what waits up to a resolved-ts, and stores it together with the offsets. */
  release(resolved, points) {
    if (resolved <= this.database.resolved) return
    this.applyUntil(resolved, points)
    this.database.write({ resolved: String(resolved), offsets: this.offsets() })
    points.reached('commit')
  }

  applyUntil(resolved, points) {
    const ready = this.waiting.filter(({ event }) => event.ts <= resolved).map(({ event }) => event)
    this.waiting = this.waiting.filter(({ event }) => event.ts > resolved)
    ready.sort((one, other) => (one.ts < other.ts ? -1 : one.ts > other.ts ? 1 : rank(one) - rank(other)))
    for (const event of ready) this.write(event, points)
  }

  write(event, points) {
    const { schema, table, before, after } = event.fields
    const change = { table: `${schema}.${table}`, ts: String(event.ts) }
    if (event.kind === 'ddl') Object.assign(change, { ddl: identity(event), clears: event.clears })
    else Object.assign(change, { key: keyOf(event, after ?? before), row: after })
    this.database.write(change)
    points.reached('effect')
  }

  /** Of each partition the first message with an event that waits. */
  offsets() {
    const offsets = { ...this.next }
    for (const { name, offset } of this.waiting) offsets[name] = Math.min(offsets[name], offset)
    return offsets
  }

  rows({ tables, resolved_ts }, points) {
    if (resolved_ts === null) this.applyUntil(1n << 64n, points) // no further resolved event comes
    return Object.fromEntries(tables.map((name) => [name, [...(this.database.tables.get(name)?.values() ?? [])]]))
  }
}

let consumer = null

/** The answer to a line of the restart level. A start forgets everything but the directory. */
export function restarted(request, unsupported) {
  const reply = { case: request.case, step: request.step }
  if (request.do === 'start') {
    if (unsupported) return { ...reply, skipped: 'not implemented' }
    consumer = new Consumer(request)
    return { ...reply, offsets: consumer.next }
  }
  const points = new Points(request.stop)
  reply.points = points.labels
  try {
    if (request.do === 'deliver') consumer.deliver(request.messages, points)
    else reply.tables = consumer.rows(request, points)
  } catch (error) {
    if (error instanceof Stopped) reply.stopped = true
    else reply.error = String(error)
  }
  return reply
}
