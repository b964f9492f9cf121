/** The limits of a statement of the SQL page. */
export const STATEMENT_LIMITS = {
  seconds: 20,
  memoryBytes: 512 * 1024 ** 2,
  threads: 1,
  /** Rows of the result. More are cut off. */
  rows: 10_000,
  /** Bytes of the result, as ClickHouse writes it. More are cut off. */
  bytes: 8 * 1024 ** 2,
  characters: 20_000,
  parameters: 20,
  /** Characters of a parameter value. */
  parameterCharacters: 4_000,
} as const

/**
 * ClickHouse lets a query wait, block by block, while one with a smaller number runs: statements of the SQL page give way
 * to charts. Queries without a number neither wait nor are waited for.
 */
export const QUERY_PRIORITY = { chart: '1', statement: '10' } as const
