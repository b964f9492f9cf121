import { RequestError } from '../../errors.ts'
import { wasUndone } from '../../stores/transaction.ts'
import { outcomeUnknown } from '../http/outcome-unknown.ts'

/**
 * SQLSTATE classes of temporary failures of Postgres (connections, deadlocks, resources, shutdown), and the codes of
 * drivers for a lost connection.
 */
const STORE_FAILURE = /^(?:(?:08|40|53|55|57|58)[0-9A-Z]{3}|CONNECT.*|ECONN.*|EPIPE|ETIMEDOUT|EHOSTUNREACH)$/

/**
 * Returns the error for a store that cannot be reached: a read and a transaction that was not committed changed
 * nothing; any other write may have been done. Returns null for any other error, which is a bug of the service.
 */
export function describeStoreFailure(error: unknown, request: Request): RequestError | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!STORE_FAILURE.test(code)) return null
  const { method } = request
  const isUnchanged = method === 'GET' || method === 'HEAD' || wasUndone(error)
  if (!isUnchanged) return outcomeUnknown(request, { cause: error })
  return new RequestError('unavailable', { headers: { 'Retry-After': '1' }, cause: error })
}
