import { RequestError } from '../../errors.ts'

/** SQLSTATE classes of a Postgres that cannot do it now (connections, deadlocks, resources, shutdown), and what drivers call a lost connection. */
const TROUBLE = /^(?:(?:08|40|53|55|57|58)[0-9A-Z]{3}|CONNECT.*|ECONN.*|EPIPE|ETIMEDOUT|EHOSTUNREACH)$/

/**
 * What a store that cannot be reached means for the caller: a read can simply be tried again; a write may have been done.
 * Null for any other fault, which is ours.
 */
export function describeStoreTrouble(error: unknown, { method }: Request): RequestError | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!TROUBLE.test(code)) return null
  const reads = method === 'GET' || method === 'HEAD'
  return new RequestError(reads ? 'unavailable' : 'outcome_unknown', { headers: { 'Retry-After': '1' }, cause: error })
}
