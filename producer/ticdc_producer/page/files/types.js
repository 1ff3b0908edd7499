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
 *   spans: Span[], count?: number}} Message */
/** @typedef {{topic: string, partition: number, offset: number | null, commit_ts: string | number | null,
 *   location: string, text: string}} EventRef */
/** @typedef {{id: string, severity: string, count: number, statement: string, hint: string,
 *   examples: {events: EventRef[], detail: string}[]}} Finding */
/** @typedef {{ok: boolean, kinds: Record<string, number>, checked: string[], findings: Finding[], summary: string,
 *   not_checked: {id: string, text: string}[], lines: {name: string, text: string, state: string}[],
 *   differences: {name: string, lines: string[]}[]}} Verdict */
/** @typedef {{trap: string, topic: string, partition: number, offset: number | null, until: number | null,
 *   events: number, commit_ts: string | number}} Fault */
/** @typedef {{type: string, what: string, where: string, hint: string}} ServiceError */
/** @typedef {{protocol: string, error?: ServiceError, total: number, messages: Message[],
 *   times: (string | number)[], resolved: boolean, faults: Fault[], ok: boolean | null,
 *   not_injected: Record<string, string>, warnings: string[], discarded: any[], skipped: any[],
 *   verdict: Verdict | null, tables?: Record<string, Image[]>}} Preview */
/** @typedef {Pick<Preview, "verdict" | "ok" | "not_injected" | "warnings" | "faults">} Verified */
/** @typedef {{line: number | null, what: string, excerpt: string, hint: string}} Problem */
/** @typedef {{scenario: string, statements: {line: number, text: string}[], previews: Preview[],
 *   problems?: Problem[], seconds: number}} Answer */
/** @typedef {{name: string, schema: {type?: string, enum?: (string | number)[], minimum?: number,
 *   maximum?: number}, default: any, effect: string, profiles: string[]}} Parameter */
/** @typedef {{name: string, title: string, parameters: Parameter[]}} Protocol */
/** @typedef {{id: string, summary: string, legal: boolean, protocols: string[]}} Trap */
/** @typedef {{protocols: Protocol[], dispatch: string[], traps: Trap[],
 *   invariants: Record<string, string>}} Choices */
/** @typedef {{topic: string, partition: number, offset: number}} Position */
/** @typedef {Position & {event: Event}} Delivery */
/** @typedef {{topic: string, partition: number, messages: number, others?: number, first?: number, last?: number}} Partition */
/** @typedef {{first: number, resolved: boolean, partition: {topic: string, partition: number} | null,
 *   at: Position | null}} Query */
/** @typedef {{first: number, total: number, messages: Message[]}} Page */
/** @typedef {{rows: Image[], total: number, error: string}} TableRows */
/** @typedef {Record<string, TableRows>} Tables */
/** @typedef {{offset: number, ts: bigint, kind: string, label: string, again: boolean}} Point */
/** First offset, lowest and highest commit-ts of rows, offset of a DDL, resolved-ts and its offset, offset of a
 * message that does not decode.
 * @typedef {[number, string | number | null, string | number | null, number | null, string | number | null,
 *   number | null, number | null]} Bucket */
/** @typedef {{topic: string, partition: number, first: number, last: number, points?: Point[],
 *   buckets?: Bucket[]}} Chart */
/** @typedef {{id: string, name: string, protocol: string, total: number, left: number, partitions: Partition[],
 *   times: (string | number)[], resolved: boolean, tables: [string, string][]}} Opened */
/** Rows, and at each time of each table: the number of its rows, an error, and the numbers of the first rows.
 * @typedef {{times: (string | number)[], resolved: boolean, note: string, rows: Image[],
 *   at: Record<string, [number, string, number[]][]>}} ReportTables */
/** @typedef {{topic: string, partition: number, first: number, last: number, messages: number, size: number,
 *   rows: number, ddls: number, resolved: number, errors: number}} PartitionCount */
/** @typedef {{name: string, protocol: string, created: string, source: string, lines: number, verified: Verified,
 *   invariants: Record<string, string>, messages: Message[], total: number, charts: Chart[],
 *   partitions: PartitionCount[], more_partitions: number, sizes: [number, number][], tables: ReportTables}} Report */
/** A stream that the views show; `finds` is whether rows are found by their handle key in its tables, `names`.
 * @typedef {{total: number, partitions: Partition[], times: string[], resolved: boolean, finds: boolean, note: string, noteOfTables: string,
 *   names: [string, string][], page: (query: Query) => Promise<Page>,
 *   message: (position: Position) => Promise<Message | null>, has: (position: Position) => boolean, rows: () => {name: string, label: string}[],
 *   row: (name: string) => Promise<{deliveries: Delivery[], more: boolean}>, charts: () => Promise<Chart[]>,
 *   tables: (at: string) => Promise<Tables>}} Stream */
/** @typedef {{sql?: string, yaml?: string, scenario?: string, protocol: string, partitions: number,
 *   dispatch: string, options: Record<string, Record<string, string>>, traps: string[], view: string,
 *   at: string, selected: Position | null}} State */

export {}
