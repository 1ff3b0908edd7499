// What the page uses of CodeMirror. `build.js` makes one file of it.

/** @template Value @typedef {import('@codemirror/state').StateEffectType<Value>} StateEffectType */

export { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
export { MySQL } from '@codemirror/lang-sql'
export { yamlLanguage } from '@codemirror/lang-yaml'
export { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
export { search, searchKeymap } from '@codemirror/search'
export { EditorState, RangeSet, StateEffect, StateField } from '@codemirror/state'
export { Decoration, EditorView, GutterMarker, highlightSpecialChars, keymap, lineNumberMarkers, lineNumbers } from '@codemirror/view'
export { tags } from '@lezer/highlight'
