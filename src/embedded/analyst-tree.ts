/**
 * What the user `analyst` may ask of the embedded ClickHouse, judged by the engine's own tree of the statement
 * (`EXPLAIN AST`): one line for each node, a child further in than its parent. What is not known here is refused.
 */

/** Nodes of a SELECT. Others, such as `Set` (SETTINGS) and `ColumnsApplyTransformer` (which runs any function), are refused. */
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

/** Of the engine's own databases: what tools list, filtered by the engine to what the user may see, and harmless helpers. */
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

/** Categories of functions that work out a value from their arguments alone. */
const CATEGORIES = new Set(
  `Arithmetic, Arrays, Bit, Bitmap, Comparison, Conditional, Dates and Times, Distance, Encoding, Financial, Geo, Geo Polygon,
  Hash, IP Address, JSON, Logical, Map, Mathematical, Null, Random Number, Rounding, String, String Replacement, String Search,
  String Splitting, Time Window, Tuple, Type Conversion, URL, UUID`.split(/,\s+/),
)

/** Likewise, or what tools ask for; of the other categories. (`_CAST` is a parameter's.) */
const OTHERS = new Set(
  `_CAST bar byteSize countDigits currentDatabase currentUser defaultValueOfArgumentType defaultValueOfTypeName digits
  finalizeAggregation formatReadableDecimalSize formatReadableQuantity formatReadableSize formatReadableTimeDelta
  getSizeOfEnumType getSubcolumn identity ignore indexHint isConstant isDecimalOverflow lambda lowCardinalityIndices
  lowCardinalityKeys materialize minSampleSizeContinuous minSampleSizeConversion neighbor parseReadableSize
  parseReadableSizeOrNull parseReadableSizeOrZero parseTimeDelta rowNumberInAllBlocks rowNumberInBlock runningAccumulate
  runningDifference runningDifferenceStartingWithFirstValue toColumnTypeName toTypeName transform variantElement variantType
  version visibleWidth`.split(/\s+/),
)

/** Of those categories, but they write by any format, or stop the work of others. */
const REFUSED = new Set(['formatRow', 'formatRowNoNewline', 'aggThrow', 'flameGraph'])

/** A row of `system.functions`. */
export interface EngineFunction {
  name: string
  is_aggregate: 0 | 1
  categories: string
  alias_to: string
}

export interface Functions {
  /** By name in lower case: whether an analyst may call it. */
  allowed: Map<string, boolean>
  aggregates: Set<string>
  /** Endings of aggregate functions, such as `If`. */
  combinators: string[]
}

/** All that the engine has; one name may be several functions that differ in case, and is allowed when all of them are. */
export function sortFunctions(functions: EngineFunction[], combinators: string[]): Functions {
  const byName = new Map(functions.map((one) => [one.name, one]))
  const allowed = new Map<string, boolean>()
  for (const one of functions) {
    const name = one.name.toLowerCase()
    allowed.set(name, (allowed.get(name) ?? true) && isHarmless(byName.get(one.alias_to) ?? one))
  }
  for (const name of OTHERS) if (!byName.has(name)) allowed.set(name.toLowerCase(), true)
  const aggregates = functions.filter((one) => one.is_aggregate).map(({ name }) => name.toLowerCase())
  return { allowed, aggregates: new Set(aggregates), combinators: combinators.map((one) => one.toLowerCase()) }
}

const isHarmless = ({ name, is_aggregate, categories }: EngineFunction): boolean =>
  !REFUSED.has(name) && (is_aggregate === 1 || CATEGORIES.has(categories) || OTHERS.has(name))

/** Why an analyst may not ask this; undefined when nothing speaks against it. `tree`: the text of `EXPLAIN AST`. */
export function findForbidden(tree: string, functions: Functions): string | undefined {
  const nodes = tree.trimEnd().split('\n').map(readNode)
  const [root, ...below] = nodes
  if (root?.kind !== 'SelectWithUnionQuery' || root.depth !== 0) return 'only SELECT is'
  // A second one is SETTINGS, a format, or the file of INTO OUTFILE.
  if (below.filter(({ depth }) => depth === 1).length !== 1 || below[0]?.kind !== 'ExpressionList')
    return 'nothing is that follows a SELECT'
  for (const [at, node] of nodes.entries()) {
    const reason = judgeNode(node, nodes[at - 1], functions)
    if (reason) return reason
  }
  return undefined
}

interface Node {
  depth: number
  kind: string
  /** Of a function, a column or a table. */
  name: string
}

/** A name that holds the end of a line looks like more nodes: these are judged too. */
function readNode(line: string): Node {
  const { indent = '', kind = '', rest = '' } = /^(?<indent> *)(?<kind>\S*) ?(?<rest>.*)$/.exec(line)?.groups ?? {}
  const name = rest.replace(/ ?\(children \d+\)$/, '').replace(/ ?\(alias .*\)$/, '')
  return { depth: indent.length, kind, name }
}

function judgeNode({ kind, name }: Node, before: Node | undefined, functions: Functions): string | undefined {
  if (kind === 'Set') return 'SETTINGS is not'
  if (!NODES.has(kind)) return `${kind} is not`
  if (kind === 'Identifier' || kind === 'TableIdentifier') return judgeName(name, functions)
  if (kind !== 'Function') return undefined
  const isTable = before?.kind === 'TableExpression'
  const isAllowed = isTable ? TABLE_FUNCTIONS.has(name) : isAllowedFunction(name.toLowerCase(), functions)
  return isAllowed ? undefined : `${isTable ? 'the table function' : 'the function'} ${name} is not`
}

/** Functions can be passed to others by their names alone, and tables stand after IN like columns. */
function judgeName(name: string, { allowed }: Functions): string | undefined {
  if (allowed.get(name.toLowerCase()) === false) return `the function ${name} is not`
  const [database = '', table = ''] = name.split('.')
  const isOfEngine = /^(?:system|information_schema)$/i.test(database)
  return isOfEngine && !SYSTEM_TABLES.has(table.toLowerCase()) ? `${name} is not` : undefined
}

function isAllowedFunction(name: string, functions: Functions): boolean {
  const known = functions.allowed.get(name)
  return known ?? isCombined(name, functions)
}

/** An aggregate function with endings, such as `uniqExactIfOrNull`. */
function isCombined(name: string, functions: Functions): boolean {
  return functions.combinators.some((ending) => {
    if (!name.endsWith(ending)) return false
    const shorter = name.slice(0, -ending.length)
    return functions.aggregates.has(shorter) ? functions.allowed.get(shorter) === true : isCombined(shorter, functions)
  })
}
