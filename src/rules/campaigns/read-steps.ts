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
import { readDuration } from './read-duration.ts'
import { readUpdate as readUpdateOf } from './read-update.ts'
import { hundredths, readChannel, readPercent, readTime, take, takeObject } from './read-words.ts'
import { MESSAGE_KINDS, STEP_TYPES, type SplitPart, type Step, type StepType } from './steps.ts'

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
  return readList({ faults, context, ids: new Set(), count: 0 }, raw, path, 1)
}

/** @param level 1 for the top list */
function readList(reading: StepReading, raw: unknown, path: string, level: number): Step[] {
  if (raw === undefined) return []
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

const WORDS: Record<StepType, readonly string[]> = {
  send: ['channel', 'template', 'kind'],
  wait: ['for'],
  wait_until: ['time', 'weekdays'],
  wait_for: ['event', 'timeout', 'steps', 'otherwise'],
  branch: ['rule', 'steps', 'otherwise'],
  split: ['parts'],
  update: ['addTags', 'removeTags', 'traits'],
  exit: [],
}

function readStep(reading: StepReading, raw: unknown, path: string, level: number): Step | undefined {
  if (!isObject(raw)) {
    fault(reading, path, 'step')
    return undefined
  }
  const type = readOneOf(reading, take(raw, 'type'), `${path}.type`, STEP_TYPES)
  if (type === undefined) return undefined
  takeObject(reading, raw, path, ['id', 'type', ...WORDS[type]])
  const id = readId(reading, raw, path, type)
  const step = READERS[type]({ reading, raw, path, level })
  return id === undefined || step === undefined ? undefined : { id, ...step }
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

interface Raw {
  reading: StepReading
  raw: RawObject
  path: string
  level: number
}

type Without<Part, Key extends PropertyKey> = Part extends unknown ? Omit<Part, Key> : never
/** Undefined when it has a fault. */
type Reader = (sent: Raw) => Without<Step, 'id'> | undefined

const READERS: Record<StepType, Reader> = {
  send: readSend,
  wait: readWait,
  wait_until: readWaitUntil,
  wait_for: readWaitFor,
  branch: readBranch,
  split: readSplit,
  update: readUpdate,
  exit: () => ({ type: 'exit' }),
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function readSend({ reading, raw, path }: Raw): ReturnType<Reader> {
  const channel = readChannel(reading, raw, path)
  const sent = take(raw, 'template')
  const template = typeof sent === 'string' ? trimText(sent).toLowerCase() : ''
  if (!UUID.test(template)) fault(reading, `${path}.template`, 'template_id')
  const kind = readOneOf(reading, take(raw, 'kind') ?? 'marketing', `${path}.kind`, MESSAGE_KINDS)
  return channel && kind && { type: 'send', channel, template, kind }
}

function readWait({ reading, raw, path }: Raw): ReturnType<Reader> {
  const duration = readDurationOf(reading, take(raw, 'for'), `${path}.for`)
  return duration === undefined ? undefined : { type: 'wait', for: duration }
}

function readDurationOf(reading: Faults, raw: unknown, path: string): string | undefined {
  const text = typeof raw === 'string' ? trimText(raw) : ''
  if (readDuration(text) !== undefined) return text
  fault(reading, path, 'duration')
  return undefined
}

function readWaitUntil({ reading, raw, path }: Raw): ReturnType<Reader> {
  const time = readTime(reading, take(raw, 'time'), `${path}.time`)
  const weekdays = take(raw, 'weekdays')
  if (weekdays !== undefined && !areWeekdays(weekdays)) fault(reading, `${path}.weekdays`, 'weekdays')
  else if (time !== undefined) return { type: 'wait_until', time, ...(weekdays !== undefined && { weekdays }) }
  return undefined
}

function areWeekdays(raw: unknown): raw is number[] {
  if (!Array.isArray(raw) || raw.length === 0 || raw.length > 7) return false
  return new Set(raw).size === raw.length && raw.every((day) => Number.isInteger(day) && day >= 1 && day <= 7)
}

function readWaitFor({ reading, raw, path, level }: Raw): ReturnType<Reader> {
  const event = readName(reading, take(raw, 'event'), `${path}.event`, MAX_EVENT)
  const timeout = readDurationOf(reading, take(raw, 'timeout'), `${path}.timeout`)
  const inner = readInner({ reading, raw, path, level })
  return event === undefined || timeout === undefined
    ? undefined
    : { type: 'wait_for', event: trimText(event), timeout, ...inner }
}

function readBranch({ reading, raw, path, level }: Raw): ReturnType<Reader> {
  const read = readRuleForm(take(raw, 'rule'), reading.context.fields, `${path}.rule`)
  if ('faults' in read) addFaults(reading, read.faults)
  const inner = readInner({ reading, raw, path, level })
  return 'rule' in read ? { type: 'branch', rule: read.rule, ...inner } : undefined
}

function readInner({ reading, raw, path, level }: Raw): { steps: Step[]; otherwise: Step[] } {
  return {
    steps: readList(reading, take(raw, 'steps'), `${path}.steps`, level + 1),
    otherwise: readList(reading, take(raw, 'otherwise'), `${path}.otherwise`, level + 1),
  }
}

function readSplit({ reading, raw, path, level }: Raw): ReturnType<Reader> {
  const sent = take(raw, 'parts')
  if (!Array.isArray(sent) || sent.length === 0 || sent.length > MAX_PARTS) {
    fault(reading, `${path}.parts`, 'parts', { max: MAX_PARTS })
    return undefined
  }
  const parts = sent.flatMap((part: unknown, index) => readPart(reading, part, `${path}.parts[${index}]`, level) ?? [])
  const sum = parts.reduce((sum, { percent }) => sum + hundredths(percent), 0)
  // Faulty parts are not in the sum.
  if (parts.length === sent.length && sum !== 10_000)
    fault(reading, `${path}.parts`, 'hundred_percent', { sum: sum / 100 })
  return { type: 'split', parts }
}

function readUpdate({ reading, raw, path }: Raw): ReturnType<Reader> {
  const update = readUpdateOf(reading, raw, path)
  return update && { type: 'update', ...update }
}

function readPart(reading: StepReading, raw: unknown, path: string, level: number): SplitPart | undefined {
  const part = takeObject(reading, raw, path, ['percent', 'steps'])
  if (part === undefined) return undefined
  const percent = readPercent(reading, take(part, 'percent'), `${path}.percent`, { min: 0.01, max: 100 })
  const steps = readList(reading, take(part, 'steps'), `${path}.steps`, level + 1)
  return percent === undefined ? undefined : { percent, steps }
}
