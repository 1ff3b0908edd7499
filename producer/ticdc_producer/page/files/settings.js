// The forms: the scenario, and the changefeed with its protocol, options and traps.

import { h, replace, shown } from './dom.js'
import { scenarioKind } from './scenario.js'

/** @typedef {import('./types.js').Choices} Choices */
/** @typedef {import('./types.js').State} State */

/**
 * @param {HTMLElement} container
 * @param {{scenarios: {name: string, source: string, description: string}[], state: State,
 *   onKind: (kind: string) => void, onScenario: (name: string) => void}} input
 */
export function renderSource(container, input) {
  const { state, scenarios } = input
  const kind = scenarioKind(state)
  const kinds = [['sql', 'SQL'], ['yaml', 'YAML'], ['scenario', 'Scenario']]
  const select = h('select', { 'aria-label': 'Name of the scenario', onchange: () => input.onScenario(select.value) },
    scenarios.map(({ name, description }) => h('option', { value: name, title: description, selected: name === state.scenario }, name)))
  replace(container,
    h('div', { class: 'segmented', role: 'group', 'aria-label': 'Kind of scenario' }, kinds.map(([value, text]) => h('button', {
      type: 'button', 'aria-pressed': String(kind === value), 'data-kind': value, onclick: () => input.onKind(value),
    }, text))),
    kind === 'scenario' && select,
    kind === 'scenario' && h('p', { class: 'null small' }, shown(scenarios.find(({ name }) => name === state.scenario)?.description ?? '')))
}

/**
 * @param {HTMLElement} form
 * @param {{choices: Choices, schema: any, state: State, onChange: (part: Partial<State>) => void}} input
 */
export function renderSettings(form, input) {
  const { choices, schema, state } = input
  const open = new Set([...form.querySelectorAll('details[open]')].map((one) => one.id))
  const field = (/** @type {string} */ name) => schema?.properties?.[name] ?? {}
  const number = (/** @type {any} */ part) => part.anyOf?.find((/** @type {any} */ one) => one.type === 'integer') ?? part
  const protocol = choices.protocols.find(({ name }) => name === state.protocol) ?? choices.protocols[0]
  const own = state.options[protocol.name] ?? {}
  const chosen = new Map(state.traps.map((trap) => [trap.split(':')[0], trap]))
  const select = h('select', { id: 'protocol', onchange: () => input.onChange({ protocol: select.value }) },
    choices.protocols.map(({ name, title }) => h('option', { value: name, selected: name === protocol.name }, title)))
  const limits = number(field('partitions'))
  const partitions = h('input', {
    id: 'partitions', type: 'number', min: limits.minimum ?? 1, max: limits.maximum ?? 100, value: state.partitions, required: true,
    oninput: () => { if (partitions.checkValidity()) input.onChange({ partitions: Number(partitions.value) }) },
  })
  const dispatch = h('select', { id: 'dispatch', onchange: () => input.onChange({ dispatch: dispatch.value }) },
    h('option', { value: '', selected: state.dispatch === '' }, 'of the scenario'),
    choices.dispatch.filter((rule) => rule !== 'columns').map((rule) => h('option', { value: rule, selected: rule === state.dispatch }, rule)))
  /** @param {import('./types.js').Parameter} parameter */
  const option = (parameter) => {
    const id = `option-${parameter.name}`
    const value = own[parameter.name] ?? ''
    /** @param {string} text */
    const set = (text) => {
      const options = { ...own }
      if (text === '') delete options[parameter.name]
      else options[parameter.name] = text
      input.onChange({ options: { ...state.options, [protocol.name]: options } })
    }
    const values = parameter.schema.enum?.map(String) ?? (parameter.schema.type === 'boolean' ? ['true', 'false'] : null)
    const usual = parameter.default === null || parameter.default === '' ? 'default' : `default: ${parameter.default}`
    const control = values === null
      ? h('input', { id, value, placeholder: usual, 'aria-describedby': `${id}-help`, type: parameter.schema.type === 'integer' ? 'number' : 'text', min: parameter.schema.minimum, max: parameter.schema.maximum, onchange: (/** @type {globalThis.Event} */ event) => set(/** @type {HTMLInputElement} */ (event.target).value.trim()) })
      : h('select', { id, 'aria-describedby': `${id}-help`, onchange: (/** @type {globalThis.Event} */ event) => set(/** @type {HTMLSelectElement} */ (event.target).value) },
        h('option', { value: '' }, usual), values.map((one) => h('option', { value: one, selected: one === value }, one)))
    return h('div', { class: 'option' }, h('label', { for: id, class: 'mono' }, parameter.name), control, h('p', { class: 'help', id: `${id}-help` }, parameter.effect))
  }
  /** @param {import('./types.js').Trap} trap */
  const trapRow = (trap) => {
    const id = `trap-${trap.id}`
    const setting = chosen.get(trap.id)
    const frequency = setting?.slice(trap.id.length + 1) ?? ''
    const box = h('input', { type: 'checkbox', id, checked: setting !== undefined, onchange: () => set(box.checked ? trap.id : null) })
    /** @param {string | null} value */
    const set = (value) => input.onChange({ traps: [...state.traps.filter((one) => one.split(':')[0] !== trap.id), ...(value === null ? [] : [value])] })
    const rate = h('input', { class: 'rate', 'aria-label': `Frequency of ${trap.id}`, placeholder: 'rate=0.1', value: frequency, onchange: () => set(rate.value.trim() ? `${trap.id}:${rate.value.trim()}` : trap.id) })
    return h('div', { class: 'trap' }, box, h('label', { for: id }, h('b', { class: 'mono' }, trap.id), !trap.legal && h('span', { class: 'tag error' }, 'illegal'), h('span', { class: 'help' }, trap.summary)), setting !== undefined && rate)
  }
  const profile = own.profile ?? 'classic'
  const parameters = protocol.parameters.filter(({ profiles }) => !profiles.length || profiles.includes(profile))
  const traps = choices.traps.filter((trap) => trap.protocols.includes(protocol.name))
  const set = Object.keys(own).length
  replace(form,
    h('div', { class: 'fields' },
      h('div', {}, h('label', { for: 'protocol' }, 'Protocol'), select),
      h('div', {}, h('label', { for: 'partitions', title: field('partitions').description }, 'Partitions'), partitions),
      h('div', {}, h('label', { for: 'dispatch', title: field('dispatch').description }, 'Partition rule'), dispatch)),
    h('details', { id: 'options', open: open.has('options') }, h('summary', {}, `Options of ${protocol.title}`, set > 0 && h('span', { class: 'tag' }, set)), parameters.map(option)),
    h('details', { id: 'traps', open: open.has('traps') }, h('summary', {}, 'Traps', state.traps.length > 0 && h('span', { class: 'tag' }, state.traps.length)),
      h('p', { class: 'help' }, 'Situations that make consumers fail. TiCDC never does those that are illegal: verify must find them.'), traps.map(trapRow)))
}
