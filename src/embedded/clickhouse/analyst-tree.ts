/**
 * Checks statements of the user `analyst` in the embedded ClickHouse by their syntax tree (`EXPLAIN AST`). The tree has
 * one line per node, and children are indented further than their parent. Anything not listed here is rejected.
 */

/**
 * Allowed nodes of a SELECT. All others are rejected, such as `Set` (SETTINGS) and `ColumnsApplyTransformer` (runs any
 * function).
 */
const NODES = new Set([
  'ArrayJoin',
  'Asterisk',
  'ColumnsExceptTransformer',
  'ColumnsListMatcher',
  'ColumnsRegexpMatcher',
  'ColumnsReplaceTransformer',
  'ColumnsReplaceTransformer::Replacement',
  'ColumnsTransformerList',
  'ExpressionList',
  'Function',
  'Identifier',
  'InterpolateElement',
  'Literal',
  'OrderByElement',
  'QualifiedAsterisk',
  'QualifiedColumnsListMatcher',
  'QualifiedColumnsRegexpMatcher',
  'SampleRatio',
  'SelectIntersectExceptQuery',
  'SelectQuery',
  'SelectWithUnionQuery',
  'Subquery',
  'TableExpression',
  'TableIdentifier',
  'TableJoin',
  'TablesInSelectQuery',
  'TablesInSelectQueryElement',
  'WindowDefinition',
  'WindowListElement',
  'WithElement',
])

/**
 * ClickHouse's own tables that are allowed: those that tools list, which ClickHouse filters by the user's rights, and
 * harmless helpers.
 */
const SYSTEM_TABLES = new Set([
  'columns',
  'data_type_families',
  'databases',
  'formats',
  'functions',
  'key_column_usage',
  'numbers',
  'one',
  'referential_constraints',
  'schemata',
  'statistics',
  'tables',
  'time_zones',
  'views',
])

const TABLE_FUNCTIONS = new Set(['generate_series', 'generateSeries', 'numbers'])
/** Views with parameters are read as table functions. */
const PARAMETERISED_VIEW = /^(?:\w+\.)?event_(?:funnel|retention)$/

/** Categories of functions that compute a value only from their arguments. */
const CATEGORIES = new Set(
  `Arithmetic, Arrays, Bit, Bitmap, Comparison, Conditional, Dates and Times, Distance, Encoding, Financial, Geo, Geo Polygon,
  Hash, IP Address, JSON, Logical, Map, Mathematical, Null, Random Number, Rounding, String, String Replacement, String Search,
  String Splitting, Time Window, Tuple, Type Conversion, URL, UUID`.split(/,\s+/),
)

/** Functions of other categories that also do only this, or that tools need. (`_CAST` comes from parameters.) */
const OTHER_FUNCTIONS = new Set(
  `_CAST bar byteSize countDigits currentDatabase currentUser defaultValueOfArgumentType defaultValueOfTypeName digits
  finalizeAggregation formatReadableDecimalSize formatReadableQuantity formatReadableSize formatReadableTimeDelta
  getSizeOfEnumType getSubcolumn identity ignore indexHint isConstant isDecimalOverflow lambda lowCardinalityIndices
  lowCardinalityKeys materialize minSampleSizeContinuous minSampleSizeConversion neighbor parseReadableSize
  parseReadableSizeOrNull parseReadableSizeOrZero parseTimeDelta rowNumberInAllBlocks rowNumberInBlock runningAccumulate
  runningDifference runningDifferenceStartingWithFirstValue toColumnTypeName toTypeName transform variantElement variantType
  version visibleWidth`.split(/\s+/),
)

/** Functions of the allowed categories that write in any format or disturb other queries. */
const REJECTED_FUNCTIONS = new Set(['formatRow', 'formatRowNoNewline', 'aggThrow', 'flameGraph'])

/** A row of `system.functions`. */
export interface EngineFunction {
  name: string
  is_aggregate: 0 | 1
  categories: string
  alias_to: string
}

export interface Functions {
  /** Whether an analyst may call each function, by its name in lower case. */
  allowed: Map<string, boolean>
  aggregates: Set<string>
  /** Suffixes of aggregate functions, such as `If`. */
  combinators: string[]
}

/**
 * Classifies all functions of ClickHouse. Function names may differ only in case; a name is allowed if all its variants
 * are.
 */
export function classifyFunctions(functions: EngineFunction[], combinators: string[]): Functions {
  const byName = new Map(functions.map((one) => [one.name, one]))
  const allowed = new Map<string, boolean>()
  for (const one of functions) {
    const name = one.name.toLowerCase()
    allowed.set(name, (allowed.get(name) ?? true) && isHarmless(byName.get(one.alias_to) ?? one))
  }
  for (const name of OTHER_FUNCTIONS) if (!byName.has(name)) allowed.set(name.toLowerCase(), true)
  const aggregates = functions.filter((one) => one.is_aggregate).map(({ name }) => name.toLowerCase())
  return { allowed, aggregates: new Set(aggregates), combinators: combinators.map((one) => one.toLowerCase()) }
}

const isHarmless = ({ name, is_aggregate, categories }: EngineFunction): boolean =>
  !REJECTED_FUNCTIONS.has(name) && (is_aggregate === 1 || CATEGORIES.has(categories) || OTHER_FUNCTIONS.has(name))

/**
 * Returns what an analyst may not run in the statement; undefined when it is allowed. `tree`: the text of
 * `EXPLAIN AST`.
 */
export function findForbidden(tree: string, functions: Functions): string | undefined {
  const nodes = tree.trimEnd().split('\n').map(readNode)
  const [root, ...below] = nodes
  if (root?.kind !== 'SelectWithUnionQuery' || root.depth !== 0) return 'anything but a SELECT'
  // A second child is SETTINGS, a format, or the file of INTO OUTFILE.
  if (below.filter(({ depth }) => depth === 1).length !== 1 || below[0]?.kind !== 'ExpressionList')
    return 'anything after a SELECT'
  for (const [at, node] of nodes.entries()) {
    const reason = checkNode(node, nodes[at - 1], functions)
    if (reason) return reason
  }
  return undefined
}

interface Node {
  depth: number
  kind: string
  /** Name of the function, column or table. */
  name: string
}

/** Parses one line. A name with a line break looks like several nodes; each of them is checked. */
function readNode(line: string): Node {
  const { indent = '', kind = '', rest = '' } = /^(?<indent> *)(?<kind>\S*) ?(?<rest>.*)$/.exec(line)?.groups ?? {}
  const name = rest.replace(/ ?\(children \d+\)$/, '').replace(/ ?\(alias .*\)$/, '')
  return { depth: indent.length, kind, name }
}

function checkNode({ kind, name }: Node, before: Node | undefined, functions: Functions): string | undefined {
  if (kind === 'Set') return 'SETTINGS'
  if (!NODES.has(kind)) return kind
  if (kind === 'Identifier' || kind === 'TableIdentifier') return checkName(name, functions)
  if (kind !== 'Function') return undefined
  const isTable = before?.kind === 'TableExpression'
  const isAllowed = isTable ? isAllowedTable(name) : isAllowedFunction(name.toLowerCase(), functions)
  return isAllowed ? undefined : `${isTable ? 'the table function' : 'the function'} ${name}`
}

const isAllowedTable = (name: string): boolean => TABLE_FUNCTIONS.has(name) || PARAMETERISED_VIEW.test(name)

/** Checks an identifier. It can also name a function that is passed to another function, or a table after IN. */
function checkName(name: string, { allowed }: Functions): string | undefined {
  if (allowed.get(name.toLowerCase()) === false) return `the function ${name}`
  const [database = '', table = ''] = name.split('.')
  const isOfEngine = /^(?:system|information_schema)$/i.test(database)
  return isOfEngine && !SYSTEM_TABLES.has(table.toLowerCase()) ? name : undefined
}

function isAllowedFunction(name: string, functions: Functions): boolean {
  const known = functions.allowed.get(name)
  return known ?? isCombined(name, functions)
}

/** Returns whether the name is an allowed aggregate function with suffixes, such as `uniqExactIfOrNull`. */
function isCombined(name: string, functions: Functions): boolean {
  return functions.combinators.some((ending) => {
    if (!name.endsWith(ending)) return false
    const shorter = name.slice(0, -ending.length)
    return functions.aggregates.has(shorter) ? functions.allowed.get(shorter) === true : isCombined(shorter, functions)
  })
}
