/** Notices when Postgres is older than Redis: Redis has deleted entries that this Postgres has not applied. */
import type { Logger } from '../../log.ts'
import type { Redis } from '../../stores/redis.ts'
import type { PartitionHolder } from '../leases/lease.ts'
import { compareIds } from '../stream-id.ts'
import { OLDER_THAN_REDIS, findLost } from './kept.ts'

export interface PositionWatch {
  /** Looks at the start, when a position is lower than before, and for as long as entries are lost. */
  check(holders: readonly PartitionHolder[]): Promise<void>
  /** Returns the reason why no partition may be applied. */
  blockedBy(): string | undefined
}

export function watchPositions({ redis, log }: { redis: Redis; log: Logger }): PositionWatch {
  /** The positions as last read. */
  let seen: ReadonlyMap<string, string> = new Map()
  let blockedBy: string | undefined
  return {
    async check(holders) {
      const positions = new Map(holders.map(({ partition, position }) => [partition, position]))
      const isLower = [...positions].some(
        ([partition, position]) => compareIds(position, seen.get(partition) ?? position) < 0,
      )
      const mayBeLost = seen.size === 0 || isLower || blockedBy !== undefined
      const lost = mayBeLost ? await findLost(redis, positions) : []
      seen = positions
      if (lost.length > 0 && blockedBy === undefined)
        log.error({ partitions: lost }, 'Postgres is older than Redis: nothing is applied until admin recover was run')
      blockedBy = lost.length > 0 ? OLDER_THAN_REDIS : undefined
    },
    blockedBy: () => blockedBy,
  }
}
