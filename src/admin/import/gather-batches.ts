/** Rows on their way into requests. */
import { CommandError } from '../command.ts'
import { createFingerprint, createNumbering, hashRow, keyOf, type Survey } from './number-rows.ts'
import { mapRow, type MappedEvent, type Mapping } from './map-row.ts'
import type { Row } from './read-rows.ts'

/** A row that is not sent: it cannot be read or mapped. */
export interface FaultyRow {
  row: Row
  fault: string
}
export interface ReadyRow {
  row: Row
  /** The event as JSON text. */
  json: string
}

/** Neighbouring rows; `last` is the number of the last of them. */
export interface Batch {
  last: number
  ready: ReadyRow[]
  faulty: FaultyRow[]
}

/** The contract's limit of events in a request. */
export const MAX_ROWS = 500
/** Well under the contract's 32 MiB. */
const MAX_BYTES = 8 * 1024 * 1024

export interface Plan {
  mapping: Mapping
  survey: Survey
  businessId: string
  /** Keeps equal rows of two files apart. */
  name: string
}

/** The file is not what the survey read: equal rows could have been taken for one. */
export class FileChangedError extends CommandError {
  constructor() {
    super('file_changed', 'The file changed while it was read. Run the same command again once it is complete')
  }
}

/**
 * Yields what each row becomes, in order; it must see every row from the first on, for the keys to be right.
 * Throws FileChangedError at the end.
 */
export async function* prepareRows(plan: Plan, rows: AsyncIterable<Row>): AsyncGenerator<ReadyRow | FaultyRow> {
  const numberOf = createNumbering(plan.survey.repeated)
  const fingerprint = createFingerprint()
  for await (const row of rows) {
    const hash = hashRow(row)
    fingerprint.add(hash)
    yield prepareRow(plan, row, hash, numberOf(hash))
  }
  if (fingerprint.tell() !== plan.survey.fingerprint) throw new FileChangedError()
}

function prepareRow({ mapping, name, businessId }: Plan, row: Row, hash: string, number: number): ReadyRow | FaultyRow {
  if ('fault' in row) return { row, fault: row.fault }
  const event = mapRow(mapping, row.values)
  if ('fault' in event && typeof event.fault === 'string') return { row, fault: event.fault }
  const own = (event as MappedEvent)['idempotencyKey']
  const idempotencyKey = own ?? keyOf([name, String((event as MappedEvent)['event'])], hash, number)
  return { row, json: JSON.stringify({ ...event, idempotencyKey, businessId }) }
}

/** Cuts the rows after `position` into requests of `size` rows at most. */
export async function* gatherBatches(
  prepared: AsyncIterable<ReadyRow | FaultyRow>,
  position: number,
  size: number,
): AsyncGenerator<Batch> {
  let batch: Batch = { last: position, ready: [], faulty: [] }
  let bytes = 0
  for await (const one of prepared) {
    if (one.row.number <= position) continue
    const length = 'json' in one ? Buffer.byteLength(one.json) + 1 : 0
    if (batch.ready.length + batch.faulty.length >= size || (bytes > 0 && bytes + length > MAX_BYTES)) {
      yield batch
      batch = { last: position, ready: [], faulty: [] }
      bytes = 0
    }
    if ('json' in one) batch.ready.push(one)
    else batch.faulty.push(one)
    batch.last = one.row.number
    bytes += length
  }
  if (batch.ready.length + batch.faulty.length > 0) yield batch
}
