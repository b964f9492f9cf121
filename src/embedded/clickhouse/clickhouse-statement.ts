/** Parses an HTTP request to ClickHouse: the statement, the location of its data, and its settings. */

/**
 * An INSERT that contains its data. `head` and `tail` are the parts of the statement before and after the source of the
 * data.
 */
export interface Insert {
  head: string
  tail: string
  /** The data in the statement's text, unchanged. The body follows it. */
  data: Buffer
}

const QUOTED = String.raw`'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|\`(?:[^\`\\]|\\.)*\``
const COMMENTS = String.raw`(?:\s|--[^\n]*\n|/\*[\s\S]*?\*/)*`
const NAME = String.raw`(?:[A-Za-z_]\w*|"(?:[^"\\]|\\.)*"|\`(?:[^\`\\]|\\.)*\`)`
const COLUMNS = String.raw`\((?:${QUOTED}|[^()'"\`]|\([^()]*\))*\)`
const INSERT = new RegExp(
  String.raw`^${COMMENTS}(?<head>INSERT\s+INTO\s+(?:TABLE\s+)?${NAME}(?:\.${NAME})?\s*(?:${COLUMNS})?)` +
    String.raw`\s*(?<settings>SETTINGS\s(?:${QUOTED}|[^'"\`])*?)?(?:\bFORMAT\s+(?<format>\w+)|\bVALUES\b)\s?(?<data>[\s\S]*)$`,
  'i',
)

const WRITING_KEYWORDS = 'INSERT|UPDATE|DELETE|ALTER|CREATE|REPLACE|RENAME|EXCHANGE|ATTACH|OPTIMIZE'
const NEEDS_DISK_SPACE = new RegExp(String.raw`^${COMMENTS}(?:${WRITING_KEYWORDS})\b`, 'i')

/** Bytes to decode first, instead of megabytes of data: the statement before the data is rarely longer. */
const LIKELY_HEAD_BYTES = 16 * 1024

/** Parses an INSERT; undefined for any other statement, including INSERT … SELECT. */
export function readInsert(statement: Buffer): Insert | undefined {
  const head = statement.subarray(0, LIKELY_HEAD_BYTES)
  return readHead(head, statement) ?? (head.length < statement.length ? readHead(statement, statement) : undefined)
}

/** Returns whether a statement needs disk space. DROP and TRUNCATE free space. */
export const needsDiskSpace = (statement: Buffer): boolean =>
  NEEDS_DISK_SPACE.test(statement.subarray(0, LIKELY_HEAD_BYTES).toString())

/** `head` may end within the data, but not directly before it, because the name of the format could be cut off. */
function readHead(head: Buffer, statement: Buffer): Insert | undefined {
  const text = head.toString()
  const parts = INSERT.exec(text)?.groups
  if (!parts?.['data'] && head.length < statement.length) return undefined
  if (!parts || /\b(?:SELECT|INFILE)\b|;/i.test(parts['settings'] ?? '')) return undefined
  const tail = `${parts['settings'] ?? ''} FORMAT ${parts['format'] ?? 'Values'}`
  const before = text.slice(0, text.length - (parts['data'] ?? '').length)
  return { head: parts['head'] ?? '', tail, data: statement.subarray(Buffer.byteLength(before)) }
}

/** Parameters of the HTTP interface that are not ClickHouse settings. */
export const NOT_SETTINGS = new Set([
  'query',
  'database',
  'default_format',
  'user',
  'password',
  'query_id',
  'session_id',
  'session_timeout',
  'session_check',
  'close_session',
  'quota_key',
  'role',
  'stacktrace',
  'buffer_size',
  'wait_end_of_query',
  'send_progress_in_http_headers',
  'enable_http_compression',
  'add_http_cors_header',
  'compress',
  'decompress',
])

/** Maximum size of a result, which is collected in memory before it is sent. */
const MAX_RESULT_BYTES = '1073741824'
/** Makes each request one block, so that it is stored completely or not at all. */
const ONE_BLOCK = {
  max_insert_block_size: '1000000000',
  min_insert_block_size_rows: '1000000000',
  min_insert_block_size_bytes: '100000000000',
}

/**
 * Returns the statements that prepare the request's own connection: database, settings, and `param_*` values. These are
 * passed on unchanged, because ClickHouse reads them with the same escapes (as in tab-separated text).
 */
export function sessionStatements(method: string | undefined, query: URLSearchParams, database: string): string[] {
  const given = [...query].filter(([name]) => !NOT_SETTINGS.has(name))
  const settings = new Map([
    ...Object.entries({ max_result_bytes: MAX_RESULT_BYTES, ...ONE_BLOCK }),
    ...given,
    // Like a ClickHouse server: GET only reads, but may change settings.
    ...(method === 'GET' ? [['readonly', '2'] as const] : []),
  ])
  const list = [...settings].map(([name, value]) => `${settingName(name)} = ${literal(value)}`)
  return [`USE \`${database.replaceAll(/[\\`]/g, String.raw`\$&`)}\``, `SET ${list.join(', ')}`]
}

/** Like a ClickHouse server: true only for a read-only statement whose caller wants it to end with the connection. */
export const isStoppedWhenClosed = (method: string | undefined, query: URLSearchParams): boolean =>
  (method === 'GET' || Number(query.get('readonly')) > 0) &&
  /^(?:1|true)$/.test(query.get('cancel_http_readonly_queries_on_client_close') ?? '')

function settingName(name: string): string {
  if (/^\w+$/.test(name)) return name
  throw new Error(`Code: 115. DB::Exception: Unknown setting '${name}'. (UNKNOWN_SETTING)`)
}

const literal = (value: string): string => `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`

const STATUSES: [status: number, types: RegExp][] = [
  [401, /^REQUIRED_PASSWORD$/],
  [403, /^(UNKNOWN_USER|WRONG_PASSWORD|AUTHENTICATION_FAILED|ACCESS_DENIED)$/],
  [
    400,
    /^(SYNTAX_ERROR|BAD_ARGUMENTS|TYPE_MISMATCH|INCORRECT_DATA|CANNOT_(PARSE|READ(?!_FROM_FILE))_.*|BAD_QUERY_PARAMETER|BAD_REQUEST_PARAMETER)$/,
  ],
  [404, /^UNKNOWN_/],
  [408, /^TIMEOUT_EXCEEDED$/],
  [413, /^QUERY_IS_TOO_LARGE$/],
  [501, /^NOT_IMPLEMENTED$/],
]

export interface Fault {
  status: number
  code: string
  /** `Code: N. DB::Exception: … (TYPE)` */
  text: string
}

/** Returns the response of ClickHouse's HTTP interface to an error of the embedded ClickHouse. */
export function readFault(error: unknown): Fault {
  const message = error instanceof Error ? error.message : String(error)
  const text = message.slice(Math.max(0, message.indexOf('Code: ')))
  const code = /^Code: (\d+)/.exec(text)?.[1]
  if (!code && message.includes('ENOSPC'))
    return { status: 500, code: '243', text: `Code: 243. DB::Exception: ${message} (NOT_ENOUGH_SPACE)` }
  if (!code) return { status: 500, code: '1001', text: `Code: 1001. DB::Exception: ${message} (STD_EXCEPTION)` }
  const type = /\(([A-Z][A-Z0-9_]+)\)\s*$/.exec(text)?.[1] ?? ''
  return { status: STATUSES.find(([, types]) => types.test(type))?.[0] ?? 500, code, text }
}
