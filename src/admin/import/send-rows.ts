/** Rows through `track/batch` of a running service, written down as they are settled, in the order of the file. */
import type { BatchEvent, BatchOptions, BatchProgress, BatchResult, Sluice } from '../../sdk/node/sluice.ts'
import { ERRORS } from '../../errors.ts'
import { CommandError } from '../command.ts'
import type { Journal, Progress } from './position.ts'
import type { PreparedRow } from './prepare-rows.ts'
import type { Row } from './read-rows.ts'
import { advance, type Failure, failuresOf, type Settled, warningsOf } from './report.ts'
import type { ProgressBar } from './show-progress.ts'

export interface Sending {
  sluice: Sluice
  /** Where the service is. */
  url: string
  businessId: string
  /** Ends it early, by the operator's wish. */
  signal: AbortSignal
  journal: Journal
  bar: ProgressBar
  /** Goes on also when not one row is taken. */
  allowFailures: boolean
  options: Required<Pick<BatchOptions, 'concurrency' | 'chunkSize' | 'patienceMs'>>
}

/** How many failures and warnings a report shows. */
const SHOWN = 10
/** So many rows, failed without one that did not, end an import. */
const HOPELESS = 100

/**
 * Sends what comes after the journal's position. Throws CommandError when the service refuses for good, stays silent for
 * longer than the patience, takes not one row, or the signal comes; and what `prepared` throws, once what was under way is written down.
 */
export async function sendRows(sending: Sending, prepared: AsyncIterable<PreparedRow>): Promise<Settled> {
  const { sluice, url, signal, businessId, journal, bar, allowFailures, options } = sending
  const settled: Settled = { progress: journal.start, failures: [], warnings: [] }
  const underWay: Row[] = []
  const onProgress = async (reported: BatchProgress): Promise<void> => {
    const done = settled.progress.position - journal.start.position
    const rows = underWay.splice(0, reported.settled - done)
    const failed = failuresOf(rows, done, reported.failures)
    rejectOtherBusiness(failed, businessId)
    const lines = failed.map((failure) => `${JSON.stringify(failure)}\n`).join('')
    settled.progress = advance(journal.start, reported, settled.progress.failureBytes + Buffer.byteLength(lines))
    if (!allowFailures) refuseHopeless(settled.progress, failed)
    await journal.advance(settled.progress, lines)
    settled.failures.push(...failed.slice(0, SHOWN - settled.failures.length).map(({ row, error }) => ({ row, error })))
    settled.warnings.push(...warningsOf(rows, done, reported.warnings).slice(0, SHOWN - settled.warnings.length))
    bar.update(settled.progress)
  }
  const { error } = await sluice.trackBatch(eventsOf(prepared, journal.start.position, underWay), {
    ...options,
    signal,
    // 202 is kept but says nothing of each row.
    awaitOutcome: true,
    onWait: ({ message, waitMs }) => bar.waiting(`${url}: ${message}`, waitMs),
    onProgress,
  })
  if (signal.aborted) throw describeStop(settled.progress)
  if (error) throw describeEnd(error, sending)
  return settled
}

/** A row that cannot be sent takes its place among the events all the same: it is what says so when it is written as JSON. */
async function* eventsOf(
  prepared: AsyncIterable<PreparedRow>,
  position: number,
  underWay: Row[],
): AsyncGenerator<BatchEvent> {
  for await (const one of prepared) {
    if (one.row.number <= position) continue
    underWay.push(one.row)
    yield ('event' in one ? one.event : { toJSON: () => fail(one.fault) }) as unknown as BatchEvent
  }
}

function fail(fault: string): never {
  throw new Error(fault)
}

/** Every row names the business of the import, so that one such failure is a fault of the key. */
function rejectOtherBusiness(failed: Failure[], businessId: string): void {
  if (!failed.some(({ error }) => error === ERRORS.business_mismatch.message)) return
  const remedy = `give a secret key of the business ${businessId} by --key or SLUICE_API_KEY`
  throw new CommandError('refused', `The key belongs to another business: ${remedy}`)
}

/** When nothing at all is taken the mapping or the key is wrong, and a report of every row helps nobody. */
function refuseHopeless({ failed, received }: Progress, [first]: Failure[]): void {
  if (!first || failed < received || failed < HOPELESS) return
  const why = `Each of the first ${failed} rows failed. Row ${first.row}: ${first.error}`
  throw new CommandError('all_failed', `${why}. With --allow-failures the import goes on all the same`)
}

const describeStop = ({ position }: Progress): Error =>
  new CommandError('stopped', `Stopped after row ${position}. Run the same command again to go on`)

function describeEnd(
  { retryable, status, message }: NonNullable<BatchResult['error']>,
  { url, options }: Sending,
): Error {
  if (!retryable)
    return new CommandError('refused', `The service at ${url} refuses the import with ${status}: ${message}`)
  return new CommandError(
    'gave_up',
    `${url} took no batch for ${options.patienceMs / 1000} s (${message}). Run the same command again to go on`,
  )
}
