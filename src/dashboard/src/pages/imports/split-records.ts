/** Cuts the text of a file into records: lines, but a line break within quotes of a CSV file is part of its record. */
export interface RecordSplitter {
  /** The records that are complete, with their line breaks. */
  push(text: string): string[]
  /** What is left at the end of the file. */
  end(): string
}

export function splitRecords(format: 'csv' | 'ndjson'): RecordSplitter {
  let rest = ''
  let isQuoted = false
  return {
    push(text) {
      const records: string[] = []
      let from = 0
      for (let at = 0; at < text.length; at += 1) {
        const char = text[at]
        if (char === '"' && format === 'csv') isQuoted = !isQuoted
        else if (char === '\n' && !isQuoted) {
          records.push(rest + text.slice(from, at + 1))
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

/** Several records as one text. */
export async function* joinRecords(records: AsyncIterable<string>, limits: Limits): AsyncGenerator<string> {
  let kept: string[] = []
  let characters = 0
  for await (const record of records) {
    if (kept.length === limits.records || (kept.length > 0 && characters + record.length > limits.characters)) {
      yield kept.join('')
      kept = []
      characters = 0
    }
    kept.push(record)
    characters += record.length
  }
  if (kept.length > 0) yield kept.join('')
}
