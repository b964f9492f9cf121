/** CSV for spreadsheets. */

/** RFC 4180. A text that a spreadsheet would run as a formula gets a `'` before it; a number stays one. */
export function csvCell(value: string | number | null): string {
  const text = value === null ? '' : String(value)
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** With a byte order mark, so that Excel reads it as UTF-8. */
export const csvText = (rows: readonly (readonly (string | number | null)[])[]): string =>
  `\uFEFF${rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')}`
