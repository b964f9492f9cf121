/** CSV for spreadsheets. */

/** Formats a cell by RFC 4180. Text that a spreadsheet would run as a formula is prefixed with `'`; numbers are not. */
export function csvCell(value: string | number | null): string {
  const text = value === null ? '' : String(value)
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Begins with a byte order mark, so that Excel reads the text as UTF-8. */
export const csvText = (rows: readonly (readonly (string | number | null)[])[]): string =>
  `\uFEFF${rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')}`
