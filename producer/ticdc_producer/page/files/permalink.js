// The state of the page in the fragment of its URL. The browser sends the fragment to no server.

/** @typedef {import('./types.js').State} State */

const LONGEST = 1 << 20
const MOST_BYTES = 8 << 20

/**
 * @param {Uint8Array} bytes @param {CompressionStream | DecompressionStream} stream
 * @param {number} most bytes of the result: a short link can be the beginning of gigabytes.
 */
async function through(bytes, stream, most) {
  const piped = new Blob([/** @type {BlobPart} */ (bytes)]).stream().pipeThrough(/** @type {any} */ (stream))
  const parts = []
  let size = 0
  const reader = piped.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length
    if (size > most) { await reader.cancel(); throw new RangeError('the link is too long') }
    parts.push(part.value)
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

/** @param {Partial<State>} state @returns {Promise<string>} */
export async function fragmentOf(state) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream('deflate-raw'), Infinity)
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return `s=${btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}

/** @param {string} fragment @returns {Promise<Partial<State> | null>} null for another fragment. */
export async function stateOf(fragment) {
  const match = /^#?s=([A-Za-z0-9_-]+)$/.exec(fragment)
  if (match === null || match[1].length > LONGEST) return null
  try {
    const text = atob(match[1].replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
    const state = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'), MOST_BYTES)))
    return checked(state)
  } catch {
    return null
  }
}

/**
 * Keep the members of a state that have the right type: anyone can write a link.
 * @param {any} state
 * @returns {Partial<State> | null}
 */
function checked(state) {
  if (typeof state !== 'object' || state === null) return null
  /** @type {Record<string, any>} */
  const kept = {}
  for (const name of ['sql', 'yaml', 'scenario', 'protocol', 'dispatch', 'view', 'at']) {
    if (typeof state[name] === 'string') kept[name] = state[name]
  }
  if (Number.isInteger(state.partitions) && state.partitions > 0 && state.partitions <= 100) kept.partitions = state.partitions
  if (Array.isArray(state.traps)) kept.traps = state.traps.filter((/** @type {any} */ trap) => typeof trap === 'string')
  if (typeof state.options === 'object' && state.options !== null) {
    kept.options = Object.fromEntries(Object.entries(state.options)
      .filter(([, values]) => typeof values === 'object' && values !== null)
      .map(([protocol, values]) => [protocol, Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'string'))]))
  }
  const selected = state.selected
  if (selected && typeof selected.topic === 'string' && Number.isInteger(selected.partition) && Number.isInteger(selected.offset)) {
    kept.selected = { topic: selected.topic, partition: selected.partition, offset: selected.offset }
  }
  return kept
}
