// Requests to the service.

/** @typedef {import('./types.js').ServiceError} ServiceError */

/** The token, for this page alone: it is stored nowhere. */
let token = ''

/** @param {string} value */
export function setToken(value) {
  token = value.trim()
}

/** An answer with an error. */
export class RequestError extends Error {
  /** @param {number} status @param {ServiceError} error */
  constructor(status, error) {
    super(error.what)
    this.status = status
    this.error = error
  }
}

/**
 * @param {string} path
 * @param {unknown} [body] is sent as JSON, and a file as it is; without it the request is GET.
 * @param {{signal?: AbortSignal, method?: string}} [options]
 * @returns {Promise<Response>}
 */
export async function request(path, body, options = {}) {
  /** @type {Record<string, string>} */
  const headers = {}
  if (body !== undefined) headers['Content-Type'] = body instanceof Blob ? 'application/octet-stream' : 'application/json'
  if (token) headers.Authorization = `Bearer ${token}`
  const method = options.method ?? (body === undefined ? 'GET' : 'POST')
  const content = body === undefined || body instanceof Blob ? body : JSON.stringify(body)
  const answer = await fetch(path, { method, headers, body: content, signal: options.signal })
  if (!answer.ok) {
    /** @type {ServiceError} */
    let error = { type: '', what: `the service answers with status ${answer.status}`, where: '', hint: '' }
    try {
      error = (await answer.json()).error ?? error
    } catch { /* not of the service itself */ }
    throw new RequestError(answer.status, error)
  }
  return answer
}

/**
 * @param {string} path
 * @param {unknown} [body]
 * @param {{signal?: AbortSignal, method?: string}} [options]
 * @returns {Promise<any>}
 */
export async function json(path, body, options) {
  return (await request(path, body, options)).json()
}
