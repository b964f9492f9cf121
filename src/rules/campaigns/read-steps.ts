import type { FieldType } from '../events/facts.ts'
import { trimText } from '../events/text.ts'
import { readRuleForm } from '../segments/reading/read-rule.ts'
import {
  type Faults,
  type RawObject,
  addFaults,
  fault,
  isObject,
  readName,
  readOneOf,
} from '../segments/reading/reading.ts'
import { MAX_EVENT, MAX_LEVELS, MAX_PARTS, MAX_STEPS, MAX_STEP_ID } from './definition.ts'
import { readConditions, readSameKey } from './read-conditions.ts'
import { readDuration } from './read-duration.ts'
import { readSenderKey } from './read-senders.ts'
import { checkUpdate, readTagsOf, readTraitsOf } from './read-update.ts'
import { readTopicKey } from './read-topic-key.ts'
import { hundredths, readPercent, readTime, take, takeObject } from './read-words.ts'
import { MESSAGE_CHANNELS } from '../messages/message-channel.ts'
import {
  type FieldKind,
  type FieldValues,
  MESSAGE_KINDS,
  STEP_TYPES,
  type SplitPart,
  type Step,
  type StepType,
  fieldsOf,
} from './steps.ts'

export interface StepContext {
  /** Custom fields of the business. */
  fields: ReadonlyMap<string, FieldType>
  /** Creates the id of a step that was sent without one. */
  newId: () => string
  /** Steps of the campaign's earlier versions: an id identifies one step for ever, so its type cannot change. */
  earlier?: ReadonlyMap<string, StepType>
}

interface StepReading extends Faults {
  context: StepContext
  /** The steps that were read so far. */
  ids: Set<string>
  count: number
}

/** Returns the steps without faulty ones. */
export function readSteps({ faults }: Faults, raw: unknown, path: string, context: StepContext): Step[] {
  return readList({ faults, context, ids: new Set(), count: 0 }, raw ?? [], path, 1)
}

/** @param level 1 for the top list */
function readList(reading: StepReading, raw: unknown, path: string, level: number): Step[] {
  const steps: Step[] = []
  if (!Array.isArray(raw)) fault(reading, path, 'steps')
  else if (level > MAX_LEVELS && raw.length > 0) fault(reading, path, 'step_levels', { level, max: MAX_LEVELS })
  else
    for (const [index, item] of raw.entries()) {
      reading.count += 1
      const at = `${path}[${index}]`
      if (reading.count === MAX_STEPS + 1) fault(reading, at, 'too_many_steps', { max: MAX_STEPS })
      if (reading.count > MAX_STEPS) break
      const step = readStep(reading, item, at, level)
      if (step) steps.push(step)
    }
  return steps
}

function readStep(reading: StepReading, raw: unknown, path: string, level: number): Step | undefined {
  if (!isObject(raw)) {
    fault(reading, path, 'step')
    return undefined
  }
  const type = readOneOf(reading, take(raw, 'type'), `${path}.type`, STEP_TYPES)
  if (type === undefined) return undefined
  takeObject(reading, raw, path, ['id', 'type', ...fieldsOf(type).map(([name]) => name)])
  const id = readId(reading, raw, path, type)
  const fields = readFields(reading, raw, { path, type, level })
  if (fields === undefined) return undefined
  const step = { id: id ?? '', type, ...fields } as Step
  // Also when the id has a fault, so that the caller sees both.
  if (step.type === 'send' && step.kind !== 'marketing' && step.topic !== undefined)
    fault(reading, `${path}.topic`, 'topic_of_marketing')
  const isWhole = step.type !== 'update' || checkUpdate(reading, step, path)
  return isWhole && id !== undefined ? step : undefined
}

function readId(reading: StepReading, raw: RawObject, path: string, type: StepType): string | undefined {
  const { ids, context } = reading
  const given = take(raw, 'id')
  const named = given === undefined ? context.newId() : readName(reading, given, `${path}.id`, MAX_STEP_ID)
  if (named === undefined) return undefined
  const id = trimText(named)
  const before = context.earlier?.get(id)
  if (ids.has(id)) fault(reading, `${path}.id`, 'step_id_twice')
  else if (before !== undefined && before !== type) fault(reading, `${path}.id`, 'step_id_of_type', { type: before })
  ids.add(id)
  return id
}

/** Undefined when a field has a fault. */
function readFields(
  reading: StepReading,
  raw: RawObject,
  { path, type, level }: { path: string; type: StepType; level: number },
): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = {}
  let isFaulty = false
  for (const [name, field] of fieldsOf(type)) {
    const sent = take(raw, name) ?? field.default
    if (sent === undefined && field.isOptional) continue
    const value = READERS[field.kind](reading, sent, `${path}.${name}`, level)
    if (value === undefined) isFaulty = true
    else values[name] = value
  }
  return isFaulty ? undefined : values
}

/** Undefined when the value has a fault. */
type Reader<Value> = (reading: StepReading, sent: unknown, path: string, level: number) => Value | undefined

const READERS: { [Kind in FieldKind]: Reader<FieldValues[Kind]> } = {
  channel: (reading, sent, path) => readOneOf(reading, sent, path, MESSAGE_CHANNELS),
  template: readTemplate,
  messageKind: (reading, sent, path) => readOneOf(reading, sent, path, MESSAGE_KINDS),
  topic: readTopicKey,
  sender: readSenderKey,
  duration: readDurationOf,
  time: readTime,
  weekdays: readWeekdays,
  event: (reading, sent, path) => {
    const name = readName(reading, sent, path, MAX_EVENT)
    return name === undefined ? undefined : trimText(name)
  },
  where: (reading, sent, path) => readConditions(reading, sent, path),
  sameKey: readSameKey,
  rule: (reading, sent, path) => {
    const read = readRuleForm(sent, reading.context.fields, path)
    if ('rule' in read) return read.rule
    addFaults(reading, read.faults)
    return undefined
  },
  steps: (reading, sent, path, level) => readList(reading, sent, path, level + 1),
  parts: readParts,
  tags: readTagsOf,
  traits: readTraitsOf,
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function readTemplate(reading: Faults, sent: unknown, path: string): string | undefined {
  const template = typeof sent === 'string' ? trimText(sent).toLowerCase() : ''
  if (UUID.test(template)) return template
  fault(reading, path, 'template_id')
  return undefined
}

function readDurationOf(reading: Faults, raw: unknown, path: string): string | undefined {
  const text = typeof raw === 'string' ? trimText(raw) : ''
  if (readDuration(text) !== undefined) return text
  fault(reading, path, 'duration')
  return undefined
}

function readWeekdays(reading: Faults, raw: unknown, path: string): number[] | undefined {
  if (areWeekdays(raw)) return raw
  fault(reading, path, 'weekdays')
  return undefined
}

function areWeekdays(raw: unknown): raw is number[] {
  if (!Array.isArray(raw) || raw.length === 0 || raw.length > 7) return false
  return new Set(raw).size === raw.length && raw.every((day) => Number.isInteger(day) && day >= 1 && day <= 7)
}

function readParts(reading: StepReading, sent: unknown, path: string, level: number): SplitPart[] | undefined {
  if (!Array.isArray(sent) || sent.length === 0 || sent.length > MAX_PARTS) {
    fault(reading, path, 'parts', { max: MAX_PARTS })
    return undefined
  }
  const parts = sent.flatMap((part: unknown, index) => readPart(reading, part, `${path}[${index}]`, level) ?? [])
  const sum = parts.reduce((sum, { percent }) => sum + hundredths(percent), 0)
  // Faulty parts are not in the sum.
  if (parts.length === sent.length && sum !== 10_000) fault(reading, path, 'hundred_percent', { sum: sum / 100 })
  return parts
}

function readPart(reading: StepReading, raw: unknown, path: string, level: number): SplitPart | undefined {
  const part = takeObject(reading, raw, path, ['percent', 'steps'])
  if (part === undefined) return undefined
  const percent = readPercent(reading, take(part, 'percent'), `${path}.percent`, { min: 0.01, max: 100 })
  const steps = readList(reading, take(part, 'steps') ?? [], `${path}.steps`, level + 1)
  return percent === undefined ? undefined : { percent, steps }
}
