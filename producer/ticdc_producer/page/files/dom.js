// Elements are built from text nodes alone, so that no text from a topic becomes markup.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** @typedef {string | number | Node | null | undefined | false} Child */

/**
 * Create an element.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, any>} [attributes] `on…` are listeners; true and false set and omit an attribute.
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name)
  setAttributes(element, attributes)
  element.append(...nodes(children))
  return element
}

/**
 * Create an SVG element.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(name, attributes = {}, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS('http://www.w3.org/2000/svg', name))
  setAttributes(element, attributes)
  element.append(...nodes(children))
  return element
}

/** @param {Element} element @param {Record<string, any>} attributes */
function setAttributes(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else if (value === true) element.setAttribute(key, '')
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value))
  }
}

/** @param {(Child | Child[])[]} children @returns {(Node | string)[]} */
function nodes(children) {
  /** @type {(Node | string)[]} */
  const flat = []
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue
    flat.push(child instanceof Node ? child : String(child))
  }
  return flat
}

/**
 * Return text for display: characters that cannot be seen, or that change the direction, are visible.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function shown(text) {
  const parts = []
  let end = 0
  for (const match of text.matchAll(HIDDEN)) {
    const code = match[0].charCodeAt(0).toString(16).toUpperCase()
    const name = code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
    parts.push(text.slice(end, match.index), h('span', { class: 'escape' }, name))
    end = match.index + 1
  }
  parts.push(text.slice(end))
  return parts.filter((part) => part !== '')
}

/**
 * Return text without characters that cannot be seen, for titles and labels.
 * @param {string} text
 */
export function plain(text) {
  return text.replace(HIDDEN, '\u00b7')
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id))
}

/** @param {Element} element @param {...(Child | Child[])} children */
export function replace(element, ...children) {
  element.replaceChildren(...nodes(children))
}

/**
 * A message for a view that has nothing to show: it says how to fill it.
 * @param {string} title
 * @param {...(Child | Child[])} text
 */
export function empty(title, ...text) {
  return h('div', { class: 'empty' }, h('h3', {}, title), h('p', {}, ...text))
}

/** @param {import('./types.js').Cell | undefined} cell @returns {(Node | string)[]} */
export function cellNodes(cell) {
  if (cell === undefined) return [h('span', { class: 'null' }, 'absent')]
  if (cell === null) return [h('span', { class: 'null' }, 'NULL')]
  if (typeof cell === 'string') return shown(cell)
  const text = cell.b64 === undefined ? shown(cell.text ?? '') : [h('span', { class: 'escape' }, 'b64 '), cell.b64]
  const cut = cell.length === undefined ? [] : [h('span', { class: 'null' }, ` … ${cell.length} characters`)]
  return [...text, ...cut]
}

/** @param {import('./types.js').Cell | undefined} cell */
export function cellText(cell) {
  if (cell === undefined) return ''
  if (cell === null) return 'NULL'
  return typeof cell === 'string' ? cell : (cell.b64 ?? cell.text ?? '')
}

/** @param {import('./types.js').Cell | undefined} one @param {import('./types.js').Cell | undefined} other */
export function sameCell(one, other) {
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * Return the time of a TSO.
 * @param {string | number | null | undefined} ts
 */
export function timeOf(ts) {
  if (!ts) return ''
  const date = new Date(Number(BigInt(ts) >> 18n))
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('T', ' ').slice(0, 23)
}

/**
 * Let arrow keys move the focus between the elements that match.
 * @param {HTMLElement} container
 * @param {string} selector
 * @param {(element: HTMLElement) => void} [onFocus]
 */
export function arrowKeys(container, selector, onFocus) {
  container.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key]
    const all = /** @type {HTMLElement[]} */ ([...container.querySelectorAll(selector)])
    const now = all.indexOf(/** @type {HTMLElement} */ (document.activeElement))
    if (now < 0 || !all.length) return
    let next = step === undefined ? -1 : Math.min(all.length - 1, Math.max(0, now + step))
    if (event.key === 'Home') next = 0
    if (event.key === 'End') next = all.length - 1
    if (next < 0) return
    event.preventDefault()
    for (const [number, element] of all.entries()) element.tabIndex = number === next ? 0 : -1
    all[next].focus()
    onFocus?.(all[next])
  })
}
