/** Writes lists in the form that Postgres reads fastest: array literals, one per column. */
import { inSnakeCase } from './in-snake-case.ts'

export type Cell = string | number | boolean | null | undefined

/** A JSON escape that an array literal reads differently: array literals support only `\"` and `\\`. */
const FOREIGN_ESCAPE = /\\[^"\\]/
const SPECIAL = /["\\]/g

/**
 * Writes rows as a literal of `text[]`: for each of `columns`, in order, the literal of its cells, or NULL when all of
 * them are NULL. Returns null when there are no rows, so that their statement is skipped.
 */
export function writeColumns<Column extends string>(
  columns: readonly Column[],
  rows: readonly Record<Column, Cell>[],
): string | null {
  return rows.length === 0 ? null : writeCells(columns.map((column) => rows.map((row) => row[column])))
}

/** Like `writeColumns`, with the cells of each column. For long lists: it takes no object for each row. */
export function writeTable<Column extends string>(
  columns: readonly Column[],
  table: Readonly<Record<Column, readonly Cell[]>>,
): string | null {
  const cellsOf = columns.map((column) => table[column])
  return cellsOf[0]?.length === 0 ? null : writeCells(cellsOf)
}

const writeCells = (columns: readonly (readonly Cell[])[]): string =>
  arrayLiteral(columns.map((cells) => (cells.every(isNull) ? null : arrayLiteral(cells))))

/** Writes rows as JSON, for short lists. Returns null when there are no rows. */
export const writeRecords = (rows: unknown[]): string | null => (rows.length === 0 ? null : JSON.stringify(rows))

/** Like `writeRecords`, with the keys in snake case. */
export const snakeRecords = (rows: readonly object[]): string | null =>
  writeRecords(rows.map((row) => inSnakeCase(row)))

/**
 * Writes an array literal. Null and undefined become NULL. Throws the error of Postgres (SQLSTATE 22021) when a text is
 * not Unicode.
 */
export function arrayLiteral(cells: readonly Cell[]): string {
  if (cells.length === 0) return '{}'
  // Much faster than cell by cell.
  const json = JSON.stringify(cells)
  // Most texts have no escape at all, which is much faster to find out.
  const isForeign = json.includes('\\') && FOREIGN_ESCAPE.test(json)
  return `{${isForeign ? cells.map(cellLiteral).join(',') : json.slice(1, -1)}}`
}

const isNull = (cell: Cell) => cell === null || cell === undefined

function cellLiteral(cell: Cell): string {
  if (typeof cell !== 'string') return JSON.stringify(cell ?? null)
  // The driver would send it with replacement characters, so that two texts could become equal.
  if (!cell.isWellFormed()) throw Object.assign(new Error('a text is not Unicode'), { code: '22021' })
  return `"${cell.replaceAll(SPECIAL, '\\$&')}"`
}
