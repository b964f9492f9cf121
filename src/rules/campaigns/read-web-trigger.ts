import type { Fault } from '../faults.ts'
import { neededType } from '../segments/grammar/operators.ts'
import { type Faults, type RawObject, fault } from '../segments/reading/reading.ts'
import type { PropertyCondition } from '../segments/rule.ts'
import { readConditions } from './read-conditions.ts'
import { take, takeObject } from './read-words.ts'
import { WEB_PROPERTIES, type WebTrigger, type WebTriggerName } from './web-trigger.ts'

/**
 * Reads `where` of a trigger by the browser's automatic capture. A trigger that was read can be read again, with the
 * same result.
 */
export function readWebTrigger(web: WebTriggerName, sent: RawObject): { trigger: WebTrigger } | { faults: Fault[] } {
  const reading: Faults = { faults: [] }
  takeObject(reading, sent, 'trigger', ['web', 'where'])
  const where = readConditions(reading, take(sent, 'where'), 'trigger.where')
  where.forEach((condition, index) => checkCondition(reading, web, condition, `trigger.where[${index}]`))
  if (reading.faults.length > 0) return { faults: reading.faults }
  return { trigger: { web, ...(where.length > 0 && { where }) } }
}

/** A condition that can never hold is treated as a mistake. */
function checkCondition(reading: Faults, web: WebTriggerName, condition: PropertyCondition, path: string): void {
  const properties = WEB_PROPERTIES[web]
  const { property } = condition
  const type = Object.hasOwn(properties, property) ? properties[property] : undefined
  if (type === undefined)
    return fault(reading, `${path}.property`, 'web_property', {
      choices: Object.keys(properties).join(', '),
      trigger: web,
    })
  const needed = neededType(condition)
  if (needed !== null && needed !== (type === 'number' ? 'Number' : 'Text'))
    fault(reading, `${path}.operator`, 'compares_with', { type })
}
