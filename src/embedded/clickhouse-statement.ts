/**
 * Parses an HTTP request to ClickHouse: the statement, the place of its data, and its settings.
 */

/** The parts of an INSERT with its own data: `head` and `tail` are the statement before and after the source of the data. */
export interface Insert {
  head: string
  tail: string
  /** Unchanged data from the statement's text; the body follows. */
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

/** Only this much is decoded at first, not megabytes of data: the statement before the data is rarely longer. */
const LIKELY_HEAD_BYTES = 16 * 1024

/** Undefined for every other statement, also for INSERT … SELECT. */
export function readInsert(statement: Buffer): Insert | undefined {
  const head = statement.subarray(0, LIKELY_HEAD_BYTES)
  return readHead(head, statement) ?? (head.length < statement.length ? readHead(statement, statement) : undefined)
}

/** True for statements that need disk space; DROP and TRUNCATE free some. */
export const needsDiskSpace = (statement: Buffer): boolean =>
  NEEDS_DISK_SPACE.test(statement.subarray(0, LIKELY_HEAD_BYTES).toString())

/** `head` may end within the data, but not where the data begins: the name of the format could be longer. */
function readHead(head: Buffer, statement: Buffer): Insert | undefined {
  const text = head.toString()
  const parts = INSERT.exec(text)?.groups
  if (!parts?.['data'] && head.length < statement.length) return undefined
  if (!parts || /\b(?:SELECT|INFILE)\b|;/i.test(parts['settings'] ?? '')) return undefined
  const tail = `${parts['settings'] ?? ''} FORMAT ${parts['format'] ?? 'Values'}`
  const before = text.slice(0, text.length - (parts['data'] ?? '').length)
  return { head: parts['head'] ?? '', tail, data: statement.subarray(Buffer.byteLength(before)) }
}

/** Parameters of the HTTP interface that are not settings of the engine. */
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

/** A result is collected in memory before it is sent, so it must not be larger. */
const MAX_RESULT_BYTES = '1073741824'
/** One request is one block, so that it is stored completely or not at all. */
const ONE_BLOCK = {
  max_insert_block_size: '1000000000',
  min_insert_block_size_rows: '1000000000',
  min_insert_block_size_bytes: '100000000000',
}

/**
 * The statements that prepare the request's own connection: database, settings, and `param_*` values (unchanged: they are
 * escaped as in tab-separated text, as the engine reads them).
 */
export function sessionStatements(method: string | undefined, query: URLSearchParams, database: string): string[] {
  const given = [...query].filter(([name]) => !NOT_SETTINGS.has(name))
  const settings = new Map([
    ...Object.entries({ max_result_bytes: MAX_RESULT_BYTES, ...ONE_BLOCK }),
    ...given,
    // Like a server: GET only reads, but may change settings.
    ...(method === 'GET' ? [['readonly', '2'] as const] : []),
  ])
  const list = [...settings].map(([name, value]) => `${settingName(name)} = ${literal(value)}`)
  return [`USE \`${database.replaceAll(/[\\`]/g, String.raw`\$&`)}\``, `SET ${list.join(', ')}`]
}

/** Like a server: only a statement that can change nothing, and whose caller wants it to end with the connection. */
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

/** The response that ClickHouse's HTTP interface gives to an engine's error. */
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
