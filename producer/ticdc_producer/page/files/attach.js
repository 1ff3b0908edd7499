// The choice of a stream to open: one that the service was started with, or a file of messages.

import { json } from './api.js'
import { byId, h, replace, shown } from './dom.js'
import { ServedStream } from './stream.js'

/** @typedef {import('./types.js').Opened} Opened */

const MOST_BYTES = 256 << 20

/**
 * @param {import('./types.js').Protocol[]} protocols
 * @param {(opened: Opened, stream: ServedStream) => void} onOpened
 * @param {(error: unknown) => void} onError
 */
export async function openStreams(protocols, onOpened, onError) {
  const dialog = /** @type {HTMLDialogElement} */ (byId('dialog'))
  /** @type {{name: string, kind: string}[]} */
  let names = []
  try {
    names = await json('/v1/attachments')
  } catch (error) {
    onError(error)
    return
  }
  const note = h('p', { role: 'status', id: 'open-status' })
  const protocol = h('select', { id: 'open-protocol' }, h('option', { value: '' }, 'detect'),
    protocols.map(({ name, title }) => h('option', { value: name }, title)))
  /** @param {string} name @param {() => Promise<Opened>} request */
  const open = async (name, request) => {
    for (const button of dialog.querySelectorAll('button, input, select')) button.setAttribute('disabled', '')
    replace(note, 'reading ', shown(name), ' …')
    try {
      const opened = await request()
      dialog.close()
      replace(dialog)
      onOpened(opened, new ServedStream(opened))
    } catch (error) {
      const where = /** @type {any} */ (error)?.error
      replace(note, h('span', { class: 'error' }, shown(error instanceof Error ? error.message : String(error))),
        where?.hint ? h('span', { class: 'null' }, ' ', shown(where.hint)) : null)
    }
    for (const button of dialog.querySelectorAll('button, input, select')) button.removeAttribute('disabled')
  }
  const file = h('input', { type: 'file', id: 'open-file', onchange: () => {
    const chosen = file.files?.[0]
    if (chosen === undefined) return
    if (chosen.size > MOST_BYTES) { replace(note, h('span', { class: 'error' }, `the file has more than ${MOST_BYTES >> 20} MiB: use ticdc-producer verify`)); return }
    void open(chosen.name, () => json(`/v1/posted-streams?${new URLSearchParams({ name: chosen.name, protocol: protocol.value })}`, chosen))
  } })
  replace(dialog,
    h('header', {}, h('h2', { id: 'dialog-title' }, 'Open a stream'), h('button', { type: 'button', 'aria-label': 'Close', onclick: () => dialog.close() }, '×')),
    h('div', { class: 'open' },
      h('p', {}, h('label', { for: 'open-protocol' }, 'Protocol '), protocol),
      h('h3', {}, 'A file'),
      h('p', { class: 'null' }, 'Messages, as kcat -J or Kafka’s console consumer prints them; or an archive of a golden folder (.zip, .tar.gz), which is compared with its expected events and rows.'),
      h('p', {}, h('label', { for: 'open-file', class: 'skip' }, 'File of messages, or archive of a golden folder'), file),
      h('h3', {}, 'A stream of the service'),
      names.length
        ? h('ul', { class: 'attachments' }, names.map(({ name, kind }) => h('li', {},
          h('button', { type: 'button', 'data-attachment': name, onclick: () => open(name, () => json('/v1/streams', { attachment: name, protocol: protocol.value })) }, shown(name)),
          h('span', { class: 'null' }, ` ${kind}`))))
        : h('p', { class: 'null' }, 'There is none: start the service with ', h('code', {}, '--attach NAME=SOURCE'), ', a sink URI, a folder or a file.')),
    note)
  dialog.showModal()
}
