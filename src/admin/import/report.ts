/** What became of the rows. */
import type { BatchCounts, BatchFailure } from '../../sdk/node/sluice.ts'
import type { Report } from '../command.ts'
import type { Journal, Progress } from './position.ts'
import type { Row } from './read-rows.ts'

export interface Failure {
  row: number
  error: string
}

/** With what the rows hold. `first`: the number that the first of them has among the events. */
export function failuresOf(rows: Row[], first: number, failures: BatchFailure[]): (Failure & { source: unknown })[] {
  return failures.flatMap(({ index, error }) => {
    const row = rows[index - first]
    return row ? [{ row: row.number, error, source: contentOf(row) }] : []
  })
}

const contentOf = (row: Row): unknown => ('values' in row ? row.values : row.text)

/** The service names the event; an operator wants the row of the file. */
export function warningsOf(rows: Row[], first: number, warnings: string[]): string[] {
  return warnings.map((warning) =>
    warning.replace(/^item (\d+)/, (item, index: string) => {
      const row = rows[Number(index) - first]
      return row ? `row ${row.number}` : item
    }),
  )
}

/** What earlier runs have settled, and this one. */
export function advance(start: Progress, run: BatchCounts, failureBytes: number): Progress {
  return {
    file: start.file,
    position: start.position + run.settled,
    failureBytes,
    received: start.received + run.settled,
    recorded: start.recorded + run.recorded,
    deduped: start.deduped + run.deduped,
    failed: start.failed + run.failed,
  }
}

/** The first failures and warnings alone are kept: the file of failures has all. */
export interface Settled {
  progress: Progress
  failures: Failure[]
  warnings: string[]
}

export function report(
  { progress, failures, warnings }: Settled,
  { start, failuresFile }: Pick<Journal, 'start' | 'failuresFile'>,
  allowFailures: boolean,
): Report {
  const { received, recorded, deduped, failed } = progress
  const json = { received, recorded, deduped, failed, failures, warnings, failuresFile: failed ? failuresFile : null }
  const text = [
    `${start.position > 0 ? 'In all, with what was done before: ' : ''}${received} ${received === 1 ? 'row' : 'rows'}: ${recorded} recorded, ${deduped} known already, ${failed} failed`,
    ...failures.map(({ row, error }) => `  row ${row}: ${error}`),
    ...(failed > failures.length ? [`  … and ${failed - failures.length} more`] : []),
    ...(failed ? [`All failures with their rows: ${failuresFile}`] : []),
    ...warnings.map((warning) => `  warning, ${warning}`),
  ]
  return { json, text: text.join('\n'), exitCode: failed && !allowFailures ? 1 : 0 }
}
