import type { Fault } from '../faults.ts'
import { type Faults, type RawObject, fault } from '../segments/reading/reading.ts'
import type { EventTrigger } from './event-trigger.ts'
import { readConditions } from './read-conditions.ts'
import { take, takeObject } from './read-words.ts'

/** Reads `where` and `sources` of an event trigger. A trigger that was read can be read again, with the same result. */
export function readEventTrigger(event: string, sent: RawObject): { trigger: EventTrigger } | { faults: Fault[] } {
  const reading: Faults = { faults: [] }
  takeObject(reading, sent, 'trigger', ['event', 'where', 'sources'])
  const where = readConditions(reading, take(sent, 'where'), 'trigger.where')
  const sources = take(sent, 'sources')
  const isLive = Array.isArray(sources) && sources.length === 1 && sources[0] === 'live'
  if (sources !== undefined && !isLive) fault(reading, 'trigger.sources', 'sources')
  if (reading.faults.length > 0) return { faults: reading.faults }
  return { trigger: { event, ...(where.length > 0 && { where }), ...(isLive && { sources: ['live'] }) } }
}
