// Fills Kafka topics as TiCDC would, for tests of consumers. It lets a running `ticdc-producer serve` do so;
// TICDC_PRODUCER_SERVER is its URL, TICDC_PRODUCER_TOKEN its token.
import assert from 'node:assert/strict'

const server = process.env.TICDC_PRODUCER_SERVER ?? 'http://127.0.0.1:8642'
const token = process.env.TICDC_PRODUCER_TOKEN

/**
 * Runs a scenario into a topic that only this test uses. The topic is deleted when the test ends.
 *
 * @param t context of the test
 * @param run what is written: scenario or sql, protocol, options, partitions, dispatch, traps, seed
 * @returns bootstrap, name, and assertRows, which takes the consumer's rows by SCHEMA.TABLE
 */
export async function fill(t, run) {
  const made = await request('POST', '/v1/runs?wait=120', run)
  if (made.error) throw new Error(`${made.error.where}: ${made.error.what} (${made.error.hint})`)
  if (!made.topics.length) throw new Error('the run has not ended in time')
  t.after(() => request('DELETE', `/v1/runs/${made.id}`))
  const assertRows = async (tables) => {
    const found = await request('POST', `/v1/runs/${made.id}/comparison`, { tables })
    assert.ok(found.ok, `the rows differ from the expected ones\n${found.differences.join('\n')}`)
  }
  return { bootstrap: made.bootstrap, name: made.topics[0], assertRows }
}

async function request(method, path, body) {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) }
  let answer
  try {
    answer = await fetch(server + path, { method, headers, body: body && JSON.stringify(body) })
  } catch (cause) {
    throw new Error('no service: start `ticdc-producer serve`', { cause })
  }
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text && JSON.parse(text)
}
