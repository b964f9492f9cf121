import type { Fault } from '../faults.ts'
import { type Faults, type RawObject, fault, isObject } from '../segments/reading/reading.ts'
import type { EnrolPer } from './enrolment-key.ts'
import type { Goal } from './event-condition.ts'
import { readConditions, readKeyPath, readSameKey } from './read-conditions.ts'
import { take, takeObject } from './read-words.ts'

/** Reads `where` and `sameKey` of a goal. A goal that was read can be read again, with the same result. */
export function readGoal(event: string, sent: RawObject): { goal: Goal } | { faults: Fault[] } {
  const reading: Faults = { faults: [] }
  const where = readConditions(reading, take(sent, 'where'), 'goal.where')
  const sentKey = take(sent, 'sameKey')
  const sameKey = sentKey === undefined ? undefined : readSameKey(reading, sentKey, 'goal.sameKey')
  if (reading.faults.length > 0) return { faults: reading.faults }
  return { goal: { event, ...(where.length > 0 && { where }), ...(sameKey !== undefined && { sameKey }) } }
}

export function readEnrolPer(sent: unknown): { enrolPer: EnrolPer } | { faults: Fault[] } {
  if (sent === 'contact') return { enrolPer: 'contact' }
  const reading: Faults = { faults: [] }
  if (!isObject(sent)) {
    fault(reading, 'enrolPer', 'enrol_per')
    return reading
  }
  takeObject(reading, sent, 'enrolPer', ['property'])
  const property = readKeyPath(reading, take(sent, 'property'), 'enrolPer.property')
  return property === undefined || reading.faults.length > 0 ? reading : { enrolPer: { property } }
}
