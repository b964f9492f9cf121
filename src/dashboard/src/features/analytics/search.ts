/** The choices on the analytics pages, which are in the URL. */
import { MAX_CURRENCY, MAX_WHERE } from '../../../../rules/segments/grammar/limits.ts'

export const PERIODS = [7, 30, 90, 365] as const
export type Days = (typeof PERIODS)[number]
export const INTERVALS = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

/** Choices of all pages. The tabs pass on the time range. */
export interface RangeSearch {
  /** Number of days up to now. Default: 30. */
  days?: Days | undefined
  /** First and last day, such as 2026-02-01, instead of `days`. */
  from?: string | undefined
  to?: string | undefined
  interval?: Interval | undefined
}

export const MEASURES = ['count', 'contacts', 'revenue', 'sum'] as const
export const BREAKDOWNS = ['event', 'source', 'stage', 'country', 'segment', 'field', 'property'] as const
export const TOPS = [4, 10, 25] as const

/** Conditions on properties, in the format of the API. */
export type Where = Record<string, unknown>[]

/** What one series counts. */
export interface SeriesSearch {
  /** Default: all events. */
  events?: string[] | undefined
  measure?: (typeof MEASURES)[number] | undefined
  /** Property that a sum adds up. */
  property?: string | undefined
  /** Currency of revenue. Default: that of the business. */
  currency?: string | undefined
  where?: Where | undefined
}

export interface EventsSearch extends RangeSearch, SeriesSearch {
  /** Series `b`. The first series is `a`. */
  second?: SeriesSearch | undefined
  /** Formula of both series, such as `a / b`. */
  formula?: string | undefined
  by?: (typeof BREAKDOWNS)[number] | undefined
  /** Name of the custom field or property that `by` refers to. */
  name?: string | undefined
  top?: (typeof TOPS)[number] | undefined
  compare?: true | undefined
}

export const ORDERS = ['in_order', 'strict', 'any'] as const
/** Days. */
export const WINDOWS = [1, 7, 14, 30, 90, 365] as const

/** Name of an event, or the name and conditions. */
export type FunnelStep = string | { event: string; where: Where }

export interface FunnelSearch extends RangeSearch {
  /** Complete when there are 2 or more. */
  steps?: FunnelStep[] | undefined
  order?: (typeof ORDERS)[number] | undefined
  /** Days from the first step. Default: 30. */
  window?: (typeof WINDOWS)[number] | undefined
  /** Lists the contacts who dropped out after this step, from 1. */
  dropped?: number | undefined
}

export interface RetentionSearch extends RangeSearch {
  /** Names of events. Default: any event. */
  first?: string | undefined
  returning?: string | undefined
}

export interface RevenueSearch extends RangeSearch {
  /** Default: the currency with the most revenue. */
  currency?: string | undefined
  compare?: true | undefined
}

export interface LifecycleSearch extends RangeSearch {
  /** Event that makes a contact active. Default: any event. */
  active?: string | undefined
}

export const SOURCE_KEYS = ['source', 'campaign', 'referrer'] as const

export interface WebSearch extends RangeSearch {
  compare?: true | undefined
  /** Key by which sessions are listed. Default: the source. */
  by?: (typeof SOURCE_KEYS)[number] | undefined
}

type Sent = Record<string, unknown>

const MAX_EVENTS = 10
const MAX_EVENT = 64
const MAX_FORMULA = 100
const MAX_TEXT = 200

export const readOne = <Choice>(choices: readonly Choice[], value: unknown): Choice | undefined =>
  choices.find((one) => one === value)

/** The router parses text that looks like a number or a boolean into one. */
export const readText = (value: unknown, most = MAX_TEXT): string | undefined =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value).slice(0, most) || undefined : undefined

export function readTexts(value: unknown): string[] | undefined {
  const texts = Array.isArray(value) ? value.flatMap((one) => readText(one, MAX_EVENT) ?? []) : []
  return texts.length === 0 ? undefined : texts.slice(0, MAX_EVENTS)
}

const isObject = (value: unknown): value is Sent => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The server checks whether the objects are valid conditions. */
function readWhere(value: unknown): Where | undefined {
  const conditions = Array.isArray(value) ? value.filter(isObject).slice(0, MAX_WHERE) : []
  return conditions.length === 0 ? undefined : conditions
}

function readSeries({ events, measure, property, currency, where }: Sent): SeriesSearch {
  return {
    events: readTexts(events),
    measure: readOne(MEASURES, measure),
    property: readText(property),
    currency: readText(currency, MAX_CURRENCY),
    where: readWhere(where),
  }
}

function readSteps(value: unknown): FunnelStep[] | undefined {
  const steps = Array.isArray(value) ? value.flatMap((one: unknown) => readStep(one) ?? []) : []
  return steps.length === 0 ? undefined : steps.slice(0, MAX_EVENTS)
}

function readStep(value: unknown): FunnelStep | undefined {
  if (!isObject(value)) return readText(value, MAX_EVENT)
  const [event, where] = [readText(value['event'], MAX_EVENT), readWhere(value['where'])]
  return event === undefined || where === undefined ? event : { event, where }
}

export const readDate = (value: unknown): string | undefined =>
  typeof value === 'string' && /^(19|2[01])\d\d-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined

export function readRange({ days, from, to, interval }: Sent): RangeSearch {
  return {
    days: readOne(PERIODS, days),
    from: readDate(from),
    to: readDate(to),
    interval: readOne(INTERVALS, interval),
  }
}

export function readEvents(sent: Sent): EventsSearch {
  const { second, formula, by, name, top, compare } = sent
  return {
    ...readRange(sent),
    ...readSeries(sent),
    second: isObject(second) ? readSeries(second) : undefined,
    formula: isObject(second) ? readText(formula, MAX_FORMULA) : undefined,
    by: readOne(BREAKDOWNS, by),
    name: readText(name),
    top: readOne(TOPS, top),
    compare: readOne([true], compare) as true | undefined,
  }
}

export function readFunnel(sent: Sent): FunnelSearch {
  const { steps, order, window, dropped } = sent
  return {
    ...readRange(sent),
    steps: readSteps(steps),
    order: readOne(ORDERS, order),
    window: readOne(WINDOWS, window),
    dropped: typeof dropped === 'number' ? dropped : undefined,
  }
}

export function readRetention(sent: Sent): RetentionSearch {
  const { first, returning } = sent
  return { ...readRange(sent), first: readText(first, MAX_EVENT), returning: readText(returning, MAX_EVENT) }
}

export function readRevenue(sent: Sent): RevenueSearch {
  const { currency, compare } = sent
  return { ...readRange(sent), currency: readText(currency), compare: readOne([true], compare) as true | undefined }
}

export function readLifecycle(sent: Sent): LifecycleSearch {
  return { ...readRange(sent), active: readText(sent['active'], MAX_EVENT) }
}

export function readWeb(sent: Sent): WebSearch {
  const { compare, by } = sent
  return {
    ...readRange(sent),
    compare: readOne([true], compare) as true | undefined,
    by: readOne(SOURCE_KEYS, by),
  }
}
