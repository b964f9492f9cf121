/**
 * Rejects statements that need no grant (grants: analyst-role.ts), but would read or write a file, start a program or
 * connect to another server. Applies to Sluice's own user in the embedded ClickHouse. Checks each statement as
 * ClickHouse's formatter writes it: one statement, without comments, with resolved names.
 */
import { createHash } from 'node:crypto'
import { Session } from 'chdb'
import { textLiteral } from '../../stores/clickhouse-literal.ts'

/**
 * Words that occur in no name of Sluice's tables, columns or settings: the function `file`, clauses with a path, and
 * disks that a statement defines.
 */
const WORDS = /\b(?:file|infile|outfile|disk|executable)\b/i
/** Table and database engines that store their data themselves. */
const ENGINES = /^(?:\w*MergeTree|Null|Memory|Log|Atomic)$/
const NAMED_ENGINE = /\bENGINE = `?(\w+)/g
/** Table functions that compute their rows from their arguments, and those that are also ordinary functions. */
const TABLE_FUNCTIONS =
  /^(?:numbers|numbers_mt|zeros|zeros_mt|generate_series|generateSeries|values|view|viewExplain|format|null)$/
/** A setting whose literal contains SQL. */
const FILTERS = 'additional_table_filters'
/** Literals and quoted names, as the formatter writes them. */
const QUOTED = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/gs
const FILTERS_VALUE = new RegExp(String.raw`\b${FILTERS} = (\{(?:'\d+'|[^'{}])*\})`, 'g')

/** Characters that could change the meaning of a quote, or begin a second statement. */
const NOT_PLAIN = /[^\w\s.,()=<>*+%:{}[\]!?|/-]|--|\/\*/

const REMEMBERED = 500

/**
 * Returns the shape of a statement: its text without the content of its literals, if they can be found without
 * ClickHouse. Statements of the same shape get the same result, unless a literal is SQL. Lists of ids have the same
 * shape for any length.
 */
export function shapeOf(statement: string): string {
  const shape = statement.replaceAll(/'[^'\\]*'/g, "''").replaceAll(/'',\s*(?='')/g, '')
  return NOT_PLAIN.test(shape.replaceAll("''", '')) || shape.includes(FILTERS) ? statement : shape
}

/** Throws an error like those of ClickHouse. `settings`: the parameters of the request's URL. */
export async function checkStatement(folder: string, statement: string, settings: URLSearchParams): Promise<void> {
  for (const filters of settings.getAll(FILTERS)) checkFilters(filters)
  // Shapes can be long, so only their hashes are remembered.
  const shape = createHash('sha256').update(shapeOf(statement)).digest('base64')
  if (harmless.delete(shape)) return void harmless.add(shape)
  if (statement.includes('\0')) reject('NUL in a statement')
  const session = new Session(folder)
  try {
    await session.queryAsync(`SET max_query_size = ${2 ** 31}`)
    const known = await knownTableFunctions(session)
    const written = await ask(session, `SELECT formatQuerySingleLine(${textLiteral(statement)})`)
    checkFormatted(written, known)
  } finally {
    session.close()
  }
  remember(shape)
}

/** Hashes of the shapes that passed, most recently used last. */
const harmless = new Set<string>()

function remember(shape: string): void {
  harmless.add(shape)
  const [oldest] = harmless
  if (harmless.size > REMEMBERED && oldest !== undefined) harmless.delete(oldest)
}

function checkFormatted(written: string, tableFunctions: Set<string>): void {
  const literals: string[] = []
  const bare = written.replaceAll(QUOTED, (quoted) =>
    quoted.startsWith("'") ? `'${literals.push(quoted) - 1}'` : /^`\w+`$/.test(quoted) ? quoted : '``',
  )
  const filters = Array.from(bare.matchAll(FILTERS_VALUE), ([, value = '']) => value)
  if (bare.split(FILTERS).length - 1 > filters.length) reject(FILTERS)
  for (const value of filters) checkFilters(value.replaceAll(/'(\d+)'/g, (_, n: string) => literals[Number(n)] ?? ''))
  const word = WORDS.exec(bare)?.[0]
  if (word !== undefined) reject(word)
  for (const [, engine = ''] of bare.matchAll(NAMED_ENGINE)) if (!ENGINES.test(engine)) reject(`the engine ${engine}`)
  for (const [, name = ''] of bare.matchAll(/\b(\w+)`?\(/g))
    if (tableFunctions.has(name)) reject(`the table function ${name}`)
}

/** Checks SQL within a literal. Rejects escapes, because they could hide a word. */
function checkFilters(filters: string): void {
  const once = filters.replaceAll(/\\([\\'nt])/g, (_, escaped: string) => (/[nt]/.test(escaped) ? ' ' : escaped))
  if (WORDS.test(once) || /\\(?!')/.test(once)) reject(FILTERS)
}

function reject(what: string): never {
  throw new Error(`Code: 497. DB::Exception: sluice: not allowed: ${what}. (ACCESS_DENIED)`)
}

let tableFunctions: Set<string> | undefined

/** Returns ClickHouse's table functions, except harmless ones and names that are also ordinary functions. */
async function knownTableFunctions(session: Session): Promise<Set<string>> {
  tableFunctions ??= new Set(
    (
      await ask(
        session,
        'SELECT name FROM system.table_functions WHERE name NOT IN (SELECT name FROM system.functions)',
      )
    )
      .split('\n')
      .filter((name) => !TABLE_FUNCTIONS.test(name)),
  )
  return tableFunctions
}

async function ask(session: Session, query: string): Promise<string> {
  return (await session.queryAsync(query, { format: 'TSVRaw' })).text().replace(/\n$/, '')
}
