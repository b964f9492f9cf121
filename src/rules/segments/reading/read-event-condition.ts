import { MAX_CURRENCY, MAX_NAME } from '../grammar/limits.ts'
import { checkOperation } from './read-operation.ts'
import { checkDays } from './read-value.ts'
import { readPropertyPath } from './property-path.ts'
import { checkWhere } from './read-where.ts'
import { type RawObject, type Reading, readName, readOneOf, wordOf } from './reading.ts'

export function checkEvent(reading: Reading, raw: RawObject, path: string): void {
  readName(reading, raw['event'], `${path}.event`, MAX_NAME)
  const [withinDays, where] = [wordOf(raw, 'withinDays'), wordOf(raw, 'where')]
  if (withinDays !== undefined || where !== undefined || raw['metric'] === 'sum')
    return checkWindowed(reading, raw, path)
  const metric = readOneOf(reading, wordOf(raw, 'metric'), `${path}.metric`, ['last', 'first', 'count', 'sum'])
  if (metric === undefined) return
  checkOperation(reading, raw, path, ['event', 'metric'], { type: metric === 'count' ? 'number' : 'date' })
}

function checkWindowed(reading: Reading, raw: RawObject, path: string): void {
  const metric = readOneOf(reading, wordOf(raw, 'metric'), `${path}.metric`, ['count', 'sum'])
  const [withinDays, where] = [wordOf(raw, 'withinDays'), wordOf(raw, 'where')]
  if (withinDays !== undefined) checkDays(reading, withinDays, `${path}.withinDays`)
  if (where !== undefined) checkWhere(reading, where, `${path}.where`)
  if (metric === undefined) return
  const words = ['event', 'metric', 'withinDays', 'where', ...(metric === 'sum' ? checkSum(reading, raw, path) : [])]
  checkOperation(reading, raw, path, words, { type: 'number', takesDecimals: metric === 'sum' })
}

/** @returns the keys that belong to the sum */
function checkSum(reading: Reading, raw: RawObject, path: string): string[] {
  const property = readPropertyPath(reading, wordOf(raw, 'property'), `${path}.property`)
  if (property !== 'value') return ['property']
  checkCurrency(reading, raw, path)
  return ['property', 'currency']
}

export function checkCurrency(reading: Reading, raw: RawObject, path: string): void {
  const currency = wordOf(raw, 'currency')
  if (currency !== undefined) readName(reading, currency, `${path}.currency`, MAX_CURRENCY)
}
