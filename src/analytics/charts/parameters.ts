/** Reads the parameters of charts. All faults are reported together. */
import { readIso } from '../../rules/events/read-iso.ts'
import { trimText } from '../../rules/events/text.ts'
import type { Fault } from '../../rules/faults.ts'
import { checkWhere } from '../../rules/segments/reading/read-where.ts'
import { type Faults, checkWords, fault, isObject, readName, wordOf } from '../../rules/segments/reading/reading.ts'
import type { PropertyCondition } from '../../rules/segments/rule.ts'
import {
  type Buckets,
  type Calendar,
  INTERVALS,
  type Interval,
  type Period,
  divide,
  shift,
  startOf,
  startOfDate,
} from '../buckets.ts'
import type { EventCondition } from '../events-sql.ts'

export const MAX_BUCKETS = 1000
const MAX_EVENT = 64
const DEFAULT_DAYS = 30

/** The parameters of one chart as they were sent, and whose chart it is. */
export interface SentParameters {
  query: URLSearchParams
  /** Current time in epoch ms. */
  now: number
  business: {
    id: string
    timezone: string
    currency: string
  }
}

/** The parameters of one chart, and their faults. */
export interface Parameters extends SentParameters, Faults {
  /** Call it when the chart shows or tests values of people: of their properties or custom fields. */
  noteValues: () => void
}

/** `showsValues`: the chart shows or tests values of people. */
export type CheckedParameters<Query> = { faults: readonly Fault[] } | { query: Query; showsValues: boolean }

/** `read` returns undefined when it noted a fault. */
export function checkParameters<Query>(
  sent: SentParameters,
  read: (parameters: Parameters) => Query | undefined,
): CheckedParameters<Query> {
  const faults: Fault[] = []
  let showsValues = false
  const noteValues = () => {
    showsValues = true
  }
  const query = read({ ...sent, faults, noteValues })
  return query === undefined || faults.length > 0 ? { faults } : { query, showsValues }
}

/** Reads `from` and `to`. A date is the beginning of a day in the time zone of the business. */
export function readPeriod(parameters: Parameters): Period | undefined {
  const { query, now } = parameters
  const { timezone } = parameters.business
  const instant = (name: 'from' | 'to', otherwise: () => number): number => {
    const text = query.get(name)?.trim()
    if (text === undefined) return otherwise()
    const at = /^\d{4}-\d\d-\d\d$/.test(text) ? startOfDate(text, timezone) : readIso(text)
    if (at === undefined) fault(parameters, name, 'instant')
    return at ?? Number.NaN
  }
  const to = instant('to', () => now)
  const days = { interval: 'day', timezone } as const
  const from = instant('from', () => (Number.isNaN(to) ? to : startOf(shift(to, -DEFAULT_DAYS, days), days)))
  if (from >= to) fault(parameters, 'from', 'before_to')
  return from < to ? { from, to } : undefined
}

export function readCalendar<Allowed extends Interval>(
  parameters: Parameters,
  allowed: readonly Allowed[],
  otherwise: Allowed,
): Calendar & { interval: Allowed } {
  const interval = readChoice(parameters, 'interval', allowed, otherwise)
  return { interval, timezone: parameters.business.timezone }
}

export const readBuckets = (
  parameters: Parameters,
  period: Period | undefined,
  calendar: Calendar,
  most: number,
): Buckets | undefined => {
  const buckets = period && divide(period, calendar, most)
  if (buckets === null) fault(parameters, 'interval', 'intervals', { max: most })
  return buckets ?? undefined
}

interface ComparedBuckets {
  calendar: Calendar
  buckets: Buckets
  /** The period before, for comparison: the same number of intervals, earlier. */
  earlier: Buckets | null
}

export function readComparedBuckets(parameters: Parameters): ComparedBuckets | undefined {
  const calendar = readCalendar(parameters, INTERVALS, 'day')
  const buckets = readBuckets(parameters, readPeriod(parameters), calendar, MAX_BUCKETS)
  const isCompared = readChoice(parameters, 'compare', ['true', 'false'], 'false') === 'true'
  return buckets && { calendar, buckets, earlier: isCompared ? bucketsBefore(buckets, calendar) : null }
}

function bucketsBefore({ from, to, starts }: Buckets, calendar: Calendar): Buckets {
  const earlier = (at: number) => shift(at, -starts.length, calendar)
  const period = { from: earlier(from), to: earlier(to) }
  return divide(period, calendar, starts.length) ?? { ...period, starts: starts.map(earlier) }
}

export function readChoice<Choice extends string>(
  parameters: Parameters,
  name: string,
  choices: readonly Choice[],
  otherwise: Choice,
): Choice {
  const text = parameters.query.get(name)
  const found = text === null ? otherwise : choices.find((one) => one === text)
  if (found === undefined) fault(parameters, name, 'one_of', { choices: choices.join(', ') })
  return found ?? otherwise
}

/** Reads a whole number from 1 to `most`. */
export function readWhole(
  parameters: Parameters,
  name: string,
  { most, otherwise }: { most: number; otherwise: number },
): number {
  const text = parameters.query.get(name)
  if (text === null) return otherwise
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= most) return number
  fault(parameters, name, 'whole_number', { min: 1, max: most })
  return otherwise
}

/** Returns the parsed JSON of a parameter; undefined when it was not sent, or is not JSON. */
export function readJsonText(parameters: Parameters, name: string): unknown {
  const text = parameters.query.get(name)
  if (text === null) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    fault(parameters, name, 'json')
    return undefined
  }
}

/** Reads an event with conditions: `{ "event": …, "where": […] }`. */
export function readCondition(parameters: Parameters, raw: unknown, path: string): EventCondition {
  if (raw === undefined) return { where: [] }
  if (!isObject(raw)) {
    fault(parameters, path, 'object_of', { fields: 'event, where' })
    return { where: [] }
  }
  checkWords(parameters, raw, path, ['event', 'where'])
  const where = readWhere(parameters, wordOf(raw, 'where'), `${path}.where`)
  const sent = raw['event'] ?? undefined
  const event = sent === undefined ? undefined : readEventName(parameters, sent, `${path}.event`)
  return { where, ...(event !== undefined && { event }) }
}

export function readEventName(parameters: Faults, raw: unknown, path: string): string {
  return trimText(readName(parameters, raw, path, MAX_EVENT) ?? '')
}

export function readWhere(parameters: Parameters, raw: unknown, path: string): PropertyCondition[] {
  if (raw === undefined) return []
  parameters.noteValues()
  const before = parameters.faults.length
  checkWhere(parameters, raw, path)
  if (parameters.faults.length > before) return []
  // `checkWhere` has checked the form of the conditions.
  return JSON.parse(JSON.stringify(raw), (_, value: unknown) => value ?? undefined) as PropertyCondition[]
}
