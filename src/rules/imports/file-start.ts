/** The beginning of a CSV file: a first line that names the delimiter, and the ends of lines. */

/** Maximum characters of the beginning of a file from which its columns are read, and of the names of its columns. */
export const MAX_START = 64 * 1024

/** Maximum length of a line that names the delimiter, with its end. */
export const SEP_LINE_LENGTH = '"sep=;"\r\n'.length

export interface SepLine {
  delimiter: string
  /** Length of the line with its end. The header begins after it. */
  length: number
}

/** Spreadsheets read a first line `sep=;` as the delimiter of the file, and some programs write it for them. */
export function readSepLine(text: string): SepLine | null {
  const [line, , delimiter] = /^("?)sep=([^"\r\n])\1[ \t]*(?:\r\n|\n|\r|$)/i.exec(text) ?? []
  return line === undefined || delimiter === undefined ? null : { delimiter, length: line.length }
}

/**
 * Returns whether lines end with a carriage return alone, as in files of old programs: the first line does. A file may
 * otherwise mix CRLF and LF.
 */
export function endsLinesWithCr(text: string): boolean {
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]
    if (sign === '"') isQuoted = !isQuoted
    else if (sign === '\n' && !isQuoted) return false
    else if (sign === '\r' && !isQuoted) return at + 1 < text.length && text[at + 1] !== '\n'
  }
  return false
}
