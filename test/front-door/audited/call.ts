/** Calls of the routes that may change something, and what each records in the audit log. */
import type { ActingBusiness } from './business.ts'

export interface Call {
  /** Of the parameters in the path. */
  ids?: Record<string, string>
  query?: string
  json?: object
}

/** A call, or what makes the things that it changes. It is made again for each call. */
type Prepare = Call | ((business: ActingBusiness) => Call | Promise<Call>)

export interface AuditedCall {
  /** How the call differs from the first one of its route; empty for that one. */
  what: string
  /** The actions in the audit log. */
  actions: readonly string[]
  /**
   * `added`: each change has its own entry. `counted`: those of a key have one an hour. `completed`: the change adds to the entry of
   * an earlier call.
   */
  how: 'added' | 'counted' | 'completed'
  /** Why nothing is recorded; empty when something is. */
  reason: string
  prepare: Prepare
}

/** The calls of a route, by its method and its path: after `/api`, or in the dashboard after the business. */
export type AuditedCalls = Record<string, AuditedCall[]>

export const adds = (actions: string | readonly string[], prepare: Prepare, what = ''): AuditedCall => ({
  what,
  actions: [actions].flat(),
  how: 'added',
  reason: '',
  prepare,
})
export const counts = (action: string, prepare: Prepare, what = ''): AuditedCall => ({
  ...adds(action, prepare, what),
  how: 'counted',
})
export const completes = (action: string, prepare: Prepare): AuditedCall => ({
  ...adds(action, prepare),
  how: 'completed',
})
export const nothing = (reason: string, prepare: Prepare, what = ''): AuditedCall => ({
  ...adds([], prepare, what),
  reason,
})

export const ONLY_READS = 'it only reads'
export const ONLY_TRIES = 'it only tries, and stores nothing'

/** A call with the id of something new as the parameter `name`. */
export const on =
  (name: string, add: (business: ActingBusiness) => Promise<string>, json?: object): Prepare =>
  async (business) => ({ ids: { [name]: await add(business) }, ...(json && { json }) })
