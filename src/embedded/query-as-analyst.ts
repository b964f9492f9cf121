/**
 * How the embedded ClickHouse answers the user `analyst`. Two walls, each whole by itself as far as it reaches. The engine's own:
 * a role with rights on the public views alone, `readonly` and limits (`analyst-role.ts`). And ours, for what the engine gives to
 * everybody, such as the function `file()` and INTO OUTFILE: a statement is written anew by the engine's own formatter, judged by
 * the engine's own tree of it, and run as it was judged.
 */
import type { ChdbResult, Session } from 'chdb'
import { type EngineFunction, findForbidden, type Functions, sortFunctions } from './analyst-tree.ts'
import { LIMITS, ROLE, settingsOf } from './analyst-role.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'

export interface Question {
  method: string | undefined
  contentType: string | undefined
  /** Of the URL. */
  query: URLSearchParams
  /** Asked for by header or parameter. */
  database: string | undefined
  format: string
  /** Of the body; not asked for when the request is refused for what it is. */
  text(): Promise<string>
}

let asking = 0

/** Throws what ClickHouse would say. `database`: that of the public views. */
export async function queryAsAnalyst(session: Session, database: string, question: Question): Promise<ChdbResult> {
  if (asking >= LIMITS.atOnce)
    throw new Error(
      `Code: 202. DB::Exception: analyst: ${asking} at once are the most. (TOO_MANY_SIMULTANEOUS_QUERIES)`,
    )
  asking += 1
  try {
    refuseRequest(question, database)
    const asked = [question.query.get('query'), await question.text()].filter(Boolean).join('\n')
    for (const statement of preparationsOf(question, database)) await session.queryAsync(statement)
    const { statement, format } = await judge(session, asked, database)
    return await session.queryAsync(statement, { format: checkFormat(format ?? question.format) })
  } finally {
    asking -= 1
  }
}

function refuse(reason: string): never {
  throw new Error(`Code: 497. DB::Exception: analyst: not allowed: ${reason}. (ACCESS_DENIED)`)
}

function refuseRequest({ method, contentType, database: wanted }: Question, database: string): void {
  if (method !== 'GET' && method !== 'POST') refuse(`a request by ${method}`)
  if (contentType?.toLowerCase().startsWith('multipart/')) refuse('data beside the query')
  if (wanted !== undefined && ![database, 'default', ''].includes(wanted)) refuse(`the database ${wanted}`)
}

/** Its connection is the request's own. The last one closes the door behind the others. */
function preparationsOf({ query }: Question, database: string): string[] {
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

interface Judged {
  statement: string
  format?: string
}

/** What tools ask beside SELECT. The engine shows only what the role may see. */
const metadataOf = (database: string): RegExp =>
  new RegExp(
    String.raw`^(?:SHOW DATABASES|SHOW TABLES(?: FROM ${database})?|(?:DESCRIBE|EXISTS) TABLE (?:${database}\.)?\w+)$`,
  )

async function judge(session: Session, asked: string, database: string): Promise<Judged> {
  if (Buffer.byteLength(asked) > LIMITS.statementBytes)
    throw new Error(`Code: 62. DB::Exception: analyst: more than ${LIMITS.statementBytes} bytes. (QUERY_IS_TOO_LARGE)`)
  if (asked.includes('\0')) refuse('NUL in a statement')
  const written = await ask(session, `SELECT formatQuerySingleLine(${textLiteral(asked)})`)
  const { statement, format } = takeFormat(written)
  if (!metadataOf(database).test(statement)) await judgeSelect(session, statement)
  return { statement, ...(format !== undefined && { format }) }
}

async function judgeSelect(session: Session, statement: string): Promise<void> {
  const bare = statement.replaceAll(/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/gs, "''")
  if (!/^(?:SELECT|WITH)\b/.test(bare)) refuse('only SELECT is')
  const forbidden = /\b(?:INTO OUTFILE|SETTINGS|EXPLAIN|PARALLEL WITH)\b/i.exec(bare)?.[0]
  if (forbidden) refuse(`${forbidden} is not`)
  const tree = await ask(session, `EXPLAIN AST ${statement}`)
  const reason = findForbidden(tree, await knownFunctions(session))
  if (reason) refuse(reason)
}

/** A FORMAT at the end is the request's format. */
function takeFormat(written: string): Judged {
  const { statement, format } = /^(?<statement>.*) FORMAT (?<format>\w+)$/s.exec(written)?.groups ?? {}
  return statement !== undefined && format !== undefined ? { statement, format } : { statement: written }
}

/** Those that read no file and need no schema. */
const FORMATS =
  /^(?:JSON\w*|CSV\w*|TSV\w*|TabSeparated\w*|Pretty\w*|RowBinary\w*|Native|Vertical|Values|Markdown|XML|Parquet|Arrow|ArrowStream|Null|LineAsString)$/

const checkFormat = (format: string): string => (FORMATS.test(format) ? format : refuse(`the format ${format}`))

async function ask(session: Session, statement: string): Promise<string> {
  const result = await session.queryAsync(statement, { format: 'TSVRaw' })
  return result.text().replace(/\n$/, '')
}

let functions: Promise<Functions> | undefined

/** The engine's own, read once. */
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
  return sortFunctions(rows, combinators.split('\n'))
}
