/** Sends rows to `track/batch` of a running service, and stores their outcomes in the order of the file. */
import type { BatchEvent, BatchOptions, BatchProgress, BatchResult, Sluice } from '../../sdk/node/sluice.ts'
import { ERRORS } from '../../errors.ts'
import { CommandError } from '../command.ts'
import type { Journal, ImportProgress, Totals } from './position.ts'
import type { PreparedRow } from '../../imports/prepare-row.ts'
import type { MappedChoice } from '../../imports/take-choices.ts'
import type { FileRow } from '../../imports/file-row.ts'
import { type ChoiceTarget, sendChoices } from './send-choices.ts'
import { advance, type Failure, failuresOf, type ImportOutcome, SHOWN } from './report.ts'
import { addWarnings, noWarnings } from './warnings.ts'
import type { ProgressBar } from './show-progress.ts'

export interface Sending {
  sluice: Sluice
  /** Address of the service. */
  url: string
  /** The key and the client for sending opt-ins. */
  choices: Pick<ChoiceTarget, 'key' | 'fetch'>
  businessId: string
  /** Aborts when the operator stops the command. */
  signal: AbortSignal
  journal: Journal
  bar: ProgressBar
  /** Whether to continue even if no row is accepted. */
  allowFailures: boolean
  options: Required<Pick<BatchOptions, 'concurrency' | 'chunkSize' | 'patienceMs'>>
  /** Called with the totals after some rows, those of earlier runs included. */
  onProgress: (totals: Totals) => void
}

/** If all of the first rows fail, the import ends after this number of them. */
const ALL_FAILED_ROWS = 100

/**
 * Sends the rows after the journal's position. Throws CommandError when the service rejects the import, accepts nothing
 * for `patienceMs`, or accepts none of the first rows, or when `signal` aborts. Also passes on errors of `prepared`,
 * after the outcomes of the rows in flight are stored.
 */
export async function sendRows(sending: Sending, prepared: AsyncIterable<PreparedRow>): Promise<ImportOutcome> {
  const { sluice, url, signal, businessId, journal, bar, allowFailures, options } = sending
  const outcome: ImportOutcome = { progress: journal.start, failures: [], warnings: noWarnings(), leftOut: 0 }
  const inFlight: FileRow[] = []
  const choicesOf = new Map<FileRow, MappedChoice[]>()
  let refused = 0
  let done = 0
  const onProgress = async (reported: BatchProgress): Promise<void> => {
    const rows = inFlight.splice(0, reported.settled - done)
    const failed = failuresOf(rows, done, reported.failures)
    rejectOtherBusiness(failed, businessId)
    const ofChoices = await sendOptIns(sending, rows, choicesOf, new Set(failed.map(({ row }) => row)))
    refused += ofChoices.length
    failed.push(...ofChoices)
    failed.sort((one, other) => one.row - other.row)
    const lines = failed.map((failure) => `${JSON.stringify(failure)}\n`).join('')
    const run = { ...reported, recorded: reported.recorded - refused, failed: reported.failed + refused }
    const position = rows.at(-1)?.number ?? outcome.progress.position
    const failureBytes = outcome.progress.failureBytes + Buffer.byteLength(lines)
    outcome.progress = advance(journal.start, run, { position, failureBytes })
    sending.onProgress(outcome.progress)
    if (!allowFailures) rejectAllFailed(outcome.progress, failed)
    await journal.advance(outcome.progress, lines)
    outcome.failures.push(...failed.slice(0, SHOWN - outcome.failures.length).map(({ row, error }) => ({ row, error })))
    addWarnings(outcome.warnings, rows, done, reported.warnings)
    done = reported.settled
    bar.update(outcome.progress)
  }
  const { error } = await sluice.trackBatch(
    eventsOf(prepared, journal.start.position, { inFlight, choicesOf, outcome }),
    {
      ...options,
      signal,
      // 202 means stored, but does not report the outcome of each row.
      awaitOutcome: true,
      onWait: ({ message, waitMs }) => bar.waiting(`${url}: ${message}`, waitMs),
      onProgress,
    },
  )
  if (signal.aborted) throw describeStop(outcome.progress)
  if (error) throw describeEnd(error, sending)
  return outcome
}

interface InFlight {
  inFlight: FileRow[]
  choicesOf: Map<FileRow, MappedChoice[]>
  outcome: ImportOutcome
}

/**
 * A row that cannot be sent still has its place among the events: it throws its fault when the SDK converts it to JSON.
 */
async function* eventsOf(
  prepared: AsyncIterable<PreparedRow>,
  position: number,
  { inFlight, choicesOf, outcome }: InFlight,
): AsyncGenerator<BatchEvent> {
  for await (const one of prepared) {
    if ('fault' in one && one.isLeftOut) {
      outcome.leftOut += 1
      continue
    }
    if (one.row.number <= position) continue
    inFlight.push(one.row)
    if ('choices' in one && one.choices.length > 0) choicesOf.set(one.row, one.choices)
    yield ('event' in one ? one.event : { toJSON: () => fail(one.fault.message) }) as unknown as BatchEvent
  }
}

/** Sends the opt-ins of rows whose events are recorded. Returns at most one failure per row. */
async function sendOptIns(
  { url, choices, options: { patienceMs }, signal }: Sending,
  rows: FileRow[],
  choicesOf: Map<FileRow, MappedChoice[]>,
  failed: ReadonlySet<number>,
): Promise<ReturnType<typeof failuresOf>> {
  const ofRows = rows.flatMap((row) => {
    const own = choicesOf.get(row) ?? []
    choicesOf.delete(row)
    return failed.has(row.number) ? [] : own.map((choice) => ({ row, choice }))
  })
  if (ofRows.length === 0) return []
  const errors = await sendChoices(
    { ...choices, url, patienceMs, signal },
    ofRows.map(({ choice }) => choice),
  )
  const first = new Map<FileRow, string>()
  for (const [index, error] of errors) {
    const row = ofRows[index]?.row
    if (row && !first.has(row)) first.set(row, `opt-in: ${error}`)
  }
  const refused = [...first].map(([row, error], index) => ({ row, failure: { index, error } }))
  return failuresOf(
    refused.map(({ row }) => row),
    0,
    refused.map(({ failure }) => failure),
  )
}

function fail(fault: string): never {
  throw new Error(fault)
}

/** Every row names the business of the import, so one such failure means that the key is wrong. */
function rejectOtherBusiness(failed: Failure[], businessId: string): void {
  if (!failed.some(({ error }) => error === ERRORS.business_mismatch.message)) return
  const remedy = `Give a secret key of the business ${businessId} with --key or SLUICE_API_KEY`
  throw new CommandError('refused', `The key belongs to another business. ${remedy}`)
}

/** If no row is accepted, the mapping or the key is wrong, and a report of every row would not help. */
function rejectAllFailed({ failed, received }: ImportProgress, [first]: Failure[]): void {
  if (!first || failed < received || failed < ALL_FAILED_ROWS) return
  const why = `Each of the first ${failed} rows failed. Row ${first.row}: ${first.error}`
  throw new CommandError('all_failed', `${why}. To continue despite failures, add --allow-failures`)
}

const describeStop = ({ position }: ImportProgress): Error =>
  new CommandError('stopped', `Stopped after row ${position}. To continue, run the same command again`)

function describeEnd(
  { retryable, status, message }: NonNullable<BatchResult['error']>,
  { url, options }: Sending,
): Error {
  if (!retryable)
    return new CommandError('refused', `The service at ${url} rejected the import with ${status}: ${message}`)
  return new CommandError(
    'gave_up',
    `${url} accepted no batch for ${options.patienceMs / 1000} s (${message}). To continue, run the same command again`,
  )
}
