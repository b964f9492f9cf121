import type { DateTest } from './compare-dates.ts'
import type { SegmentFacts } from '../membership/facts.ts'

/** The value that a condition read, as `explain` shows it; null when it is undefined. */
export type Seen = string | number | boolean | string[] | null

export interface CompiledCondition {
  test(facts: SegmentFacts, now: number): boolean
  seen(facts: SegmentFacts): Seen
  /** Returns the only instants at which time alone changes the answer. Null when it never does. */
  changes: ((facts: SegmentFacts) => number[]) | null
}

type Reader<Value> = (facts: SegmentFacts) => Value | undefined

/**
 * Compiles a condition on one value. When the value is undefined, `not_exists` is true and every other operator is
 * false.
 * @param show returns the value as `explain` shows it
 */
export function conditionOn<Value>(
  read: Reader<Value>,
  operator: string,
  fits: (value: Value, now: number) => boolean,
  show: (value: Value) => Exclude<Seen, null>,
): CompiledCondition {
  return { test: testOf(read, operator, fits), seen: seenBy(read, show), changes: null }
}

function testOf<Value>(
  read: Reader<Value>,
  operator: string,
  fits: (value: Value, now: number) => boolean,
): CompiledCondition['test'] {
  if (operator === 'not_exists') return (facts) => read(facts) === undefined
  return (facts, now) => {
    const value = read(facts)
    return value !== undefined && fits(value, now)
  }
}

const seenBy =
  <Value>(read: Reader<Value>, show: (value: Value) => Exclude<Seen, null>): CompiledCondition['seen'] =>
  (facts) => {
    const value = read(facts)
    return value === undefined ? null : show(value)
  }

/** Compiles a condition on a date, in epoch ms. */
export function conditionOnDate(read: Reader<number>, operator: string, date: DateTest): CompiledCondition {
  const { changes } = date
  return {
    ...conditionOn(read, operator, date.test, showDate),
    changes: changes && ((facts) => changesOf(read(facts), changes)),
  }
}

const changesOf = (at: number | undefined, changes: (at: number) => number[]): number[] =>
  at === undefined ? [] : changes(at)

const showDate = (at: number): string => new Date(at).toISOString()

/** Shows a value unchanged. */
export const asItIs = <Value>(value: Value): Value => value
