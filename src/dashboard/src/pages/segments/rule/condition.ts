/** What a condition reads, which operators suit it, and what value an operator wants. */
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
} from '../../../../../rules/segments/rule.ts'
import { entryOf } from './entry-of.ts'

/** A condition as JSON: `value` may still be missing. */
export type Draft = Record<string, unknown> & { operator?: unknown; value?: unknown }

export const READS = ['event', 'customField', 'tag', 'attribute', 'segment'] as const
export type Reads = (typeof READS)[number]

export interface Subject {
  reads: Reads
  /** The name of the event, field, tag or attribute, or the id of the segment. */
  name: string
}

/** Undefined for JSON that does not form a condition. */
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

/** What the properties of an event must be, of a condition that has a subject. */
export const whereOf = ({ where }: Draft): Draft[] => (Array.isArray(where) ? (where as Draft[]) : [])

/** What a text field shows of a value that should be a text. */
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

/** What a value may be when nothing says which: a property of an event, or a custom field that no contact has yet. */
export const OPEN_TYPES = ['text', 'number', 'date', 'boolean'] as const satisfies ValueType[]
export const PROPERTY_TYPES = ['text', 'number', 'boolean'] as const satisfies ValueType[]

/** The types of the custom fields by key. */
export type FieldTypes = ReadonlyMap<string, ValueType>

/** Undefined: the condition does not say, and neither does its field. */
export function knownType(condition: Draft, fieldTypes: FieldTypes): ValueType | undefined {
  const { reads, name } = subjectOf(condition) ?? {}
  if (reads === 'tag' || reads === 'segment') return reads
  if (reads === 'customField') return fieldTypes.get(name ?? '')
  if (reads === 'event') return isTime(condition) ? 'date' : 'number'
  const type = entryOf<AttributeType>(ATTRIBUTES, name)
  return type === 'texts' ? 'text' : type
}

const isTime = ({ metric }: Draft): boolean => metric === 'last' || metric === 'first'

/** By what it is compared with. An empty number is null and an empty text is '', so that both can be typed. */
export function guessType({ operator, value }: Draft): ValueType {
  const types = OPEN_TYPES.filter((type) => (OPERATORS[type] as readonly unknown[]).includes(operator))
  const [type = 'text'] = types
  return types.includes('number') && (value === null || typeof value === 'number') ? 'number' : type
}

export const typeOf = (condition: Draft, fieldTypes: FieldTypes): ValueType =>
  knownType(condition, fieldTypes) ?? guessType(condition)

/** Those that can be chosen. `within_next_days` is of custom fields alone: nothing else lies ahead. */
export function operatorsOf(type: ValueType, condition: Draft): readonly Operator[] {
  const all: readonly Operator[] = OPERATORS[type]
  return 'customField' in condition ? all : all.filter((one) => one !== 'within_next_days')
}

export type Shape = 'none' | 'days' | 'instant' | 'number' | 'range' | 'text' | 'texts' | 'stage' | 'stages'

const NO_VALUE = ['exists', 'not_exists', 'is_true', 'is_false', ...TAG_OPERATORS, ...SEGMENT_OPERATORS] as string[]

/** Pasted JSON may compare a number as text: the server says that it cannot be. */
const isOfNumbers = (operator: unknown): boolean => (NUMBER_OPERATORS as readonly unknown[]).includes(operator)

/** What the operator is followed by. */
export function shapeOf(type: ValueType, operator: unknown): Shape {
  if (NO_VALUE.includes(operator as string)) return 'none'
  if (operator === 'within_days' || operator === 'older_than_days' || operator === 'within_next_days') return 'days'
  if (operator === 'before' || operator === 'after') return 'instant'
  if (operator === 'between') return 'range'
  if (type === 'stage') return operator === 'in' ? 'stages' : 'stage'
  if (operator === 'in') return 'texts'
  return type === 'number' && isOfNumbers(operator) ? 'number' : 'text'
}
