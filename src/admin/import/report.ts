/** What became of the rows. */
import type { Report } from '../command.ts'
import type { Batch } from './gather-batches.ts'
import type { Progress } from './position.ts'
import type { Row } from './read-rows.ts'
import type { BatchResult } from './send-batch.ts'

export interface Settled {
  batch: Batch
  result: BatchResult
}

export interface Failure {
  row: number
  error: string
}

/** The rows of a batch that failed here or at the service, in the order of the file, with what they hold. */
export function failuresOf(batch: Batch, result: BatchResult): (Failure & { source: unknown })[] {
  const refused = result.failures.flatMap(({ index, error }) => {
    const row = batch.ready[index]?.row
    return row ? [{ row, error }] : []
  })
  const faulty = batch.faulty.map(({ row, fault }) => ({ row, error: fault }))
  return [...faulty, ...refused]
    .toSorted((a, b) => a.row.number - b.row.number)
    .map(({ row, error }) => ({ row: row.number, error, source: contentOf(row) }))
}

/** The service names the item of the request; an operator wants the row of the file. */
export function warningsOf(batch: Batch, { warnings = [] }: BatchResult): string[] {
  return warnings.map((warning) =>
    warning.replace(/^item (\d+)/, (item, index: string) => {
      const row = batch.ready[Number(index)]?.row
      return row ? `row ${row.number}` : item
    }),
  )
}

const contentOf = (row: Row): unknown => ('values' in row ? row.values : row.text)

export function advance(before: Progress, batch: Batch, result: BatchResult, failed: number, bytes: number): Progress {
  return {
    file: before.file,
    position: batch.last,
    failureBytes: before.failureBytes + bytes,
    received: before.received + batch.ready.length + batch.faulty.length,
    recorded: before.recorded + result.recorded,
    deduped: before.deduped + result.deduped,
    failed: before.failed + failed,
  }
}

export function report(
  { received, recorded, deduped, failed }: Progress,
  failures: Failure[],
  warnings: string[],
  failuresFile: string,
  allowFailures: boolean,
): Report {
  const json = { received, recorded, deduped, failed, failures, warnings, failuresFile: failed ? failuresFile : null }
  const text = [
    `${received} rows: ${recorded} recorded, ${deduped} known already, ${failed} failed`,
    ...failures.map(({ row, error }) => `  row ${row}: ${error}`),
    ...(failed > failures.length ? [`  … and ${failed - failures.length} more`] : []),
    ...(failed ? [`All failures with their rows: ${failuresFile}`] : []),
    ...warnings.map((warning) => `  warning, ${warning}`),
  ]
  return { json, text: text.join('\n'), exitCode: failed && !allowFailures ? 1 : 0 }
}
