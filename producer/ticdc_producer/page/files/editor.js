// The editor of the scenario: a textarea, which CodeMirror replaces when it has loaded, unless plain text is chosen.

import { h, plain } from './dom.js'

/** Marks at lines, by their numbers. @typedef {Map<number, {kind: "problem" | "cause", text: string}>} Marks */
/** @typedef {{text: string, language: "sql" | "yaml", readOnly: boolean}} Content */

const PLAIN = 'plain-text'

export class Editor {
  /** @param {HTMLElement} container @param {() => void} onInput */
  constructor(container, onInput) {
    this.onInput = onInput
    this.area = new PlainText(() => { this.content.text = this.area.text; onInput() })
    this.choice = h('input', { type: 'checkbox', id: 'plain', onchange: () => { store(this.choice.checked); void this.choose() } })
    this.choice.checked = stored()
    this.frame = h('div', { class: 'editor' }, this.area.element)
    container.append(this.frame, h('label', { class: 'plain' }, this.choice, 'Plain text, without colours'))
    /** @type {Content} */
    this.content = { text: '', language: 'sql', readOnly: false }
    /** @type {Marks} */
    this.marks = new Map()
    /** @type {import('./highlighted.js').HighlightedText | null} */
    this.highlighted = null
    requestAnimationFrame(() => setTimeout(() => void this.choose()))  // the page is visible before CodeMirror loads
  }

  get text() {
    return this.content.text
  }

  /** What is displayed. */
  get shown() {
    return this.highlighted !== null && !this.choice.checked ? this.highlighted : this.area
  }

  /** Display what the user has chosen, with the selection and the focus of what was displayed. */
  async choose() {
    if (!this.choice.checked && this.highlighted === null) {
      try {
        const { HighlightedText } = await import('./highlighted.js')
        await this.area.composed()
        this.highlighted ??= new HighlightedText((text) => { this.content.text = text; this.onInput() })
      } catch {
        this.choice.checked = this.choice.disabled = true
      }
    }
    const [before, now] = this.shown === this.area ? [this.highlighted, this.area] : [this.area, this.highlighted]
    if (now === null || now.element.isConnected) return
    const range = before?.range
    const focused = before?.focused
    now.show(this.content)
    now.mark(this.marks)
    this.frame.replaceChildren(now.element)
    if (range !== undefined) now.range = range
    if (focused) now.focus()
  }

  /** @param {Content} content */
  show(content) {
    this.content = { ...content }
    this.shown.show(content)
    this.mark(new Map())
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.marks = marks
    this.shown.mark(marks)
  }

  /** @param {number} line */
  goTo(line) {
    this.shown.goTo(line)
  }
}

/** A textarea with numbers of lines. */
class PlainText {
  /** @param {() => void} onInput */
  constructor(onInput) {
    this.gutter = h('div', { class: 'gutter', 'aria-hidden': 'true' })
    this.area = h('textarea', {
      id: 'text', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', wrap: 'off',
      'aria-label': 'Scenario', 'aria-describedby': 'problems', rows: 16,
    })
    this.element = h('div', { class: 'plaintext' }, this.gutter, this.area)
    this.composing = false
    this.area.addEventListener('compositionstart', () => { this.composing = true })
    this.area.addEventListener('compositionend', () => { this.composing = false })
    this.area.addEventListener('input', () => { this.mark(new Map()); onInput() })
    this.area.addEventListener('scroll', () => { this.gutter.scrollTop = this.area.scrollTop })
    this.mark(new Map())
  }

  get text() {
    return this.area.value
  }

  get focused() {
    return document.activeElement === this.area
  }

  /** First and last offset of the selection. @type {[number, number]} */
  get range() {
    return [this.area.selectionStart, this.area.selectionEnd]
  }

  set range([start, end]) {
    this.area.setSelectionRange(start, end)
  }

  /** Wait until no input method is at work, whose text would be lost. */
  async composed() {
    while (this.composing) await new Promise((resolve) => this.area.addEventListener('compositionend', resolve, { once: true }))
  }

  focus() {
    this.area.focus()
  }

  /** @param {Content} content */
  show({ text, readOnly }) {
    this.area.value = text
    this.area.readOnly = readOnly
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.area.setAttribute('aria-invalid', String([...marks.values()].some(({ kind }) => kind === 'problem')))
    const lines = Math.min(this.text.split('\n').length, 5000)
    const numbers = []
    for (let line = 1; line <= lines; line++) {
      const mark = marks.get(line)
      numbers.push(h('div', { 'data-mark': mark?.kind, title: mark ? plain(mark.text) : null }, line))
    }
    this.gutter.replaceChildren(...numbers)
    this.gutter.scrollTop = this.area.scrollTop
  }

  /** @param {number} line */
  goTo(line) {
    const lines = this.text.split('\n')
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
    this.focus()
    this.range = [start, start + (lines[line - 1] ?? '').length]
    const height = this.area.scrollHeight / Math.max(1, lines.length)
    this.area.scrollTop = Math.max(0, (line - 4) * height)
  }
}

function stored() {
  try {
    return localStorage.getItem(PLAIN) !== null
  } catch {
    return false  // a browser may forbid it
  }
}

/** @param {boolean} isPlain */
function store(isPlain) {
  try {
    if (isPlain) localStorage.setItem(PLAIN, '')
    else localStorage.removeItem(PLAIN)
  } catch { /* the choice is that of this page alone */ }
}
