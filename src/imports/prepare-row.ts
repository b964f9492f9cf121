/** Converts a row of the file to an event of a request. */
import { type Fault, faultOf } from '../rules/faults.ts'
import { looksRounded, looksRoundedPhone } from '../rules/identity/rounded.ts'
import type { FileRow } from './file-row.ts'
import { mapRow, type MappedEvent, type Mapping, placeFault } from './map-row.ts'
import { type MappedChoice, takeChoices } from './take-choices.ts'
import { keyOf } from './row-keys.ts'

/** A row with a fault cannot be read or mapped, or is left out. It is not sent. */
export type PreparedRow =
  | { row: FileRow; event: MappedEvent; choices: MappedChoice[]; hasOwnKey: boolean }
  | { row: FileRow; fault: Fault; isLeftOut?: true }

export interface RowRules {
  mapping: Mapping
  businessId: string
  /** Part of the idempotency keys. It distinguishes equal rows of different imports. */
  name: string
}

/** `hash`: hash of the row. `number`: counts the rows with this hash, from 1. */
export function prepareRow(
  { mapping, name, businessId }: RowRules,
  row: FileRow,
  hash: string,
  number: number,
): PreparedRow {
  if ('fault' in row) return { row, fault: row.fault }
  const mapped = mapRow(mapping, row.values)
  if ('fault' in mapped) return { row, ...mapped }
  const rounded = findRounded(mapped.event)
  if (rounded !== null) return { row, fault: rounded }
  const taken = takeChoices(mapped.event)
  if ('fault' in taken) return { row, fault: taken.fault }
  const { event, choices } = taken
  // Fails only this row. The SDK would reject the whole import.
  if (event['visitorId'] != null) return { row, fault: faultOf('', 'row_visitor') }
  if (namesOther(event['businessId'], businessId))
    return { row, fault: placeFault(faultOf('', 'row_business', { business: businessId }), 'businessId') }
  const own = event['idempotencyKey'] ?? null
  const idempotencyKey = own ?? keyOf([name, String(event['event'])], hash, number)
  return { row, event: { ...event, idempotencyKey, businessId }, choices, hasOwnKey: own !== null }
}

/**
 * Finds a phone, customer ID or key that a spreadsheet has rounded. Its digits are lost, and it would make one person of
 * many, or one event of many rows.
 */
function findRounded({ identity, idempotencyKey }: MappedEvent): Fault | null {
  const { phone, platformCustomerId } = Object(identity) as Record<string, unknown>
  const exact: [path: string, value: unknown, isRounded: (text: string) => boolean][] = [
    ['identity.phone', phone, looksRoundedPhone],
    ['identity.platformCustomerId', platformCustomerId, looksRounded],
    ['idempotencyKey', idempotencyKey, looksRounded],
  ]
  const found = exact.find(([, value, isRounded]) => typeof value === 'string' && isRounded(value))
  if (found === undefined) return null
  const [path, value] = found
  return placeFault(faultOf('', 'cell_rounded', { sent: String(value).slice(0, SHOWN) }), path)
}

/** Characters of a value that a message shows. */
const SHOWN = 100

/** Compares like the service, which would answer as for a key of another business and thereby end the import. */
const namesOther = (sent: unknown, businessId: string): boolean =>
  sent != null && (typeof sent !== 'string' || sent.trim().toLowerCase() !== businessId)
