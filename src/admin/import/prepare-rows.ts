/** Turns rows of the file into events of a request. */
import { CommandError } from '../command.ts'
import { createFingerprint, createNumbering, hashRow, keyOf, type Survey } from './number-rows.ts'
import { mapRow, type MappedEvent, type Mapping } from './map-row.ts'
import type { FileRow } from './read-rows.ts'

/** A row with a fault cannot be read or mapped, and is not sent. */
export type PreparedRow = { row: FileRow; event: MappedEvent } | { row: FileRow; fault: string }

export interface Plan {
  mapping: Mapping
  survey: Survey
  businessId: string
  /** Part of the idempotency keys: distinguishes equal rows of two imports. */
  name: string
}

/** The file changed since the survey read it: equal rows could have got the same key. */
export class FileChangedError extends CommandError {
  constructor() {
    super('file_changed', 'The file changed while it was read. Run the same command again when the file is complete')
  }
}

/**
 * Yields each row with its event, in order. Must see every row from the first on, otherwise the keys are wrong.
 * Throws FileChangedError at the end if the file changed.
 */
export async function* prepareRows(plan: Plan, rows: AsyncIterable<FileRow>): AsyncGenerator<PreparedRow> {
  const numberOf = createNumbering(plan.survey.repeated)
  const fingerprint = createFingerprint()
  for await (const row of rows) {
    const hash = hashRow(row)
    fingerprint.add(hash)
    yield prepareRow(plan, row, hash, numberOf(hash))
  }
  if (fingerprint.digest() !== plan.survey.fingerprint) throw new FileChangedError()
}

function prepareRow({ mapping, name, businessId }: Plan, row: FileRow, hash: string, number: number): PreparedRow {
  if ('fault' in row) return { row, fault: row.fault }
  const mapped = mapRow(mapping, row.values)
  if ('fault' in mapped) return { row, fault: mapped.fault }
  const { event } = mapped
  // Fails this row alone: the SDK would reject the whole import.
  if (event['visitorId'] != null) return { row, fault: 'visitorId is not accepted inside a batch' }
  if (namesOther(event['businessId'], businessId))
    return { row, fault: `businessId: the row belongs to another business than this import (${businessId})` }
  const idempotencyKey = event['idempotencyKey'] ?? keyOf([name, String(event['event'])], hash, number)
  return { row, event: { ...event, idempotencyKey, businessId } }
}

/** Compares as the service does. The service would answer like to a key of another business, which ends an import. */
const namesOther = (sent: unknown, businessId: string): boolean =>
  sent != null && (typeof sent !== 'string' || sent.trim().toLowerCase() !== businessId)
