/** What a condition reads, which operators it may have, and which value an operator needs. */
import { ATTRIBUTES } from '../../../../rules/segments/grammar/attributes.ts'
import {
  type Operand,
  type Operator,
  VALUE_TYPES,
  type ValueType,
  operatorsOf as operatorsOfType,
  rowOf,
} from '../../../../rules/segments/grammar/operators.ts'
import { entryOf } from './entry-of.ts'

/** A condition as JSON. `value` may still be missing. */
export type Draft = Record<string, unknown> & { operator?: unknown; value?: unknown }

export const READS = ['event', 'customField', 'tag', 'attribute', 'segment'] as const
export type Reads = (typeof READS)[number]

export interface Subject {
  reads: Reads
  /** Name of the event, field, tag or attribute, or the ID of the segment. */
  name: string
}

/** Returns undefined for JSON that is not a condition. */
export function subjectOf(condition: unknown): Subject | undefined {
  if (!isObject(condition) || !hasReadableWhere(condition)) return undefined
  const found = Object.entries(condition).find(([key]) => READS.some((one) => one === key))
  const reads = READS.find((one) => one === found?.[0])
  return reads === undefined || typeof found?.[1] !== 'string' ? undefined : { reads, name: found[1] }
}

const isObject = (value: unknown): value is Draft =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const hasReadableWhere = ({ where }: Draft): boolean =>
  where === undefined || (Array.isArray(where) && where.every(isObject))

/** Returns the conditions on properties of a condition that has a subject. */
export const whereOf = ({ where }: Draft): Draft[] => (Array.isArray(where) ? (where as Draft[]) : [])

/** Returns the text that a text field shows for a value. */
export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Types that a value may have when its type is unknown, as with a property of an event or a custom field that no
 * contact has yet.
 */
export const OPEN_TYPES = ['text', 'number', 'date', 'boolean'] as const satisfies ValueType[]
export const PROPERTY_TYPES = ['text', 'number', 'boolean'] as const satisfies ValueType[]

/** Types of the custom fields by key. */
export type FieldTypes = ReadonlyMap<string, ValueType>

/** Returns undefined when neither the condition nor its field determines the type. */
export function knownType(condition: Draft, fieldTypes: FieldTypes): ValueType | undefined {
  const { reads, name } = subjectOf(condition) ?? {}
  if (reads === 'tag' || reads === 'segment') return reads
  if (reads === 'customField') return fieldTypes.get(name ?? '')
  if (reads === 'event') return isTime(condition) ? 'date' : 'number'
  return entryOf<ValueType>(ATTRIBUTES, name)
}

const isTime = ({ metric }: Draft): boolean => metric === 'last' || metric === 'first'

/**
 * Guesses the type from the operator and the value. An empty number is null and an empty text is '', so that both can
 * be typed.
 */
export function guessType({ operator, value }: Draft): ValueType {
  const types = OPEN_TYPES.filter((type) => rowOf(type, operator) !== undefined)
  const [type = 'text'] = types
  return types.includes('number') && (value === null || typeof value === 'number') ? 'number' : type
}

export const typeOf = (condition: Draft, fieldTypes: FieldTypes): ValueType =>
  knownType(condition, fieldTypes) ?? guessType(condition)

/** Returns the operators to choose from. */
export const operatorsOf = (type: ValueType, condition: Draft): Operator[] =>
  operatorsOfType(type, 'customField' in condition)

/** Returns what follows an operator. It may be of another type than the value: pasted JSON, or a field that has changed. */
export function shapeOf(type: ValueType, operator: unknown): Operand {
  const known = [type, ...OPEN_TYPES, ...VALUE_TYPES].find((one) => rowOf(one, operator) !== undefined)
  return rowOf(known ?? type, operator)?.operand ?? 'text'
}
