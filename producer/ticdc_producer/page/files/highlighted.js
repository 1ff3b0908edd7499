// The text of a scenario in CodeMirror. Its style sheets are constructed, which a strict policy allows in a shadow root alone.

import { Decoration, EditorState, EditorView, GutterMarker, HighlightStyle, MySQL, RangeSet, StateEffect, StateField, defaultKeymap, highlightSpecialChars, history, historyKeymap, keymap, lineNumberMarkers, lineNumbers, search, searchKeymap, syntaxHighlighting, tags, yamlLanguage } from './codemirror.js'
import { byId, h, plain } from './dom.js'

/** @typedef {import('./editor.js').Marks} Marks */

const LANGUAGES = { sql: MySQL.language, yaml: yamlLanguage }

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.typeName], color: 'var(--ddl)' },
  { tag: tags.string, color: 'var(--insert)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--update)' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: tags.comment, color: 'var(--dim)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--error)' },
])

const THEME = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { font: '12.5px/19px var(--mono)' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)', tabSize: '2' },
  '.cm-line': { padding: '0 8px' },
  '.cm-gutters': { background: 'var(--soft)', color: 'var(--dim)', border: '0', minWidth: '42px', justifyContent: 'flex-end' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 8px 0 0', minWidth: '39px', borderLeft: '3px solid transparent' },
  '.cm-gutterElement.problem': { color: 'var(--error)', fontWeight: '700', borderColor: 'var(--error)', background: 'var(--old)' },
  '.cm-gutterElement.cause': { color: 'var(--accent)', fontWeight: '700', borderColor: 'var(--accent)' },
  '.cm-line.problem': { background: 'var(--old)' },
  '.cm-line.cause': { background: 'var(--range)' },
  '.cm-specialChar': { color: 'var(--ddl)' },
  '.cm-searchMatch': { background: 'var(--lit)' },
  '.cm-searchMatch-selected': { background: 'var(--lit)', outline: '1px solid var(--accent)' },
  '.cm-panels': { background: 'var(--panel)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-textfield, .cm-button': { background: 'var(--page)', color: 'var(--text)', border: '1px solid var(--line)', borderRadius: '5px' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text)' },
  '.cm-panel :focus-visible': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
})

class LineMark extends GutterMarker {
  /** @param {"problem" | "cause"} kind */
  constructor(kind) {
    super()
    this.elementClass = kind
  }
}

const MARKERS = { problem: new LineMark('problem'), cause: new LineMark('cause') }
/** @type {import('./codemirror.js').StateEffectType<Marks>} */
const marked = StateEffect.define()
const MARKS = StateField.define({
  create: () => ({ lines: Decoration.none, numbers: /** @type {RangeSet<GutterMarker>} */ (RangeSet.empty) }),
  update({ lines, numbers }, { changes, effects, newDoc }) {
    const marks = effects.find((effect) => effect.is(marked))?.value
    if (marks === undefined) return { lines: lines.map(changes), numbers: numbers.map(changes) }
    const within = [...marks].filter(([line]) => line <= newDoc.lines).sort(([one], [other]) => one - other)
    const starts = within.map(([line, mark]) => ({ ...mark, from: newDoc.line(line).from }))
    return {
      lines: Decoration.set(starts.map(({ kind, text, from }) => Decoration.line({ class: kind, attributes: { title: plain(text) } }).range(from))),
      numbers: RangeSet.of(starts.map(({ kind, from }) => MARKERS[kind].range(from))),
    }
  },
  provide: (field) => [
    EditorView.decorations.from(field, ({ lines }) => lines),
    lineNumberMarkers.from(field, ({ numbers }) => numbers),
  ],
})

export class HighlightedText {
  /** @param {(text: string) => void} onInput */
  constructor(onInput) {
    this.element = h('div', { class: 'highlighted' })
    this.view = new EditorView({ parent: this.element.attachShadow({ mode: 'open' }) })
    // Tab is not bound: it leaves the editor.
    this.extensions = [
      lineNumbers(), history(), search({ top: true }), highlightSpecialChars(), MARKS, syntaxHighlighting(COLOURS), THEME,
      keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap]),
      EditorView.contentAttributes.of({ 'aria-label': 'Scenario' }),
      EditorView.updateListener.of(({ docChanged, state }) => { if (docChanged) onInput(state.doc.toString()) }),
    ]
  }

  get focused() {
    return this.view.hasFocus
  }

  /** First and last offset of the selection. @type {[number, number]} */
  get range() {
    const { from, to } = this.view.state.selection.main
    return [from, to]
  }

  set range([anchor, head]) {
    this.view.dispatch({ selection: { anchor, head }, scrollIntoView: true })
  }

  focus() {
    this.view.focus()
  }

  /** @param {import('./editor.js').Content} content */
  show({ text, language, readOnly }) {
    this.view.setState(EditorState.create({ doc: text, extensions: [this.extensions, LANGUAGES[language], EditorState.readOnly.of(readOnly)] }))
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.view.dispatch({ effects: marked.of(marks) })
    const { contentDOM } = this.view
    contentDOM.ariaInvalid = String([...marks.values()].some(({ kind }) => kind === 'problem'))
    contentDOM.ariaDescribedByElements = [byId('problems')]
  }

  /** @param {number} line */
  goTo(line) {
    const { from, to } = this.view.state.doc.line(Math.min(line, this.view.state.doc.lines))
    this.focus()
    this.view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
  }
}
