/** What a condition reads, which operators it may have, and which value an operator needs. */
import {
  ATTRIBUTES,
  type AttributeType,
  BOOLEAN_OPERATORS,
  DATE_OPERATORS,
  NUMBER_OPERATORS,
  SEGMENT_OPERATORS,
  STAGE_OPERATORS,
  TAG_OPERATORS,
  TEXT_OPERATORS,
} from '../../../../rules/segments/rule.ts'
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

export type ValueType = 'date' | 'number' | 'text' | 'boolean' | 'stage' | 'tag' | 'segment'

const OPERATORS = {
  date: DATE_OPERATORS,
  number: NUMBER_OPERATORS,
  text: TEXT_OPERATORS,
  boolean: BOOLEAN_OPERATORS,
  stage: STAGE_OPERATORS,
  tag: TAG_OPERATORS,
  segment: SEGMENT_OPERATORS,
} as const satisfies Record<ValueType, readonly string[]>
export type Operator = (typeof OPERATORS)[ValueType][number]

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
  const type = entryOf<AttributeType>(ATTRIBUTES, name)
  return type === 'texts' ? 'text' : type
}

const isTime = ({ metric }: Draft): boolean => metric === 'last' || metric === 'first'

/**
 * Guesses the type from the operator and the value. An empty number is null and an empty text is '', so that both can
 * be typed.
 */
export function guessType({ operator, value }: Draft): ValueType {
  const types = OPEN_TYPES.filter((type) => (OPERATORS[type] as readonly unknown[]).includes(operator))
  const [type = 'text'] = types
  return types.includes('number') && (value === null || typeof value === 'number') ? 'number' : type
}

export const typeOf = (condition: Draft, fieldTypes: FieldTypes): ValueType =>
  knownType(condition, fieldTypes) ?? guessType(condition)

/**
 * Returns the operators to choose from. Only custom fields have `within_next_days`, because no other date is in the
 * future.
 */
export function operatorsOf(type: ValueType, condition: Draft): readonly Operator[] {
  const all: readonly Operator[] = OPERATORS[type]
  return 'customField' in condition ? all : all.filter((one) => one !== 'within_next_days')
}

export type Shape = 'none' | 'days' | 'instant' | 'number' | 'range' | 'text' | 'texts' | 'stage' | 'stages'

const NO_VALUE = ['exists', 'not_exists', 'is_true', 'is_false', ...TAG_OPERATORS, ...SEGMENT_OPERATORS] as string[]

/** Pasted JSON may compare text with a number operator. The server rejects that. */
const isOfNumbers = (operator: unknown): boolean => (NUMBER_OPERATORS as readonly unknown[]).includes(operator)

/** Returns the shape of the value that follows an operator. */
export function shapeOf(type: ValueType, operator: unknown): Shape {
  if (NO_VALUE.includes(operator as string)) return 'none'
  if (operator === 'within_days' || operator === 'older_than_days' || operator === 'within_next_days') return 'days'
  if (operator === 'before' || operator === 'after') return 'instant'
  if (operator === 'between') return 'range'
  if (type === 'stage') return operator === 'in' ? 'stages' : 'stage'
  if (operator === 'in') return 'texts'
  return type === 'number' && isOfNumbers(operator) ? 'number' : 'text'
}
