// The scenario and its settings as a test, as a file, as a command line, or as a golden folder.

import { json, request } from './api.js'
import { byId, h, replace } from './dom.js'
import { scenarioFile, scenarioName, scenarioSource } from './scenario.js'

/** @typedef {import('./types.js').State} State */

/** @param {State} state */
function dispatchers(state) {
  return state.dispatch === '' ? '' : `changefeed.sink.dispatchers=[{"matcher": ["*.*"], "partition": ${JSON.stringify(state.dispatch)}}]`
}

/** @param {State} state */
function parameters(state) {
  const own = Object.entries(state.options[state.protocol] ?? {})
  return [['protocol', state.protocol], ['partition-num', String(state.partitions)], ...own]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
}

/** @param {string} text A word of a POSIX shell: a name in a link may be any text. */
function shell(text) {
  return /^[\w.][\w./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** @param {string} text A string of Python, Java and Go: they know JSON's escapes. Source files have no halves of characters. */
function quoted(text) {
  return JSON.stringify(wellFormed(text)).replaceAll('\ufeff', '\\ufeff')
}

/** @param {string} text */
function wellFormed(text) {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

/** @param {string} text Lines of a text block of Java, which has neither spaces at ends of lines nor returns. */
function textBlock(text) {
  const escapes = /** @type {Record<string, string>} */ ({ ' ': '\\s', '\t': '\\t', '\f': '\\f', '\r': '\\r' })
  return wellFormed(text).replace(/\n$/, '').replaceAll('\\', '\\\\').replaceAll('"""', '""\\"').replaceAll('\r', '\\r')
    .replace(/[ \t\f]$/gm, (character) => escapes[character])
    .split('\n').map((line) => `      ${line}`).join('\n')
}

/** @param {State} state @returns {Record<string, unknown>} The body of a run. */
export function runOf(state) {
  const options = state.options[state.protocol] ?? {}
  return {
    ...scenarioSource(state), protocol: state.protocol, partitions: state.partitions,
    ...(state.dispatch && { dispatch: state.dispatch }), ...(Object.keys(options).length && { options }),
    ...(state.traps.length && { traps: state.traps }),
  }
}

/** @param {State} state */
export function commandLine(state) {
  const rule = dispatchers(state)
  return ['ticdc-producer run', shell(scenarioName(state)), '--sink-uri', shell(`kafka:///scenario?${parameters(state)}`),
    ...(rule ? ['--set', shell(rule)] : []), ...state.traps.flatMap((trap) => ['--inject', shell(trap)]), '--out golden'].join(' ')
}

/** @param {State} state */
export function pytest(state) {
  const rule = dispatchers(state)
  const marker = [`scenario=${quoted(scenarioName(state))}`, `protocol=${quoted(parameters(state).replace(/^protocol=/, ''))}`,
    ...(state.traps.length ? [`traps=[${state.traps.map(quoted).join(', ')}]`] : []),
    ...(rule ? [`overrides=[${quoted(rule)}]`] : [])]
  return `import pytest

from my_consumer import consume


@pytest.mark.ticdc(
    ${marker.join(',\n    ')},
)
def test_the_consumer_has_the_upstream_rows(ticdc_topic, ticdc_assert_state):
    ticdc_assert_state(consume(ticdc_topic.bootstrap, ticdc_topic.topic))
`
}

/** @param {[string, unknown][]} pairs Map.of ends at ten of them. */
function javaMap(pairs) {
  const parts = pairs.map(([name, value]) => `${quoted(name)}, ${quoted(String(value))}`)
  return pairs.length <= 10 ? `Map.of(${parts.join(', ')})` : `Map.ofEntries(${parts.map((part) => `Map.entry(${part})`).join(', ')})`
}

/** @param {State} state */
export function junit(state) {
  const { scenario, sql, yaml, ...rest } = /** @type {any} */ (runOf(state))
  const source = scenario !== undefined ? `TicdcTopic.ofScenario(${quoted(scenario)})` : sql !== undefined ? 'TicdcTopic.ofSql(SCENARIO)' : 'new TicdcTopic().with("yaml", SCENARIO)'
  const value = (/** @type {any} */ part) => typeof part === 'number' ? String(part)
    : Array.isArray(part) ? `List.of(${part.map(quoted).join(', ')})`
      : typeof part === 'object' ? javaMap(Object.entries(part)) : quoted(part)
  const text = sql ?? yaml
  const constant = text === undefined ? '' : `  private static final String SCENARIO = """
${textBlock(text)}
      """;

`
  return `package orders;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ScenarioTest {
${constant}  @RegisterExtension
  final TicdcTopic topic = ${source}
${Object.entries(rest).map(([name, part]) => `      .with(${quoted(name)}, ${value(part)})`).join('\n')};

  @Test
  void theConsumerHasTheUpstreamRows() throws Exception {
    topic.assertRows(Consumer.consume(topic.bootstrap(), topic.name()));
  }
}
`
}

/** @param {State} state */
export function go(state) {
  const run = /** @type {any} */ (runOf(state))
  const strings = (/** @type {string[]} */ values) => values.map(quoted).join(', ')
  const source = run.sql !== undefined ? `SQL: ${quoted(run.sql)}` : `Scenario: ${quoted(run.scenario ?? 'scenario.yaml')}`
  const parts = [source, `Protocol: ${quoted(run.protocol)}`, `Partitions: ${run.partitions}`,
    ...(run.dispatch ? [`Dispatch: ${quoted(run.dispatch)}`] : []),
    ...(run.options ? [`Options: map[string]string{${Object.entries(run.options).map(([name, one]) => `${quoted(name)}: ${quoted(String(one))}`).join(', ')}}`] : []),
    ...(run.traps ? [`Traps: []string{${strings(run.traps)}}`] : [])]
  const upload = run.yaml === undefined ? '' : `// Upload the scenario first:
// curl -X PUT --data-binary @scenario.yaml -H 'Content-Type: application/yaml' ${location.origin}/v1/scenarios/scenario.yaml
`
  return `package orders

import (
	"context"
	"testing"
	"time"

	"example.com/orders/ticdctest"
)

${upload}func TestTheConsumerHasTheUpstreamRows(t *testing.T) {
	topic := ticdctest.Fill(t, ticdctest.Run{
		${parts.join(',\n\t\t')},
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tables, err := Consume(ctx, topic.Bootstrap, topic.Name)
	if err != nil {
		t.Fatal(err)
	}
	topic.AssertRows(tables.Rows())
}
`
}

/** @param {State} state */
export function node(state) {
  return `import { test } from 'node:test'
import { consume } from './consumer.js'
import { fill } from './ticdc.js'

const run = ${JSON.stringify(runOf(state), null, 2)}

test('the consumer has the upstream rows', async (t) => {
  const topic = await fill(t, run)
  await topic.assertRows(await consume(topic.bootstrap, topic.name))
})
`
}

/** @param {string} name @param {Blob} blob */
function download(name, blob) {
  const url = URL.createObjectURL(blob)
  const link = h('a', { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/**
 * @param {State} state
 * @param {string} text of the scenario.
 * @param {() => Promise<string>} permalink
 */
export function openTakeAway(state, text, permalink) {
  const dialog = /** @type {HTMLDialogElement} */ (byId('dialog'))
  const source = { name: scenarioFile(state), text }
  /** @type {[string, () => string][]} */
  const forms = [['Command', () => commandLine(state)], ['pytest', () => pytest(state)], ['JUnit 5', () => junit(state)],
    ['Go', () => go(state)], ['Node', () => node(state)], [source.name, () => source.text]]
  const output = h('textarea', { class: 'mono', readonly: true, rows: 18, 'aria-label': 'Text to copy' })
  const note = h('p', { class: 'null small', role: 'status' })
  const tabs = forms.map(([name, make]) => h('button', { type: 'button', 'data-take': name, onclick: () => show(name, make) }, name))
  /** @param {string} name @param {() => string} make */
  function show(name, make) {
    output.value = make()
    output.scrollTop = 0
    for (const tab of tabs) tab.setAttribute('aria-pressed', String(tab.dataset.take === name))
    note.textContent = ''
  }
  /** @param {string} value @param {string} what */
  async function copy(value, what) {
    try {
      await navigator.clipboard.writeText(value)
      note.textContent = `${what} is on the clipboard`
    } catch {
      output.value = value
      output.select()
      note.textContent = 'press Ctrl-C to copy'
    }
  }
  const archive = async () => {
    note.textContent = 'running the scenario …'
    try {
      const run = await json('/v1/runs?wait=120', runOf(state))
      if (run.error) throw new Error(run.error.what)
      if (run.status !== 'finished') throw new Error('the run has not ended in time')
      download('golden.zip', await (await request(`/v1/runs/${run.id}/archive`)).blob())
      await request(`/v1/runs/${run.id}`, undefined, { method: 'DELETE' })
      note.textContent = 'golden.zip has the messages, the expected events and the expected rows'
    } catch (error) {
      note.textContent = error instanceof Error ? error.message : String(error)
    }
  }
  replace(dialog,
    h('header', {}, h('h2', { id: 'dialog-title' }, 'Take away'), h('button', { type: 'button', 'aria-label': 'Close', onclick: () => dialog.close() }, '×')),
    h('div', { class: 'segmented', role: 'group', 'aria-label': 'Form' }, tabs),
    output,
    h('div', { class: 'bar' },
      h('button', { type: 'button', class: 'primary', onclick: () => copy(output.value, 'The text') }, 'Copy'),
      h('button', { type: 'button', onclick: () => download(source.name, new Blob([source.text])) }, `Save ${source.name}`),
      h('button', { type: 'button', onclick: archive }, 'Save the golden folder'),
      h('button', { type: 'button', onclick: async () => copy(await permalink(), 'The link') }, 'Copy link')),
    note)
  show(...forms[0])
  dialog.showModal()
}
