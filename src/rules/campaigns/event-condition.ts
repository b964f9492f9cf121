/** Conditions on the events of a goal and of a `wait_for` (campaigns, "Conditions"). */
import { createHash } from 'node:crypto'
import { type SeenEvent, compileWhere } from '../segments/compile/compile-where.ts'
import type { PropertyCondition } from '../segments/rule.ts'
import { type KeyReader, compileKey } from './enrolment-key.ts'

export interface EventCondition {
  event: string
  /** All conditions must hold. */
  where?: PropertyCondition[]
  /** The event must carry the key of the enrolment: at this path, or at the path of the trigger's key. */
  sameKey?: true | string
}

export interface Goal extends EventCondition {}

/** Returns whether the name of an event alone does not decide whether it counts. */
export const isConditional = ({ where, sameKey }: Omit<EventCondition, 'event'>): boolean =>
  hasWhere({ where }) || sameKey !== undefined

export const hasWhere = ({ where }: { where?: PropertyCondition[] | undefined }): boolean =>
  where !== undefined && where.length > 0

/** Returns the path of the key in the event; null when the key does not matter. `keyPath`: that of the trigger. */
export const conditionPath = ({ sameKey }: Pick<EventCondition, 'sameKey'>, keyPath: string | null): string | null =>
  sameKey === true ? keyPath : (sameKey ?? null)

export interface CompiledCondition {
  event: string
  test: (event: SeenEvent) => boolean
  /** Null: the key does not matter. */
  readKey: KeyReader | null
  /** Equal for equal conditions. */
  identity: string
}

export function compileCondition(condition: EventCondition, keyPath: string | null): CompiledCondition {
  const path = conditionPath(condition, keyPath)
  return {
    event: condition.event,
    test: compileWhere(condition.where ?? []),
    readKey: path === null ? null : compileKey(path),
    identity: identityOf(condition, path),
  }
}

/** Whatever the order in which a store returns the keys of an object. */
const identityOf = ({ event, where = [] }: EventCondition, path: string | null): string => {
  const tests = where.map(({ property, operator, value, ignoreCase }) => [property, operator, value, ignoreCase])
  return JSON.stringify([event, tests, path])
}

/**
 * Returns the key that an event has under a condition, or `ANY_KEY` when the key does not matter. Null: it does not
 * count.
 */
export function fitOf({ test, readKey }: CompiledCondition, event: SeenEvent): string | null {
  if (!test(event)) return null
  return readKey === null ? ANY_KEY : readKey(event.properties())
}

/** No key is empty. */
export const ANY_KEY = ''

/** Returns whether an event counts for an enrolment with this key. Null: every event of the name does. */
export function compileFit(
  condition: EventCondition,
  { keyPath, key }: { keyPath: string | null; key: string | null },
): ((event: SeenEvent) => boolean) | null {
  if (!isConditional(condition)) return null
  if (condition.sameKey !== undefined && key === null) return () => false
  const compiled = compileCondition(condition, keyPath)
  return (event) => {
    const found = fitOf(compiled, event)
    return found !== null && (found === ANY_KEY || found === key)
  }
}

/**
 * Returns what an enrolment at a step listens for: the name of the event or, with conditions, a text that is longer
 * than any name, and that also depends on the key.
 */
export function listensForOf(
  condition: EventCondition,
  { keyPath, key }: { keyPath: string | null; key: string | null },
): string {
  if (!isConditional(condition)) return condition.event
  const path = conditionPath(condition, keyPath)
  return listenedFor(identityOf(condition, path), path === null ? ANY_KEY : (key ?? ANY_KEY))
}

export const listenedFor = (identity: string, key: string): string =>
  `awaited ${createHash('sha256')
    .update(JSON.stringify([identity, key]))
    .digest('hex')}`
