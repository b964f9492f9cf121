/** Checks the groups of a rule, down to its conditions. */
import { MAX_CONDITIONS, MAX_IN_A_GROUP, MAX_LEVELS, MAX_NAME } from '../grammar/limits.ts'
import { operatorsOf } from '../grammar/operators.ts'
import { checkAttribute } from './read-attribute-condition.ts'
import { checkEvent } from './read-event-condition.ts'
import { checkField } from './read-field-condition.ts'
import { type RawObject, type Reading, checkWords, fault, isObject, readName, readOneOf, wordOf } from './reading.ts'

const KINDS = ['all', 'any', 'not', 'event', 'customField', 'tag', 'attribute', 'segment'] as const

/** @param level 1 for the rule itself */
export function checkNode(reading: Reading, raw: unknown, path: string, level: number): void {
  if (!isObject(raw)) return fault(reading, path, 'condition')
  const [kind, ...others] = KINDS.filter((kind) => Object.hasOwn(raw, kind))
  if (kind === undefined || others.length > 0) {
    return fault(reading, path, 'one_kind', { words: KINDS.join(', ') })
  }
  if (level > MAX_LEVELS) return fault(reading, path, 'rule_levels', { level, max: MAX_LEVELS })
  switch (kind) {
    case 'all':
    case 'any':
      return checkGroup(reading, raw, path, level, kind)
    case 'not':
      checkWords(reading, raw, path, ['not'])
      return checkNode(reading, raw['not'], `${path}.not`, level + 1)
    default:
      return checkCondition(reading, raw, path, kind)
  }
}

function checkGroup(reading: Reading, raw: RawObject, path: string, level: number, kind: 'all' | 'any'): void {
  checkWords(reading, raw, path, [kind])
  const rules = raw[kind]
  if (!Array.isArray(rules) || rules.length === 0 || rules.length > MAX_IN_A_GROUP) {
    return fault(reading, `${path}.${kind}`, 'group', { max: MAX_IN_A_GROUP })
  }
  rules.forEach((inner: unknown, index) => checkNode(reading, inner, `${path}.${kind}[${index}]`, level + 1))
}

function checkCondition(
  reading: Reading,
  raw: RawObject,
  path: string,
  kind: Exclude<(typeof KINDS)[number], 'all' | 'any' | 'not'>,
): void {
  reading.conditions += 1
  if (reading.conditions > MAX_CONDITIONS) {
    if (reading.conditions === MAX_CONDITIONS + 1) {
      fault(reading, path, 'rule_conditions', { max: MAX_CONDITIONS })
    }
    return
  }
  CHECKS[kind](reading, raw, path)
}

const CHECKS = {
  event: checkEvent,
  customField: checkField,
  attribute: checkAttribute,
  tag: checkTag,
  segment: checkSegment,
}

function checkTag(reading: Reading, raw: RawObject, path: string): void {
  readName(reading, raw['tag'], `${path}.tag`, MAX_NAME)
  readOneOf(reading, wordOf(raw, 'operator'), `${path}.operator`, operatorsOf('tag'))
  checkWords(reading, raw, path, ['tag', 'operator'])
}

function checkSegment(reading: Reading, raw: RawObject, path: string): void {
  const id = readName(reading, raw['segment'], `${path}.segment`, MAX_NAME)
  if (id !== undefined) reading.segments.push({ id, path: `${path}.segment` })
  readOneOf(reading, wordOf(raw, 'operator'), `${path}.operator`, operatorsOf('segment'))
  checkWords(reading, raw, path, ['segment', 'operator'])
}
