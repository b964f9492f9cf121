/** Reads conditions on the events of a trigger, a goal or a `wait_for`. */
import { hasMoreBytes, trimText } from '../events/text.ts'
import { readPropertyPath } from '../segments/reading/property-path.ts'
import { checkWhere } from '../segments/reading/read-where.ts'
import { type Faults, addFaults, fault } from '../segments/reading/reading.ts'
import type { PropertyCondition } from '../segments/rule.ts'
import { MAX_KEY_PATH } from './key-path.ts'

/** Maximum size as compact JSON in UTF-8. */
const MAX_BYTES = 32 * 1024

/** Returns the conditions; none when one of them is faulty. Absent: none. */
export function readConditions(reading: Faults, raw: unknown, path: string): PropertyCondition[] {
  if (raw === undefined) return []
  const own: Faults = { faults: [] }
  checkWhere(own, raw, path)
  addFaults(reading, own.faults)
  if (own.faults.length > 0) return []
  // All allowed forms of a condition were checked above.
  const where = (raw as PropertyCondition[]).map(({ property, operator, value, ignoreCase }) => ({
    property,
    operator,
    ...(value !== undefined && value !== null && { value }),
    ...(ignoreCase === true && { ignoreCase }),
  }))
  const json = JSON.stringify(where)
  if (hasMoreBytes(json, MAX_BYTES)) fault(reading, path, 'json_size')
  // As it is read back: without negative zeros.
  return JSON.parse(json) as PropertyCondition[]
}

/** A path into the properties of an event. */
export function readKeyPath(reading: Faults, raw: unknown, path: string): string | undefined {
  const read = readPropertyPath(reading, raw, path, MAX_KEY_PATH)
  return read === undefined ? undefined : trimText(read)
}

export function readSameKey(reading: Faults, raw: unknown, path: string): true | string | undefined {
  if (raw === true) return true
  if (typeof raw === 'string') return readKeyPath(reading, raw, path)
  fault(reading, path, 'same_key')
  return undefined
}
