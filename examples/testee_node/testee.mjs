// A testee of `ticdc-producer conformance`: a consumer of Canal-JSON, without packages.
import { Buffer } from 'node:buffer'
import { restarted } from './restart.mjs'

const DDL_TYPES = { CREATE: 3, ERASE: 4, TRUNCATE: 11, RENAME: 14 }
const CLEARS = ['ERASE', 'TRUNCATE']
const OPERATIONS = { INSERT: 'insert', UPDATE: 'update', DELETE: 'delete' }
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function required(object, name) {
  if (object?.[name] === undefined) throw new Error(`no ${name}`)
  return object[name]
}

/** The message; time stamps exceed 2^53, so they become BigInt. */
function parsed(value) {
  const text = utf8.decode(Buffer.from(value ?? '', 'base64'))
  return JSON.parse(text.replace(/("(?:commitTs|watermarkTs)":)(\d+)/g, '$1"$2"'))
}

function bytesOf(text) {
  if (/[^\x00-\xff]/.test(text)) throw new Error('a character of a byte string exceeds a byte')
  const bytes = Buffer.from(text, 'latin1')
  try {
    return utf8.decode(bytes)
  } catch {
    return { b64: bytes.toString('base64') }
  }
}

function image(row, types) {
  if (row === null || typeof row !== 'object') throw new Error('no row')
  const found = Object.create(null)
  for (const [name, text] of Object.entries(row)) {
    const type = required(types, name).split('(')[0]
    found[name] = text !== null && /(blob|binary)$/.test(type) ? bytesOf(text) : text
  }
  return found
}

/** The event of a message, with the columns of its key. */
export function decoded(value) {
  const body = parsed(value)
  const extension = body._tidb ?? {}
  if (body.type === 'TIDB_WATERMARK') {
    return { kind: 'resolved', ts: BigInt(required(extension, 'watermarkTs')), keys: [], fields: {} }
  }
  const ts = extension.commitTs === undefined ? BigInt(required(body, 'es')) << 18n : BigInt(extension.commitTs)
  const fields = { schema: required(body, 'database'), table: required(body, 'table') }
  if (required(body, 'isDdl')) {
    const ddl = { query: required(body, 'sql'), ddl_type: DDL_TYPES[body.type] ?? 0 }
    return { kind: 'ddl', ts, keys: [], clears: CLEARS.includes(body.type), fields: { ...fields, ...ddl } }
  }
  const op = required(OPERATIONS, body.type)
  const types = required(body, 'mysqlType')
  const row = image(required(body, 'data')?.[0], types)
  const before = op === 'insert' ? null : op === 'delete' ? row : image(required(body, 'old')?.[0], types)
  const after = op === 'delete' ? null : row
  const handle_key_only = extension.onlyHandleKey === true
  return { kind: 'row', ts, keys: body.pkNames ?? [], fields: { ...fields, op, before, after, handle_key_only } }
}

/** A change of the key is a delete and an insert: another row may get the old key. */
export function steps(event) {
  const { op, before, after } = event.fields
  if (op !== 'update') return [event]
  const whole = Object.assign(Object.create(null), after, before) // an old image may have changed columns only
  if (keyOf(event, whole) === keyOf(event, after)) return [event]
  return [
    { ...event, fields: { ...event.fields, op: 'delete', before: whole, after: null } },
    { ...event, fields: { ...event.fields, op: 'insert', before: null } },
  ]
}

export function keyOf(event, row) {
  return JSON.stringify([...event.keys].sort().map((name) => row[name]))
}

/** Position of an event among those of its commit-ts: deletes, other rows, DDLs. */
export function rank(event) {
  return event.kind === 'ddl' ? 2 : event.fields.op === 'delete' ? 0 : 1
}

/** The events that arrived; a partition that goes back to an earlier offset delivers its events again. */
function received(messages) {
  const partitions = new Map()
  for (const { topic, partition, offset, value } of messages) {
    const events = partitions.get(`${topic}/${partition}`) ?? []
    partitions.set(`${topic}/${partition}`, events)
    events.length = Math.min(events.length, offset)
    events.push(decoded(value))
  }
  return [...partitions.values()].flat()
}

function tablesOf(request) {
  const until = request.resolved_ts_text && BigInt(request.resolved_ts_text)
  const tables = new Map()
  for (const { name, key, rows } of request.snapshot ?? []) { // the consumer has these from a dump
    tables.set(name, new Map(rows.map((row) => [keyOf({ keys: key }, row), row])))
  }
  const events = received(request.messages).flatMap(steps)
  events.sort((one, other) => (one.ts < other.ts ? -1 : one.ts > other.ts ? 1 : rank(one) - rank(other)))
  for (const event of events) {
    if (event.kind === 'resolved' || (until !== undefined && event.ts > until)) continue
    const { schema, table, before, after } = event.fields
    const name = `${schema}.${table}`
    const rows = tables.get(name) ?? new Map()
    tables.set(name, rows)
    if (event.clears) rows.clear()
    if (before) rows.delete(keyOf(event, { ...after, ...before }))
    if (after) rows.set(keyOf(event, after), after)
  }
  return Object.fromEntries(request.tables.map((name) => [name, [...(tables.get(name)?.values() ?? [])]]))
}

function unsupported(request) {
  const compressed = (request.options?.['large-message-handle-compression'] ?? 'none') !== 'none'
  return request.protocol !== 'canal-json' || compressed || request.claims || request.follows_ddl
}

function answer(request) {
  if (unsupported(request)) return '"skipped":"not implemented"'
  try {
    if (request.level === 'apply') return `"tables":${JSON.stringify(tablesOf(request))}`
    const { kind, ts, fields } = decoded(request.value)
    return `"events":[{"commit_ts":${ts},${JSON.stringify({ kind, ...fields }).slice(1)}]`
  } catch (error) {
    return `"error":${JSON.stringify(String(error))}`
  }
}

let rest = ''
process.stdin.setEncoding('utf8')
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const request = JSON.parse(line)
    if (request.level === 'restart') {
      process.stdout.write(`${JSON.stringify(restarted(request, unsupported(request)))}\n`)
      continue
    }
    process.stdout.write(request.hello ? '{"hello":1}\n' : `{"case":${JSON.stringify(request.case)},${answer(request)}}\n`)
  }
}
