/**
 * Splits the text of a file into records. A record is a line, except that a CSV file may have line breaks within
 * quotes.
 */
export interface RecordSplitter {
  /** Returns the complete records, with their line breaks. */
  push(text: string): string[]
  /** Returns what follows the last complete record. */
  end(): string
}

/** `lineEnd`: the last character of each line. Records end with a line feed in any case. */
export function splitRecords(format: 'csv' | 'ndjson', lineEnd: '\n' | '\r' = '\n'): RecordSplitter {
  let rest = ''
  let isQuoted = false
  return {
    push(text) {
      const records: string[] = []
      let from = 0
      for (let at = 0; at < text.length; at += 1) {
        const char = text[at]
        if (char === '"' && format === 'csv') isQuoted = !isQuoted
        else if (char === lineEnd && !isQuoted) {
          records.push(`${rest}${text.slice(from, at)}\n`)
          rest = ''
          from = at + 1
        }
      }
      rest += text.slice(from)
      return records
    },
    end: () => rest,
  }
}

interface Limits {
  records: number
  characters: number
}

/** Joins records into texts within the limits. */
export async function* joinRecords(records: AsyncIterable<string>, limits: Limits): AsyncGenerator<string> {
  let joined: string[] = []
  let characters = 0
  for await (const record of records) {
    if (joined.length === limits.records || (joined.length > 0 && characters + record.length > limits.characters)) {
      yield joined.join('')
      joined = []
      characters = 0
    }
    joined.push(record)
    characters += record.length
  }
  if (joined.length > 0) yield joined.join('')
}
