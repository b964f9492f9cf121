/** The outcome of an import. */
import type { BatchCounts, BatchFailure } from '../../sdk/node/sluice.ts'
import type { Report } from '../command.ts'
import type { Journal, ImportProgress } from './position.ts'
import type { FileRow } from '../../imports/file-row.ts'

export interface Failure {
  row: number
  error: string
}

/** Returns the failures with the content of their rows. `first`: index of `rows[0]` among the events. */
export function failuresOf(
  rows: FileRow[],
  first: number,
  failures: BatchFailure[],
): (Failure & { source: unknown })[] {
  return failures.flatMap(({ index, error }) => {
    const row = rows[index - first]
    return row ? [{ row: row.number, error, source: contentOf(row) }] : []
  })
}

const contentOf = (row: FileRow): unknown => ('values' in row ? row.values : row.text)

/** Replaces the request's item number, which the service reports, by the row of the file. */
export function warningsOf(rows: FileRow[], first: number, warnings: string[]): string[] {
  return warnings.map((warning) =>
    warning.replace(/^item (\d+)/, (item, index: string) => {
      const row = rows[Number(index) - first]
      return row ? `row ${row.number}` : item
    }),
  )
}

/** Returns the progress of earlier runs plus that of this run. */
export function advance(start: ImportProgress, run: BatchCounts, failureBytes: number): ImportProgress {
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

/** Contains only the first failures and warnings. The failures file has all failures. */
export interface ImportOutcome {
  progress: ImportProgress
  failures: Failure[]
  warnings: string[]
}

export function report(
  { progress, failures, warnings }: ImportOutcome,
  { start, failuresFile }: Pick<Journal, 'start' | 'failuresFile'>,
  allowFailures: boolean,
): Report {
  const { received, recorded, deduped, failed } = progress
  const json = { received, recorded, deduped, failed, failures, warnings, failuresFile: failed ? failuresFile : null }
  const text = [
    `${start.position > 0 ? 'In total, with the previous run: ' : ''}${received} ${received === 1 ? 'row' : 'rows'}: ${recorded} recorded, ${deduped} already known, ${failed} failed`,
    ...failures.map(({ row, error }) => `  row ${row}: ${error}`),
    ...(failed > failures.length ? [`  … and ${failed - failures.length} more`] : []),
    ...(failed ? [`All failures with their rows are in ${failuresFile}`] : []),
    ...warnings.map((warning) => `  warning: ${warning}`),
  ]
  return { json, text: text.join('\n'), exitCode: failed && !allowFailures ? 1 : 0 }
}
