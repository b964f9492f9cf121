/**
 * Runs statements of the user `analyst` in the embedded ClickHouse. There are two independent protections. The first is
 * ClickHouse's: a role with rights only on the public views, `readonly` and limits (`analyst-role.ts`). The second is
 * Sluice's, against features that ClickHouse allows to every user, such as the function `file()` and INTO OUTFILE:
 * ClickHouse's formatter rewrites the statement, Sluice checks the syntax tree of the result, and exactly that text is
 * run.
 */
import type { ChdbResult, Session } from 'chdb'
import { type EngineFunction, findForbidden, type Functions, classifyFunctions } from './analyst-tree.ts'
import { LIMITS, ROLE, businessOf, settingsOf } from './analyst-role.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { settingsForBusiness, tablesOfBusinesses } from '../../stores/restrict-to-business.ts'

export interface AnalystRequest {
  method: string | undefined
  contentType: string | undefined
  /** Parameters of the URL. */
  query: URLSearchParams
  /** From the header or the URL parameter. */
  database: string | undefined
  format: string
  /** Stored with the statement in the list of running statements, to find it there. */
  mark: string
  /** Aborts when the caller no longer waits for the response. */
  signal: AbortSignal
  /** Reads the body. Not called when the request is rejected earlier. */
  text(): Promise<string>
}

/** Numbers of running statements, counted separately so that tools and the SQL page never block each other. */
const running = { tools: 0, page: 0 }

/**
 * Two connections per request: a limit or a result format would change the part of the statement that the check sees.
 */
export interface AnalystSessions {
  check: Session
  run: Session
}

/** Runs a statement. Throws errors like those of ClickHouse. `database`: the database of the public views. */
export async function queryAsAnalyst(
  { check, run }: AnalystSessions,
  database: string,
  request: AnalystRequest,
): Promise<ChdbResult> {
  const kind = businessOf(request.query) === undefined ? 'tools' : 'page'
  if (running[kind] >= LIMITS.atOnce)
    throw new Error(
      `Code: 202. DB::Exception: analyst: ${running[kind]} queries are already running, which is the maximum. (TOO_MANY_SIMULTANEOUS_QUERIES)`,
    )
  running[kind] += 1
  try {
    rejectRequest(request, database)
    const requested = [request.query.get('query'), await request.text()].filter(Boolean).join('\n')
    const settings = await settingsFor(run, request, database)
    await prepare(check, withoutResult(settings), database)
    await prepare(run, settings, database)
    const { statement, format } = await checkQuery(check, requested, database)
    request.signal.throwIfAborted()
    // The SQL page requires its own format.
    if (format !== undefined && kind === 'page') reject('FORMAT')
    return await run.queryAsync(statement, { format: checkFormat(format ?? request.format) })
  } finally {
    running[kind] -= 1
  }
}

function reject(reason: string): never {
  throw new Error(`Code: 497. DB::Exception: analyst: not allowed: ${reason}. (ACCESS_DENIED)`)
}

function rejectRequest({ method, contentType, database: wanted }: AnalystRequest, database: string): void {
  if (method !== 'GET' && method !== 'POST') reject(`a request by ${method}`)
  if (contentType?.toLowerCase().startsWith('multipart/')) reject('data beside the query')
  if (wanted !== undefined && ![database, 'default', ''].includes(wanted)) reject(`the database ${wanted}`)
}

/** Prepares a connection. After the last statement, the settings made by the others cannot be changed. */
async function prepare(session: Session, settings: Record<string, string>, database: string): Promise<void> {
  const list = Object.entries(settings).map(([name, value]) => `${name} = ${textLiteral(value)}`)
  for (const statement of [`USE ${database}`, `SET ${list.join(', ')}`, `SET ROLE ${ROLE}`, 'SET readonly = 1'])
    await session.queryAsync(statement)
}

const settingsFor = async (session: Session, { query, mark }: AnalystRequest, database: string) => ({
  ...settingsOf(query),
  ...(await restrictionOf(session, query, database)),
  log_comment: mark,
})

/** Only parameters, and the limits on time and memory. */
const withoutResult = (settings: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(settings).filter(([name]) =>
      /^(?:param_\w+|max_execution_time|max_memory_usage|max_threads|log_comment)$/.test(name),
    ),
  )

/**
 * Returns the settings for statements of the dashboard's SQL page. Looks up the tables each time, because a migration
 * may have added one.
 */
async function restrictionOf(
  session: Session,
  query: URLSearchParams,
  database: string,
): Promise<Record<string, string>> {
  const businessId = businessOf(query)
  if (businessId === undefined) return {}
  const tables = await ask(session, tablesOfBusinesses([database, `${database}_internal`]))
  return settingsForBusiness(tables.split('\n'), businessId)
}

interface CheckedStatement {
  statement: string
  format?: string
}

/** Statements other than SELECT that tools send. ClickHouse shows only objects that the role may see. */
const metadataOf = (database: string): RegExp =>
  new RegExp(
    String.raw`^(?:SHOW DATABASES|SHOW TABLES(?: FROM ${database})?|(?:DESCRIBE|EXISTS) TABLE (?:${database}\.)?\w+)$`,
  )

async function checkQuery(session: Session, requested: string, database: string): Promise<CheckedStatement> {
  if (Buffer.byteLength(requested) > LIMITS.statementBytes)
    throw new Error(`Code: 62. DB::Exception: analyst: more than ${LIMITS.statementBytes} bytes. (QUERY_IS_TOO_LARGE)`)
  if (requested.includes('\0')) reject('NUL in a statement')
  const written = await ask(session, `SELECT formatQuerySingleLine(${textLiteral(requested)})`)
  const { statement, format } = takeFormat(written)
  if (!metadataOf(database).test(statement)) await checkSelect(session, statement)
  return { statement, ...(format !== undefined && { format }) }
}

async function checkSelect(session: Session, statement: string): Promise<void> {
  const bare = statement.replaceAll(/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/gs, "''")
  if (!/^(?:SELECT|WITH)\b/.test(bare)) reject('anything but a SELECT')
  const forbidden = /\b(?:INTO OUTFILE|SETTINGS|EXPLAIN|PARALLEL WITH)\b/i.exec(bare)?.[0]
  if (forbidden) reject(forbidden)
  const tree = await ask(session, `EXPLAIN AST ${statement}`)
  const reason = findForbidden(tree, await knownFunctions(session))
  if (reason) reject(reason)
}

/** Splits off a FORMAT clause at the end. */
function takeFormat(written: string): CheckedStatement {
  const { statement, format } = /^(?<statement>.*) FORMAT (?<format>\w+)$/s.exec(written)?.groups ?? {}
  return statement !== undefined && format !== undefined ? { statement, format } : { statement: written }
}

/** Formats that read no file and need no schema. */
const FORMATS =
  /^(?:JSON\w*|CSV\w*|TSV\w*|TabSeparated\w*|Pretty\w*|RowBinary\w*|Native|Vertical|Values|Markdown|XML|Parquet|Arrow|ArrowStream|Null|LineAsString)$/

const checkFormat = (format: string): string => (FORMATS.test(format) ? format : reject(`the format ${format}`))

async function ask(session: Session, statement: string): Promise<string> {
  const result = await session.queryAsync(statement, { format: 'TSVRaw' })
  return result.text().replace(/\n$/, '')
}

let functions: Promise<Functions> | undefined

/** Returns the functions of ClickHouse. Reads them only once. */
function knownFunctions(session: Session): Promise<Functions> {
  functions ??= readFunctions(session).catch((error: unknown) => {
    functions = undefined
    throw error
  })
  return functions
}

async function readFunctions(session: Session): Promise<Functions> {
  const query = 'SELECT name, is_aggregate, categories, alias_to FROM system.functions FORMAT JSONEachRow'
  const rows = (await ask(session, query)).split('\n').map((line) => JSON.parse(line) as EngineFunction)
  const combinators = await ask(session, 'SELECT name FROM system.aggregate_function_combinators')
  return classifyFunctions(rows, combinators.split('\n'))
}
