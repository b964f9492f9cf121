/** Evaluates windowed conditions one event after the other. */
import { neededType } from '../../src/rules/segments/grammar/operators.ts'
import type { PropertyCondition, RuleValue, WindowedCondition } from '../../src/rules/segments/rule.ts'

export interface Happened {
  event: string
  at: number
  properties: unknown
  value: number | null
  currency: string | null
  /** Decimal text. */
  counted: string
  type: 'purchase' | 'refund' | 'none'
}

/** Returns a decimal; undefined without a matching event, or with nothing to add. */
export function valueOfWindow(condition: WindowedCondition, events: Happened[], now: number): string | undefined {
  const { event, metric, property = '', currency, withinDays, where = [] } = condition
  const isRecent = ({ at }: Happened): boolean =>
    withinDays === undefined || (at >= now - Math.floor(withinDays * 86_400_000) && at <= now + 300_000)
  const those = events
    .filter((one) => one.event === event && isRecent(one))
    .filter((one) => where.every((item) => holds(item, one)))
  if (metric === 'count') return those.length === 0 ? undefined : String(those.length)
  const added = those.flatMap((one) => {
    if (property === 'value') return one.currency === currency ? [one.counted] : []
    const value = read(one, property)
    return typeof value === 'number' && Math.abs(value) < 1e30 ? [String(value)] : []
  })
  return added.length === 0 ? undefined : addDecimals(added)
}

function read(event: Happened, path: string): unknown {
  if (path === 'value' || path === 'currency' || path === 'type') return event[path] ?? undefined
  const names = path
    .replaceAll('\\.', '\0')
    .split('.')
    .map((name) => name.replaceAll('\0', '.'))
  let at: unknown = event.properties
  for (const name of names) {
    if (typeof at !== 'object' || at === null) return undefined
    if (Array.isArray(at) && !/^\d+$/.test(name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at ?? undefined
}

/** Evaluates a condition for one event. */
export function holds(condition: PropertyCondition, event: Happened): boolean {
  const { property, operator, value, ignoreCase = false } = condition
  const found = read(event, property)
  if (operator === 'not_exists') return found === undefined
  if (operator === 'exists') return found !== undefined
  switch (neededType(condition)) {
    case 'Number':
      return typeof found === 'number' && compare(found, operator, value)
    case 'Boolean':
      return typeof found === 'boolean' && found === (operator === 'is_true')
    default:
      return typeof found === 'string' && compareText(fold(found, ignoreCase), operator, [value].flat(), ignoreCase)
  }
}

function compare(found: number, operator: string, value: RuleValue | undefined): boolean {
  const [from = 0, to = 0] = [value].flat().map(Number)
  const answers: Record<string, boolean> = {
    equals: found === from,
    not_equals: found !== from,
    greater_than: found > from,
    greater_than_or_equal: found >= from,
    less_than: found < from,
    less_than_or_equal: found <= from,
    between: found >= from && found <= to,
  }
  return answers[operator] === true
}

function compareText(found: string, operator: string, values: unknown[], ignoreCase: boolean): boolean {
  const wanted = values.map((value) => fold(String(value), ignoreCase))
  const [first = ''] = wanted
  const answers: Record<string, boolean> = {
    equals: found === first,
    not_equals: found !== first,
    contains: found.includes(first),
    starts_with: found.startsWith(first),
    ends_with: found.endsWith(first),
    in: wanted.includes(found),
  }
  return answers[operator] === true
}

const fold = (text: string, ignoreCase: boolean): string =>
  ignoreCase ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text

/** Digits after the point. */
const SCALE = 40

function addDecimals(decimals: string[]): string {
  const sum = decimals.map(unitsOf).reduce((a, b) => a + b, 0n)
  const digits = String(sum < 0n ? -sum : sum).padStart(SCALE + 1, '0')
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`
}

function unitsOf(decimal: string): bigint {
  const [mantissa = '', exponent = '0'] = decimal.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return BigInt(whole + fraction) * 10n ** BigInt(SCALE + Number(exponent) - fraction.length) * 1n
}
