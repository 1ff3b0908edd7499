// The scenario of a state: its kind, its text or name in a request, and the name of its file.

/** @typedef {import('./types.js').State} State */

/** @param {string} name @returns {"sql" | "yaml"} The language of a scenario with this name; shipped ones are YAML. */
export function languageOf(name) {
  return name.endsWith('.sql') ? 'sql' : 'yaml'
}

/** @param {State} state @returns {"sql" | "yaml" | "scenario"} */
export function scenarioKind(state) {
  if (state.scenario !== undefined) return 'scenario'
  return state.yaml !== undefined ? 'yaml' : 'sql'
}

/** @param {State} state @returns {{scenario?: string, sql?: string, yaml?: string}} Its part of a request. */
export function scenarioSource(state) {
  if (state.scenario !== undefined) return { scenario: state.scenario }
  return state.yaml !== undefined ? { yaml: state.yaml } : { sql: state.sql ?? '' }
}

/** @param {State} state The name of a file with the scenario's text. */
export function scenarioFile(state) {
  if (state.scenario === undefined) return `scenario.${scenarioKind(state)}`
  return /\.(?:sql|ya?ml)$/.test(state.scenario) ? state.scenario : `${state.scenario}.yaml`
}

/** @param {State} state The name by which commands and tests call it. */
export function scenarioName(state) {
  return state.scenario ?? scenarioFile(state)
}
