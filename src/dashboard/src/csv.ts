/** CSV for spreadsheets. */

type Cell = string | number | null

/** RFC 4180. A text that a spreadsheet would run as a formula gets a `'` before it; a number stays one. */
export const csvCell = (value: Cell): string => quoteCell(guardFormula(value === null ? '' : String(value)))

export function guardFormula(text: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
  return isFormula ? `'${text}` : text
}

/** The text as it is: for a file that is read again by Sluice. */
export const quoteCell = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

export const csvText = (rows: readonly (readonly Cell[])[]): string =>
  joinCells(rows.map((cells) => cells.map(csvCell)))

/** Of written cells. With a byte order mark, so that Excel reads it as UTF-8. */
export const joinCells = (rows: readonly (readonly string[])[]): string =>
  `\uFEFF${rows.map((cells) => `${cells.join(',')}\r\n`).join('')}`
