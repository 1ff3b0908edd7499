// View: the verdict with its findings, and the messages that show them.

import { empty, h, replace, shown } from './dom.js'

/** @typedef {import('./types.js').Verdict} Verdict */
/** @typedef {import('./types.js').Finding} Finding */
/** @typedef {import('./types.js').EventRef} EventRef */

/**
 * @param {HTMLElement} view
 * @param {{verdict: Verdict | null, ok: boolean | null, invariants: Record<string, string>, notInjected: Record<string, string>, warnings: string[],
 *   onOpen: (position: {topic: string, partition: number, offset: number}) => void}} input
 */
export function renderVerdict(view, input) {
  const { verdict } = input
  if (verdict === null) {
    replace(view, empty('Not verified yet', 'The messages are verified after they are shown.'))
    return
  }
  /** @type {string[]} */
  const differences = [...(verdict.comparison?.diff ?? []), ...(verdict.state?.diff ?? [])]
  replace(view,
    h('p', { class: `result ${verdict.ok ? 'ok' : 'bad'}` }, input.ok
      ? (verdict.ok ? 'The stream keeps all guarantees of TiCDC, and has the expected events and rows.' : 'The stream is not correct: these are the findings of the injected traps.')
      : 'The stream breaks guarantees of TiCDC.'),
    Object.entries(input.notInjected).map(([trap, reason]) => h('p', { class: 'warning' }, shown(`${trap} was not injected: ${reason}`))),
    input.warnings.map((warning) => h('p', { class: 'warning' }, shown(warning))),
    verdict.findings.map((finding) => findingView(finding, input.onOpen)),
    differences.length > 0 && h('section', { class: 'finding' }, h('h3', {}, 'Differences from the scenario'), h('pre', { class: 'raw' }, shown(differences.join('\n')))),
    comparisons(verdict),
    h('details', { open: !verdict.findings.length }, h('summary', {}, `${verdict.checked.length} invariants were checked`),
      h('dl', { class: 'invariants' }, verdict.checked.map((id) => [h('dt', { class: 'mono' }, id), h('dd', {}, shown(input.invariants[id] ?? ''))]).flat())),
    verdict.not_checked.length > 0 && h('details', {}, h('summary', {}, `${verdict.not_checked.length} were not checked`),
      verdict.not_checked.map((finding) => h('p', {}, h('b', { class: 'mono' }, finding.id), ' ', shown(finding.hint)))))
}

/** @param {Verdict} verdict */
function comparisons(verdict) {
  const { comparison, state } = verdict
  const parts = []
  if (comparison !== null) parts.push(`${comparison.expected} events are expected, ${comparison.missing} are missing, ${comparison.unexpected} are unexpected.`)
  if (state !== null) parts.push(`Of ${state.tables === 1 ? 'the table' : `the ${state.tables} tables`}, ${state.rows} rows are expected, ${state.missing} are missing, ${state.unexpected} are unexpected.`)
  return parts.map((text) => h('p', {}, text))
}

/** @param {Finding} finding @param {(position: {topic: string, partition: number, offset: number}) => void} onOpen */
function findingView(finding, onOpen) {
  /** @param {EventRef} event */
  const reference = (event) => {
    const { topic, partition, offset } = event
    const where = `${topic}/${partition}${offset === null ? '' : `@${offset}`}`
    const text = shown(` ${event.op || event.kind} ${[event.schema, event.table].filter(Boolean).join('.')} ${event.text}`)
    return h('li', {}, offset === null
      ? shown(where)
      : h('button', { type: 'button', class: 'link mono', onclick: () => onOpen({ topic, partition, offset }) }, shown(where)), text)
  }
  return h('section', { class: `finding ${finding.severity}` },
    h('h3', {}, h('span', { class: 'mono' }, finding.id), h('span', { class: `tag ${finding.severity}` }, finding.severity), h('span', { class: 'null' }, ` ${finding.count} times`)),
    h('p', {}, shown(finding.statement)),
    finding.hint !== '' && h('p', { class: 'null' }, 'Usual cause: ', shown(finding.hint)),
    finding.examples.map((example) => h('div', { class: 'example' }, h('p', {}, shown(example.detail)), h('ul', {}, example.events.map(reference)))))
}
