/** The outcome of an import. */
import type { BatchCounts, BatchFailure } from '../../sdk/node/sluice.ts'
import type { Report } from '../command.ts'
import type { Journal, ImportProgress } from './position.ts'
import type { FileRow } from '../../imports/file-row.ts'
import { type Warnings, describeWarnings } from './warnings.ts'

/** Number of failures that a report shows. */
export const SHOWN = 10

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

/** Returns the progress of earlier runs plus that of this run. */
export function advance(
  start: ImportProgress,
  run: BatchCounts,
  reached: Pick<ImportProgress, 'position' | 'failureBytes'>,
): ImportProgress {
  return {
    file: start.file,
    ...reached,
    received: start.received + run.settled,
    recorded: start.recorded + run.recorded,
    deduped: start.deduped + run.deduped,
    failed: start.failed + run.failed,
  }
}

/** Contains only the first failures. The failures file has all of them. */
export interface ImportOutcome {
  progress: ImportProgress
  failures: Failure[]
  warnings: Warnings
  /** Rows of the file without a time that were left out. */
  leftOut: number
}

export function report(
  { progress, failures, warnings, leftOut }: ImportOutcome,
  { start, failuresFile }: Pick<Journal, 'start' | 'failuresFile'>,
  allowFailures: boolean,
): Report {
  const { received, recorded, deduped, failed } = progress
  const json = {
    received,
    recorded,
    deduped,
    failed,
    leftOut,
    failures,
    warnings: warnings.shown,
    warningCount: warnings.count,
    failuresFile: failed ? failuresFile : null,
  }
  const text = [
    `${start.position > 0 ? 'In total, with the previous run: ' : ''}${describeRows(received)}: ${recorded} recorded, ${deduped} already known, ${failed} failed${describeLeftOut(leftOut)}`,
    ...describeFailures(failures, failed),
    ...(failed ? [`All failures with their rows are in ${failuresFile}`] : []),
    ...describeWarnings(warnings),
  ]
  return { json, text: text.join('\n'), exitCode: failed && !allowFailures ? 1 : 0 }
}

export const describeRows = (rows: number): string => `${rows} ${rows === 1 ? 'row' : 'rows'}`

export const describeLeftOut = (leftOut: number): string => (leftOut > 0 ? `; ${leftOut} without a time left out` : '')

/** `failed`: how many rows failed, of which `failures` are the first. */
export const describeFailures = (failures: Failure[], failed: number): string[] => [
  ...failures.map(({ row, error }) => `  row ${row}: ${error}`),
  ...(failed > failures.length ? [`  … and ${failed - failures.length} more`] : []),
]
