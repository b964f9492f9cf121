/**
 * Runs statements of the user `analyst` in the embedded ClickHouse. There are two independent protections. The engine's: a role
 * with rights only on the public views, `readonly` and limits (`analyst-role.ts`). And ours, for what the engine allows to every
 * user, such as the function `file()` and INTO OUTFILE: the engine's formatter rewrites the statement, the engine's syntax tree
 * of it is checked, and exactly that text is run.
 */
import type { ChdbResult, Session } from 'chdb'
import { type EngineFunction, findForbidden, type Functions, classifyFunctions } from './analyst-tree.ts'
import { LIMITS, ROLE, settingsOf } from './analyst-role.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'

export interface AnalystRequest {
  method: string | undefined
  contentType: string | undefined
  /** Parameters of the URL. */
  query: URLSearchParams
  /** From the header or the parameter. */
  database: string | undefined
  format: string
  /** Reads the body; not called when the request is rejected before. */
  text(): Promise<string>
}

let running = 0

/** Throws errors like those of ClickHouse. `database`: that of the public views. */
export async function queryAsAnalyst(session: Session, database: string, request: AnalystRequest): Promise<ChdbResult> {
  if (running >= LIMITS.atOnce)
    throw new Error(
      `Code: 202. DB::Exception: analyst: ${running} queries are already running, which is the maximum. (TOO_MANY_SIMULTANEOUS_QUERIES)`,
    )
  running += 1
  try {
    rejectRequest(request, database)
    const requested = [request.query.get('query'), await request.text()].filter(Boolean).join('\n')
    for (const statement of preparationsOf(request, database)) await session.queryAsync(statement)
    const { statement, format } = await checkQuery(session, requested, database)
    return await session.queryAsync(statement, { format: checkFormat(format ?? request.format) })
  } finally {
    running -= 1
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

/** The statements that prepare the request's own connection. The last one forbids to change what the others set. */
function preparationsOf({ query }: AnalystRequest, database: string): string[] {
  const settings = settingsOf(query)
  return [
    `USE ${database}`,
    `SET ${Object.entries(settings)
      .map(([name, value]) => `${name} = ${textLiteral(value)}`)
      .join(', ')}`,
    `SET ROLE ${ROLE}`,
    'SET readonly = 1',
  ]
}

interface CheckedStatement {
  statement: string
  format?: string
}

/** Statements other than SELECT that tools send. The engine shows only what the role may see. */
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
  if (!/^(?:SELECT|WITH)\b/.test(bare)) reject('only SELECT is')
  const forbidden = /\b(?:INTO OUTFILE|SETTINGS|EXPLAIN|PARALLEL WITH)\b/i.exec(bare)?.[0]
  if (forbidden) reject(`${forbidden} is not`)
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

/** The functions of the engine, read once. */
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
