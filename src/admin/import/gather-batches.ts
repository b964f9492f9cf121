/** Rows on their way into requests. */
import { createNumbering, hashRow, keyOf, type Survey } from './number-rows.ts'
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

/** Yields what each row becomes, in order; it must see every row from the first on, for the keys to be right. */
export async function* prepareRows(plan: Plan, rows: AsyncIterable<Row>): AsyncGenerator<ReadyRow | FaultyRow> {
  const numberOf = createNumbering(plan.survey.repeated)
  for await (const row of rows) {
    const hash = hashRow(row)
    yield prepareRow(plan, row, hash, numberOf(hash))
  }
}

function prepareRow({ mapping, name, businessId }: Plan, row: Row, hash: string, number: number): ReadyRow | FaultyRow {
  if ('fault' in row) return { row, fault: row.fault }
  const event = mapRow(mapping, row.values)
  if ('fault' in event && typeof event.fault === 'string') return { row, fault: event.fault }
  const { idempotencyKey = keyOf([name, String((event as MappedEvent)['event'])], hash, number) } = event as MappedEvent
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
