import type { Fault } from '../faults.ts'
import { hasMoreBytes } from '../events/text.ts'
import { checkWhere } from '../segments/reading/read-where.ts'
import { type Faults, type RawObject, fault } from '../segments/reading/reading.ts'
import type { PropertyCondition } from '../segments/rule.ts'
import type { EventTrigger } from './event-trigger.ts'
import { take, takeObject } from './read-words.ts'

/** Maximum size as compact JSON in UTF-8. */
const MAX_BYTES = 32 * 1024

/** Reads `where` and `sources` of an event trigger. A trigger that was read can be read again, with the same result. */
export function readEventTrigger(event: string, sent: RawObject): { trigger: EventTrigger } | { faults: Fault[] } {
  const reading: Faults = { faults: [] }
  takeObject(reading, sent, 'trigger', ['event', 'where', 'sources'])
  const where = readTriggerWhere(reading, take(sent, 'where'))
  const sources = take(sent, 'sources')
  const isLive = Array.isArray(sources) && sources.length === 1 && sources[0] === 'live'
  if (sources !== undefined && !isLive) fault(reading, 'trigger.sources', 'sources')
  if (reading.faults.length > 0) return { faults: reading.faults }
  return { trigger: { event, ...(where.length > 0 && { where }), ...(isLive && { sources: ['live'] }) } }
}

/** Returns the conditions of a trigger without faulty ones. Absent: none. */
export function readTriggerWhere(reading: Faults, raw: unknown): PropertyCondition[] {
  if (raw === undefined) return []
  checkWhere(reading, raw, 'trigger.where')
  if (reading.faults.length > 0) return []
  // All allowed forms of a condition were checked above.
  const where = (raw as PropertyCondition[]).map(({ property, operator, value, ignoreCase }) => ({
    property,
    operator,
    ...(value !== undefined && value !== null && { value }),
    ...(ignoreCase === true && { ignoreCase }),
  }))
  const json = JSON.stringify(where)
  if (hasMoreBytes(json, MAX_BYTES)) fault(reading, 'trigger.where', 'json_size')
  // As it is read back: without negative zeros.
  return JSON.parse(json) as PropertyCondition[]
}
