/** Calls of the routes that may change something, and what each records in the audit log. */
import type { ActingBusiness } from './business.ts'
import { type Entry, changes } from './entries.ts'

export interface Call {
  /** Of the parameters in the path. */
  ids?: Record<string, string>
  query?: string
  json?: object
}

/** A call, or what makes the things that it changes. */
type Prepare = Call | ((business: ActingBusiness) => Call | Promise<Call>)

export interface AuditedCall {
  /** How the call differs from the first one of its route; empty for that one. */
  what: string
  /** Sorted by their actions. */
  entries: readonly Entry[]
  /**
   * `added`: each change has its own entry. `counted`: those of a key have one an hour. `completed`: the change adds to the entry of
   * an earlier call.
   */
  how: 'added' | 'counted' | 'completed'
  /** Why nothing is recorded; empty when something is. */
  reason: string
  /** The same call, made again, changes nothing and records nothing. */
  isOnce: boolean
  prepare: Prepare
}

/** The calls of a route, by its method and its path: after `/api`, or in the dashboard after the business. */
export type AuditedCalls = Record<string, AuditedCall[]>

/** A name stands for `changes` of it. */
export const adds = (entries: string | Entry | readonly Entry[], prepare: Prepare, what = ''): AuditedCall => ({
  what,
  entries: typeof entries === 'string' ? [changes(entries)] : [entries].flat(),
  how: 'added',
  reason: '',
  isOnce: false,
  prepare,
})
export const counts = (entry: string | Entry, prepare: Prepare, what = ''): AuditedCall => ({
  ...adds(entry, prepare, what),
  how: 'counted',
})
export const completes = (entry: Entry, prepare: Prepare): AuditedCall => ({
  ...adds(entry, prepare),
  how: 'completed',
})
export const nothing = (reason: string, prepare: Prepare, what = ''): AuditedCall => ({
  ...adds([], prepare, what),
  reason,
})
/** See `isOnce`. */
export const once = (call: AuditedCall): AuditedCall => ({ ...call, isOnce: true })

export const ONLY_READS = 'it only reads'
export const ONLY_TRIES = 'it only tries, and stores nothing'

/** A call with the id of something new as the parameter `name`. */
export const on =
  (name: string, add: (business: ActingBusiness) => Promise<string>, json?: object): Prepare =>
  async (business) => ({ ids: { [name]: await add(business) }, ...(json && { json }) })
