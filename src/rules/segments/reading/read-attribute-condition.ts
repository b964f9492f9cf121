import { CHANNELS } from '../../events/facts.ts'
import { checkCurrency } from './read-event-condition.ts'
import { checkOperation } from './read-operation.ts'
import { type RawObject, type Reading, readOneOf, wordOf } from './reading.ts'
import { ATTRIBUTES, ATTRIBUTE_NAMES, type Attribute } from '../grammar/attributes.ts'

export function checkAttribute(reading: Reading, raw: RawObject, path: string): void {
  const attribute = readOneOf(reading, raw['attribute'], `${path}.attribute`, ATTRIBUTE_NAMES)
  if (attribute === undefined) return
  const words = ['attribute', ...checkExtra(reading, raw, path, attribute)]
  checkOperation(reading, raw, path, words, { type: ATTRIBUTES[attribute], takesDecimals: attribute === 'revenue' })
}

/** Checks the extra key of an attribute, and returns it. */
function checkExtra(reading: Reading, raw: RawObject, path: string, attribute: Attribute): string[] {
  if (attribute === 'revenue') {
    checkCurrency(reading, raw, path)
    return ['currency']
  }
  if (attribute !== 'subscribed') return []
  readOneOf(reading, wordOf(raw, 'channel'), `${path}.channel`, CHANNELS)
  return ['channel']
}
