/** An error of ClickHouse, as shown to a person. */

export type StatementFault =
  /** ClickHouse's message, without its codes. */
  { kind: 'refused'; message: string } | { kind: 'slow' | 'memory' | 'busy' | 'stopped' }

const MAX_MESSAGE = 2_000

const KINDS: Record<string, 'slow' | 'memory' | 'busy' | 'stopped'> = {
  TIMEOUT_EXCEEDED: 'slow',
  MEMORY_LIMIT_EXCEEDED: 'memory',
  TOO_MANY_SIMULTANEOUS_QUERIES: 'busy',
  QUERY_WAS_CANCELLED: 'stopped',
}

/** `text` is the body of an error response from ClickHouse's HTTP interface. */
export function readStatementError(text: string): StatementFault {
  const withoutVersion = text.trim().replace(/ \(version [^)]*\)$/, '')
  const type = /\(([A-Z][A-Z0-9_]+)\)$/.exec(withoutVersion)?.[1] ?? ''
  const kind = KINDS[type]
  if (kind !== undefined) return { kind }
  return { kind: 'refused', message: readable(withoutVersion).slice(0, MAX_MESSAGE) }
}

const readable = (text: string): string =>
  text
    .replaceAll(/Code: \d+\. (?:DB::Exception: )?/g, '')
    .replaceAll(/\s*\([A-Z][A-Z0-9_]+\)(?=$|\.$)/gm, '')
    // The internal query that checks the statement is of no use to its author.
    .replaceAll(/:? ?while executing '?FUNCTION formatQuerySingleLine.*$/gis, '')
    .replaceAll(/:? ?In scope SELECT formatQuerySingleLine.*$/gis, '')
    .replace(/^analyst: not allowed: /, 'Not allowed: ')
    .replace(/^analyst: /, '')
    .trim()
