// The bytes of a key or value: as text, as hex, or as folded JSON. Named ranges can be highlighted.

import { h, plain, shown } from './dom.js'

/** @typedef {import('./types.js').Content} Content */
/** @typedef {import('./types.js').Span} Span */

/** @param {Content} content */
export function bytesOf(content) {
  if (content.text !== undefined) return new TextEncoder().encode(content.text)
  return Uint8Array.from(atob(content.b64 ?? ''), (character) => character.charCodeAt(0))
}

/** @param {Uint8Array} bytes Whether they are better read as hex: most text has few control characters. */
export function isBinary(bytes) {
  const head = bytes.subarray(0, 512)
  const text = new TextDecoder().decode(head)
  const unreadable = text.match(/[\u0000-\u0008\u000e-\u001f\ufffd]/g)?.length ?? 0
  return unreadable > head.length / 6
}

/** @param {Span} span */
export function spanKey(span) {
  return `${span.event}/${span.image}/${span.column || span.name}`
}

/**
 * Divide bytes at the ends of the spans.
 * @param {number} length @param {Span[]} spans
 * @returns {{start: number, end: number, span: Span | null}[]}
 */
function segments(length, spans) {
  const parts = []
  let position = 0
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    if (span.start < position || span.end > length) continue
    if (span.start > position) parts.push({ start: position, end: span.start, span: null })
    parts.push({ start: span.start, end: span.end, span })
    position = span.end
  }
  if (position < length) parts.push({ start: position, end: length, span: null })
  return parts
}

/** @param {Span | null} span @param {(Node | string)[]} content */
function part(span, content) {
  if (span === null) return content
  return [h('span', { class: 'range', 'data-span': spanKey(span), title: `${plain(span.name)}: bytes ${span.start} to ${span.end}` }, content)]
}

/** @param {Uint8Array} bytes @param {Span[]} spans */
export function textView(bytes, spans) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })  // which keeps it
  return h('pre', { class: 'raw text', tabindex: '0' }, segments(bytes.length, spans).flatMap(
    ({ start, end, span }) => part(span, shown(decoder.decode(bytes.subarray(start, end))))))
}

const ROW = 16
const MOST_ROWS = 512

/** @param {Uint8Array} bytes @param {Span[]} spans */
export function hexView(bytes, spans) {
  const parts = segments(bytes.length, spans)
  const rows = []
  const count = Math.min(Math.ceil(bytes.length / ROW), MOST_ROWS)
  let first = 0
  for (let row = 0; row < count; row++) {
    const start = row * ROW
    const end = Math.min(start + ROW, bytes.length)
    while (first < parts.length && parts[first].end <= start) first++
    const hex = []
    const text = []
    for (let index = first; index < parts.length && parts[index].start < end; index++) {
      const { span } = parts[index]
      const piece = bytes.subarray(Math.max(start, parts[index].start), Math.min(end, parts[index].end))
      hex.push(...part(span, [Array.from(piece, (byte) => byte.toString(16).padStart(2, '0')).join(' ')]), ' ')
      text.push(...part(span, [Array.from(piece, (byte) => byte > 31 && byte < 127 ? String.fromCharCode(byte) : '·').join('')]))
    }
    rows.push(h('div', {},
      h('span', { class: 'address' }, start.toString(16).padStart(4, '0')),
      h('span', { class: 'hex' }, hex), h('span', { class: 'ascii' }, text)))
  }
  const rest = bytes.length - count * ROW
  return h('pre', { class: 'raw hexdump', tabindex: '0' }, rows, rest > 0 && h('div', { class: 'null' }, `… ${rest} more bytes`))
}

/** @typedef {{kind: "object", members: [string, Tree][]} | {kind: "array", items: Tree[]} | {kind: "scalar", raw: string}} Tree */

const MOST_DEPTH = 100
const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|([^\s{}[\],:"]+))/y

/**
 * Parse JSON; numbers keep their digits, which JavaScript's own numbers would round.
 * @param {string} text
 * @returns {Tree | null} null for what is not JSON.
 */
export function parseTree(text) {
  TOKEN.lastIndex = 0
  const next = () => {
    const match = TOKEN.exec(text)
    if (match === null) throw new SyntaxError('not JSON')
    return match[1] ?? match[2] ?? match[3]
  }
  /** @param {string} token @param {number} depth @returns {Tree} */
  const value = (token, depth) => {
    if (depth > MOST_DEPTH) throw new SyntaxError('too deep')
    if (token === '{') {
      /** @type {[string, Tree][]} */
      const members = []
      for (let name = next(); name !== '}'; name = next()) {
        if (name === ',') continue
        if (name[0] !== '"' || next() !== ':') throw new SyntaxError('not JSON')
        members.push([JSON.parse(name), value(next(), depth + 1)])
      }
      return { kind: 'object', members }
    }
    if (token === '[') {
      /** @type {Tree[]} */
      const items = []
      for (let item = next(); item !== ']'; item = next()) if (item !== ',') items.push(value(item, depth + 1))
      return { kind: 'array', items }
    }
    JSON.parse(token)
    return { kind: 'scalar', raw: token }
  }
  try {
    const tree = value(next(), 0)
    return /^\s*$/.test(text.slice(TOKEN.lastIndex)) ? tree : null
  } catch {
    return null
  }
}

const MOST_NODES = 3000

/** @param {Tree} tree */
export function treeView(tree) {
  let left = MOST_NODES
  /** @param {string | null} name @param {Tree} node @param {number} depth @returns {Node} */
  const render = (name, node, depth) => {
    left--
    const label = name === null ? [] : [h('span', { class: 'name' }, shown(name)), ': ']
    if (left < 0) return h('div', { class: 'null' }, '…')
    if (node.kind === 'scalar') {
      const kind = node.raw[0] === '"' ? 'string' : 'number'
      return h('div', {}, label, h('span', { class: kind }, shown(node.raw)))
    }
    const children = node.kind === 'object'
      ? node.members.map(([key, child]) => () => render(key, child, depth + 1))
      : node.items.map((child, index) => () => render(String(index), child, depth + 1))
    const size = node.kind === 'object' ? `{${children.length}}` : `[${children.length}]`
    if (!children.length) return h('div', {}, label, node.kind === 'object' ? '{}' : '[]')
    return h('details', { open: depth < 3 && children.length <= 50 },
      h('summary', {}, label, h('span', { class: 'null' }, size)),
      children.slice(0, 500).map((child) => child()))
  }
  return h('div', { class: 'raw tree', tabindex: '0' }, render(null, tree, 0))
}

/** The form that was chosen last, by title. It stays when messages are shown again, or others. */
const chosen = new Map()

/**
 * Show a key or value, with a choice of its forms.
 * @param {string} title @param {Content | null} content @param {Span[]} spans
 */
export function rawPanel(title, content, spans) {
  if (content === null) return h('section', { class: 'bytes' }, h('h4', {}, title, h('span', { class: 'null' }, ' null')))
  const bytes = bytesOf(content)
  const cut = content.size > bytes.length
  const binary = isBinary(bytes)
  const body = h('div', {})
  const tree = () => content.text === undefined || cut ? null : parseTree(content.text)
  /** @type {Record<string, () => Node>} */
  const forms = {
    text: () => textView(bytes, spans),
    hex: () => hexView(bytes, spans),
    folded: () => { const parsed = tree(); return parsed === null ? textView(bytes, spans) : treeView(parsed) },
  }
  const names = content.text !== undefined && /^\s*[{[]/.test(content.text) ? ['text', 'folded', 'hex'] : ['text', 'hex']
  const buttons = names.map((name) => h('button', {
    type: 'button', 'data-form': name, onclick: () => { chosen.set(title, name); show(name) },
  }, name))
  /** @param {string} name */
  function show(name) {
    body.replaceChildren(forms[name]())
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.form === name))
  }
  const form = chosen.get(title)
  show(names.includes(form) ? form : binary ? 'hex' : 'text')
  return h('section', { class: 'bytes' },
    h('h4', {}, title, h('span', { class: 'null' }, ` ${content.size} bytes${cut ? `, the first ${bytes.length} are shown` : ''}`),
      bytes.length > 0 && h('span', { class: 'forms', role: 'group', 'aria-label': `Form of the ${title}` }, buttons)),
    bytes.length ? body : h('p', { class: 'null' }, 'empty'))
}
