/**
 * What Sluice's own user may not ask of the embedded ClickHouse although no grant is needed for it (analyst-role.ts has the grants):
 * whatever reads or writes a file, starts a program or asks another server. A statement is judged as the engine's own formatter
 * writes it: one statement, without comments, with names as they are meant.
 */
import { Session } from 'chdb'
import { textLiteral } from '../stores/clickhouse-literal.ts'

/** Names that no table, column or setting of Sluice has: the function `file`, clauses with a path, disks made by a statement. */
const WORDS = /\b(?:file|infile|outfile|disk|executable)\b/i
/** Engines of tables and databases that hold their data themselves. */
const ENGINES = /^(?:\w*MergeTree|Null|Memory|Log|Atomic)$/
const NAMED_ENGINE = /\bENGINE = `?(\w+)/g
/** Table functions that make their rows from their arguments, and those that are also ordinary functions. */
const TABLE_FUNCTIONS =
  /^(?:numbers|numbers_mt|zeros|zeros_mt|generate_series|generateSeries|values|view|viewExplain|format|null)$/
/** A setting that is SQL within a literal. */
const FILTERS = 'additional_table_filters'
/** As the formatter writes literals, and names that need quotes. */
const QUOTED = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/gs
const FILTERS_VALUE = new RegExp(String.raw`\b${FILTERS} = (\{(?:'\d+'|[^'{}])*\})`, 'g')

/** Whatever could make a quote something else than the bound of a literal, or begin a second statement. */
const NOT_PLAIN = /[^\w\s.,()=<>*+%:{}[\]!?|/-]|--|\/\*/

const REMEMBERED = 500
const REMEMBERED_LENGTH = 4096

/**
 * What is remembered of a statement: its text without what stands in its literals, where they are found without the engine. Such
 * texts are judged alike, unless a literal is SQL. A list of ids has one shape, however long.
 */
export function shapeOf(statement: string): string {
  const shape = statement.replaceAll(/'[^'\\]*'/g, "''").replaceAll(/'',\s*(?='')/g, '')
  return NOT_PLAIN.test(shape.replaceAll("''", '')) || shape.includes(FILTERS) ? statement : shape
}

/** Throws what ClickHouse would say. `settings` are those of the request's URL. */
export async function judgeStatement(folder: string, statement: string, settings: URLSearchParams): Promise<void> {
  for (const filters of settings.getAll(FILTERS)) judgeFilters(filters)
  const shape = shapeOf(statement)
  if (harmless.delete(shape)) return void harmless.add(shape)
  if (statement.includes('\0')) refuse('NUL in a statement')
  const session = new Session(folder)
  try {
    await session.queryAsync(`SET max_query_size = ${2 ** 31}`)
    const known = await knownTableFunctions(session)
    const written = await ask(session, `SELECT formatQuerySingleLine(${textLiteral(statement)})`)
    judgeWritten(written, known)
  } finally {
    session.close()
  }
  if (shape.length <= REMEMBERED_LENGTH) remember(shape)
}

/** The one asked last is last. */
const harmless = new Set<string>()

function remember(shape: string): void {
  harmless.add(shape)
  const [oldest] = harmless
  if (harmless.size > REMEMBERED && oldest !== undefined) harmless.delete(oldest)
}

function judgeWritten(written: string, tableFunctions: Set<string>): void {
  const literals: string[] = []
  const bare = written.replaceAll(QUOTED, (quoted) =>
    quoted.startsWith("'") ? `'${literals.push(quoted) - 1}'` : /^`\w+`$/.test(quoted) ? quoted : '``',
  )
  const filters = Array.from(bare.matchAll(FILTERS_VALUE), ([, value = '']) => value)
  if (bare.split(FILTERS).length - 1 > filters.length) refuse(FILTERS)
  for (const value of filters) judgeFilters(value.replaceAll(/'(\d+)'/g, (_, n: string) => literals[Number(n)] ?? ''))
  const word = WORDS.exec(bare)?.[0]
  if (word !== undefined) refuse(word)
  for (const [, engine = ''] of bare.matchAll(NAMED_ENGINE)) if (!ENGINES.test(engine)) refuse(`the engine ${engine}`)
  for (const [, name = ''] of bare.matchAll(/\b(\w+)`?\(/g))
    if (tableFunctions.has(name)) refuse(`the table function ${name}`)
}

/** Text within text: what an escape could hide is refused. */
function judgeFilters(filters: string): void {
  const once = filters.replaceAll(/\\([\\'nt])/g, (_, escaped: string) => (/[nt]/.test(escaped) ? ' ' : escaped))
  if (WORDS.test(once) || /\\(?!')/.test(once)) refuse(FILTERS)
}

function refuse(what: string): never {
  throw new Error(`Code: 497. DB::Exception: sluice: not allowed: ${what}. (ACCESS_DENIED)`)
}

let tableFunctions: Set<string> | undefined

/** The engine's own but for the harmless ones, and for names that mean an ordinary function too. */
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
