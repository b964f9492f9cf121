/** Reads the answer to a statement in ClickHouse's format TabSeparatedWithNamesAndTypes, up to the limits. */
import { STATEMENT_LIMITS } from '../../rules/statement-limits.ts'

export interface StatementResult {
  columns: { name: string; type: string }[]
  /** Values as ClickHouse writes them as text; null for NULL. */
  rows: (string | null)[][]
  /** True when there were more rows. */
  isCut: boolean
}

/** Reads no more of the body than needed; the rest is cancelled. */
export async function readStatementResult(body: ReadableStream<Uint8Array>): Promise<StatementResult> {
  const { text, isWhole } = await readText(body, STATEMENT_LIMITS.bytes)
  const end = text.lastIndexOf('\n')
  const [names = '', types = '', ...lines] = end < 0 ? [] : text.slice(0, end).split('\n')
  const columns = cellsOf(names).map((name, at) => ({ name: name ?? '', type: cellsOf(types)[at] ?? '' }))
  const rows = lines.slice(0, STATEMENT_LIMITS.rows).map(cellsOf)
  return { columns, rows, isCut: !isWhole || lines.length > rows.length }
}

async function readText(body: ReadableStream<Uint8Array>, max: number): Promise<{ text: string; isWhole: boolean }> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), isWhole: true }
    text += decoder.decode(value.subarray(0, max - bytes), { stream: true })
    bytes += value.length
    if (bytes > max) {
      await reader.cancel().catch(() => undefined)
      return { text, isWhole: false }
    }
  }
}

const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', 0: '\0' }

const cellsOf = (line: string): (string | null)[] =>
  line
    .split('\t')
    .map((cell) =>
      cell === String.raw`\N` ? null : cell.replaceAll(/\\(.)/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped),
    )

/** Escapes the value of a URL parameter, which ClickHouse reads like a cell of such a line. */
export const escapeParameter = (value: string): string =>
  value
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('\t', String.raw`\t`)
    .replaceAll('\n', String.raw`\n`)
