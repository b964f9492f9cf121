/** Reads the parameters of charts. All faults are reported together. */
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
} from '../../../analytics/buckets.ts'
import type { EventCondition } from '../../../analytics/events-sql.ts'
import { type Issue, RequestError } from '../../../errors.ts'
import { readIso } from '../../../rules/events/read-iso.ts'
import { trimText } from '../../../rules/events/text.ts'
import { checkWhere } from '../../../rules/segments/reading/read-where.ts'
import { type Faults, checkWords, fault, isObject, readName, wordOf } from '../../../rules/segments/reading/reading.ts'
import type { PropertyCondition } from '../../../rules/segments/rule.ts'
import type { Principal } from '../../access/principal.ts'
import type { RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { queryOf } from '../../http/read-page.ts'

export const MAX_BUCKETS = 1000
export const MAX_COHORTS = 120
export const MAX_PERIODS = 120
const MAX_EVENT = 64
const DEFAULT_DAYS = 30

/** The parameters of one request, and their faults. */
export interface Parameters extends Faults {
  query: URLSearchParams
  /** Current time in epoch ms. */
  now: number
  timezone: string
  /** Currency of the business. */
  currency: string
  /** Call it when the chart shows or tests values of people: of their properties or custom fields. */
  noteValues: () => void
}

/**
 * Reads and checks parameters. Throws RequestError: `invalid_request` when `read` noted faults, `not_permitted` for
 * values of people that the caller must not see.
 */
export function readParameters<Result>(
  context: RequestContext,
  { business, can }: Principal,
  read: (parameters: Parameters) => Result | undefined,
): Result {
  const faults: Issue[] = []
  const { timezone, currency } = business
  let hasValues = false
  const noteValues = () => {
    hasValues = true
  }
  const result = read({ query: queryOf(context), now: context.receivedAt, timezone, currency, faults, noteValues })
  if (result === undefined || faults.length > 0) throw invalidRequest(faults)
  if (hasValues && !can('contacts:read')) throw new RequestError('not_permitted')
  return result
}

/** Reads `from` and `to`. A date is the beginning of a day in the time zone of the business. */
export function readPeriod(parameters: Parameters): Period | undefined {
  const { query, now, timezone } = parameters
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
  return { interval, timezone: parameters.timezone }
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

/** Reads cohorts: whole intervals from the one that contains `from`, and `periods` more. */
export function readCohorts(parameters: Parameters, otherwise: 'week' | 'month'): CohortParameters | undefined {
  const calendar = readCalendar(parameters, COHORT_INTERVALS, otherwise)
  const periods = readWhole(parameters, 'periods', { most: MAX_PERIODS, otherwise: 12 })
  const period = readPeriod(parameters)
  const whole = period && { from: startOf(period.from, calendar), to: period.to }
  const cohorts = readBuckets(parameters, whole, calendar, MAX_COHORTS)
  if (cohorts === undefined) return undefined
  const end = shift(cohorts.starts.at(-1) ?? cohorts.to, periods + 1, calendar)
  const buckets = divide({ from: cohorts.from, to: end }, calendar, MAX_COHORTS + MAX_PERIODS)
  return buckets === null ? undefined : { calendar, cohorts: cohorts.starts.length, periods, buckets }
}

export interface CohortParameters {
  calendar: Calendar
  buckets: Buckets
  /** Number of buckets that are cohorts. */
  cohorts: number
  periods: number
}

export const COHORT_INTERVALS = INTERVALS.filter((one) => one !== 'hour')

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
