// View: the verdict with its findings, and the messages that show them.

import { h, replace, shown } from './dom.js'

/** @typedef {import('./types.js').Verdict} Verdict */
/** @typedef {import('./types.js').Finding} Finding */
/** @typedef {import('./types.js').EventRef} EventRef */

/**
 * @param {HTMLElement} view
 * @param {{verified: import('./types.js').Verified, invariants: Record<string, string>, more?: Node[],
 *   has: (position: import('./types.js').Position) => boolean, onOpen: (position: {topic: string, partition: number, offset: number}) => void}} input
 */
export function renderVerdict(view, input) {
  const { verdict, ok, not_injected: notInjected, warnings } = input.verified
  if (verdict === null) return
  const result = ok
    ? (verdict.ok ? 'The stream keeps all guarantees of TiCDC.' : 'The stream is not correct: these are the findings of the injected traps.')
    : verdict.ok ? 'A requested trap was not injected.' : 'The stream is not correct.'
  const gaps = verdict.not_checked.length
  replace(view,
    h('p', { class: `result ${ok ? 'ok' : 'bad'}` }, result, h('span', { class: 'null' }, ' ', verdict.ok ? '' : shown(`${verdict.summary}. `), gaps > 0 && `${gaps} not checked`)),
    Object.entries(notInjected).map(([trap, reason]) => h('p', { class: 'warning' }, shown(`${trap} was not injected: ${reason}`))),
    warnings.map((warning) => h('p', { class: 'warning' }, shown(warning))),
    h('dl', { class: 'invariants checks' }, verdict.lines.map(({ name, text, state }) => [h('dt', {}, name), h('dd', { class: state }, shown(text))]).flat()),
    verdict.findings.map((finding) => findingView(finding, input)),
    verdict.differences.map(differencesView),
    h('details', { open: !verdict.findings.length }, h('summary', {}, verdict.checked.length === 1 ? '1 invariant was checked' : `${verdict.checked.length} invariants were checked`),
      h('dl', { class: 'invariants' }, verdict.checked.map((id) => [h('dt', { class: 'mono' }, id), h('dd', {}, shown(input.invariants[id] ?? ''))]).flat())),
    gaps > 0 && h('details', {}, h('summary', {}, gaps === 1 ? '1 was not checked' : `${gaps} were not checked`),
      verdict.not_checked.map(({ id, text }) => h('p', {}, h('b', { class: 'mono' }, id), ' ', shown(text)))),
    input.more ?? [])
}

/** @param {{name: string, lines: string[]}} part */
function differencesView({ name, lines }) {
  return h('section', { class: 'finding error' }, h('h3', {}, `${name} differ from the expected ones`),
    h('p', { class: 'null' }, '- expected and missing, + found and not expected, ≠ different in its bytes, ~ out of order, ! injected'),
    h('pre', { class: 'raw text' }, shown(lines.join('\n'))))
}

/**
 * @param {Finding} finding
 * @param {{has: (position: import('./types.js').Position) => boolean, onOpen: (position: import('./types.js').Position) => void}} input
 */
function findingView(finding, { has, onOpen }) {
  /** @param {EventRef} event */
  const reference = (event) => {
    const { topic, partition, offset, location } = event
    return h('li', {}, offset === null || !has({ topic, partition, offset })
      ? h('span', { class: 'mono' }, shown(location))
      : h('button', { type: 'button', class: 'link mono', onclick: () => onOpen({ topic, partition, offset }) }, shown(location)), ' ', shown(event.text))
  }
  return h('section', { class: `finding ${finding.severity}` },
    h('h3', {}, h('span', { class: 'mono' }, finding.id), h('span', { class: `tag ${finding.severity}` }, finding.severity), h('span', { class: 'null' }, finding.count === 1 ? ' once' : ` ${finding.count.toLocaleString('en')} times`)),
    h('p', {}, shown(finding.statement)),
    finding.hint !== '' && h('p', { class: 'null' }, 'Usual cause: ', shown(finding.hint)),
    finding.examples.map((example) => h('div', { class: 'example' }, h('p', {}, shown(example.detail)), h('ul', {}, example.events.map(reference)))))
}
