// A textarea with numbers of lines, and marks at lines with problems or with the statement of a message.

import { h, plain } from './dom.js'

export class Editor {
  /** @param {HTMLElement} container @param {() => void} onInput */
  constructor(container, onInput) {
    this.gutter = h('div', { class: 'gutter', 'aria-hidden': 'true' })
    this.area = h('textarea', {
      id: 'text', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', wrap: 'off',
      'aria-label': 'Scenario', 'aria-describedby': 'problems', rows: 16,
    })
    container.classList.add('editor')
    container.append(this.gutter, this.area)
    this.area.addEventListener('input', () => { this.marks = new Map(); this.number(); onInput() })
    this.area.addEventListener('scroll', () => { this.gutter.scrollTop = this.area.scrollTop })
    /** @type {Map<number, {kind: string, text: string}>} */
    this.marks = new Map()
    this.number()
  }

  get text() {
    return this.area.value
  }

  /** @param {string} text @param {boolean} readOnly */
  setText(text, readOnly) {
    this.area.value = text
    this.area.readOnly = readOnly
    this.marks = new Map()
    this.number()
  }

  /** @param {Map<number, {kind: string, text: string}>} marks by line. */
  mark(marks) {
    this.marks = marks
    this.number()
  }

  number() {
    const lines = Math.min(this.area.value.split('\n').length, 5000)
    const numbers = []
    for (let line = 1; line <= lines; line++) {
      const mark = this.marks.get(line)
      numbers.push(h('div', { 'data-mark': mark?.kind, title: mark ? plain(mark.text) : null }, line))
    }
    this.gutter.replaceChildren(...numbers)
    this.gutter.scrollTop = this.area.scrollTop
  }

  /** @param {number} line */
  goTo(line) {
    const lines = this.area.value.split('\n')
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
    this.area.focus()
    this.area.setSelectionRange(start, start + (lines[line - 1] ?? '').length)
    const height = this.area.scrollHeight / Math.max(1, lines.length)
    this.area.scrollTop = Math.max(0, (line - 4) * height)
  }
}
