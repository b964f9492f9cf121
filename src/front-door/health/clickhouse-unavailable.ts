import { RequestError } from '../../errors.ts'
import { faultOf } from '../../rules/faults.ts'
import type { AppContext } from '../app-context.ts'

type Options = ConstructorParameters<typeof RequestError>[1]

/**
 * Returns the error of a read that ClickHouse did not answer in time. While ClickHouse answers everything too late, the
 * error says so: to ask for less would not help. `otherwise`: what it says when ClickHouse is well.
 */
export function clickHouseUnavailable(
  { storeWatch }: Pick<AppContext, 'storeWatch'>,
  otherwise: Options = {},
): RequestError {
  if (storeWatch.lateSince('clickhouse') === null) return new RequestError('unavailable', otherwise)
  return new RequestError('unavailable', { reason: faultOf('', 'clickhouse_late'), headers: { 'Retry-After': '60' } })
}
