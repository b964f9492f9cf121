/** One row of a CSV or NDJSON file. */
import { type Fault, faultOf } from '../rules/faults.ts'
import { unreadable } from './import-error.ts'

/** `number` counts from 1, without the header of a CSV file. A row that cannot be read has a `fault`. */
export type FileRow =
  | { number: number; values: Record<string, unknown> }
  | { number: number; fault: Fault; text: string }

/** Returns the names of the columns. A column without a name is empty here. Throws ImportError when two are equal. */
export function readColumns(cells: string[]): string[] {
  const columns = cells.map((cell) => cell.trim())
  const seen = new Set<string>()
  const twice = columns.find((column) => column !== '' && seen.size === seen.add(column).size)
  if (twice !== undefined) throw unreadable('file_twice', { name: twice })
  return columns
}

/** Programs leave out empty cells at the end of a row. More cells than columns mean that something is wrong with it. */
export function rowOfCells(number: number, columns: string[], cells: string[]): FileRow {
  if (cells.length <= columns.length)
    return { number, values: Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])) }
  const fault = faultOf('', 'row_cells', { cells: cells.length, columns: columns.length })
  return { number, fault, text: JSON.stringify(cells) }
}

export function rowOfLine(number: number, text: string): FileRow {
  try {
    const values: unknown = JSON.parse(text)
    if (typeof values === 'object' && values !== null && !Array.isArray(values))
      return { number, values: values as Record<string, unknown> }
  } catch {
    // Reported below, like any other line that is not an object.
  }
  return { number, fault: faultOf('', 'row_object'), text: text.slice(0, 1000) }
}
