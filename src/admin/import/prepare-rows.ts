/** What each row becomes on its way into a request. */
import { CommandError } from '../command.ts'
import { createFingerprint, createNumbering, hashRow, keyOf, type Survey } from './number-rows.ts'
import { mapRow, type MappedEvent, type Mapping } from './map-row.ts'
import type { Row } from './read-rows.ts'

/** With a fault it is not sent: it cannot be read or mapped. */
export type PreparedRow = { row: Row; event: MappedEvent } | { row: Row; fault: string }

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
export async function* prepareRows(plan: Plan, rows: AsyncIterable<Row>): AsyncGenerator<PreparedRow> {
  const numberOf = createNumbering(plan.survey.repeated)
  const fingerprint = createFingerprint()
  for await (const row of rows) {
    const hash = hashRow(row)
    fingerprint.add(hash)
    yield prepareRow(plan, row, hash, numberOf(hash))
  }
  if (fingerprint.tell() !== plan.survey.fingerprint) throw new FileChangedError()
}

function prepareRow({ mapping, name, businessId }: Plan, row: Row, hash: string, number: number): PreparedRow {
  if ('fault' in row) return { row, fault: row.fault }
  const mapped = mapRow(mapping, row.values)
  if ('fault' in mapped) return { row, fault: mapped.fault }
  const { event } = mapped
  // One such row is a fault of the row; the package would refuse the whole import.
  if (event['visitorId'] != null) return { row, fault: 'visitorId is not accepted inside a batch' }
  if (namesOther(event['businessId'], businessId))
    return { row, fault: `businessId: the row belongs to another business, the import is for ${businessId}` }
  const idempotencyKey = event['idempotencyKey'] ?? keyOf([name, String(event['event'])], hash, number)
  return { row, event: { ...event, idempotencyKey, businessId } }
}

/** As the service compares them. It would answer as it does to a key of another business, which ends an import. */
const namesOther = (sent: unknown, businessId: string): boolean =>
  sent != null && (typeof sent !== 'string' || sent.trim().toLowerCase() !== businessId)
