/**
 * The names in Redis. Each partition has one hash tag, so that all keys of a partition are in one slot of a Redis
 * Cluster.
 */
import type { PartitionKind } from './partition-of.ts'

export const streamKey = (partition: string): string => `sluice:{${partition}}:stream`

/** A hash of waiting bytes: `total`, and one field per business id. */
export const backlogKey = (partition: string): string => `sluice:{${partition}}:backlog`

/** The lowest version of the partition map that an append may use (stream/fence.ts). */
export const fenceKey = (partition: string): string => `sluice:{${partition}}:fence`

export const answersChannel = (frontDoor: string): string => `sluice:answers:${frontDoor}`

/**
 * A sorted set of the live workers that share these kinds of partitions. The score is the time until which a worker
 * counts as live.
 */
export const workersKey = (kinds: readonly PartitionKind[]): string => `sluice:workers:${kinds.join('+')}`
