// Types of the service's answers. Long numbers, such as a commit-ts, are texts.

/** @typedef {{text?: string, b64?: string, size: number}} Content */
/** @typedef {string | null | {b64?: string, text?: string, length?: number}} Cell */
/** @typedef {Record<string, Cell>} Image */
/** @typedef {{part: "key" | "value", start: number, end: number, name: string, event: number,
 *   image: string, column: string}} Span */
/** @typedef {{index: number, kind: string, commit_ts?: string | number, schema?: string, table?: string,
 *   op?: string, columns?: [string, string, number][], before?: Image, after?: Image, query?: Cell,
 *   error?: string, error_byte?: number, error_expected?: string, handle_key_only?: boolean,
 *   lines?: number[], change?: string, rows?: string[]}} Event */
/** @typedef {{topic: string, partition: number, offset: number, timestamp: number, key: Content | null,
 *   value: Content | null, headers: {key: string, value: Content | null}[], events: Event[],
 *   spans: Span[]}} Message */
/** @typedef {{topic: string, partition: number, offset: number | null, index: number | null, kind: string,
 *   commit_ts: string | number | null, schema: string, table: string, op: string, text: string}} EventRef */
/** @typedef {{id: string, severity: string, count: number, statement: string, hint: string,
 *   examples: {events: EventRef[], detail: string}[]}} Finding */
/** @typedef {{ok: boolean, kinds: Record<string, number>, checked: string[], findings: Finding[],
 *   not_checked: Finding[], comparison: any, state: any}} Verdict */
/** @typedef {{trap: string, topic: string, partition: number, offset: number | null, until: number | null,
 *   events: number, commit_ts: string | number}} Fault */
/** @typedef {{type: string, what: string, where: string, hint: string}} ServiceError */
/** @typedef {{protocol: string, error?: ServiceError, total: number, messages: Message[],
 *   times: (string | number)[], resolved: boolean, faults: Fault[], ok: boolean | null,
 *   not_injected: Record<string, string>, warnings: string[], discarded: any[], skipped: any[],
 *   verdict: Verdict | null, tables?: Record<string, Image[]>}} Preview */
/** @typedef {{line: number | null, what: string, excerpt: string, hint: string}} Problem */
/** @typedef {{scenario: string, statements: {line: number, text: string}[], previews: Preview[],
 *   problems?: Problem[], seconds: number}} Answer */
/** @typedef {{name: string, schema: {type?: string, enum?: (string | number)[], minimum?: number,
 *   maximum?: number}, allowed: string, default: any, effect: string, profiles: string[]}} Parameter */
/** @typedef {{name: string, title: string, parameters: Parameter[]}} Protocol */
/** @typedef {{id: string, summary: string, legal: boolean, requires: string, consumer_action: string,
 *   protocols: string[]}} Trap */
/** @typedef {{protocols: Protocol[], dispatch: string[], traps: Trap[],
 *   invariants: Record<string, string>}} Choices */
/** @typedef {{topic: string, partition: number, offset: number}} Position */
/** @typedef {{sql?: string, yaml?: string, scenario?: string, protocol: string, partitions: number,
 *   dispatch: string, options: Record<string, Record<string, string>>, traps: string[], view: string,
 *   at: string, selected: Position | null}} State */

export {}
