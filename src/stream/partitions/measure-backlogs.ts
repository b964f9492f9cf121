/** What a change of the number of partitions waits for: entries that are not applied yet, and workers that have them. */
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { OLDER_THAN_REDIS, findLost } from '../consume/kept.ts'
import { readHolders } from '../leases/lease.ts'
import { FIRST_ID } from '../stream-id.ts'
import { type PartitionBacklog, raiseFences } from './fence.ts'
import { readPositions } from './positions.ts'

/** A backlog, and the position in Postgres after which it was measured. */
export type MeasuredBacklog = PartitionBacklog & { position: string }

/**
 * Raises the fences of the partitions to `fence` (0: leaves them), and measures what waits. Rejects when Redis has
 * deleted entries that this Postgres has not applied. A change would hide their loss.
 */
export async function measureBacklogs(
  { sql, redis }: { sql: Sql; redis: Redis },
  partitions: string[],
  fence: number,
): Promise<MeasuredBacklog[]> {
  const positions = await readPositions(sql)
  if ((await findLost(redis, positions)).length > 0) throw new Error(OLDER_THAN_REDIS)
  const backlogs = await raiseFences(redis, partitions, fence, positions)
  return backlogs.map((backlog) => ({ ...backlog, position: positions.get(backlog.partition) ?? FIRST_ID }))
}

/** Resolves with the partitions that a worker has. */
export async function readAttended(sql: Sql): Promise<Set<string>> {
  const holders = await readHolders(sql)
  return new Set(holders.filter(({ owner }) => owner !== null).map(({ partition }) => partition))
}

/** Lists the entries by partition; '' when none waits. */
export const describeWaiting = (backlogs: PartitionBacklog[]): string =>
  backlogs
    .filter(({ waiting }) => waiting > 0)
    .map(({ partition, waiting }) => `${waiting} in ${partition}`)
    .join(', ')
