/**
 * The names in Redis. Each partition has one hash tag, so that all keys of a partition are in one slot of a Redis
 * Cluster.
 */
import type { PartitionKind } from './partitions/partition-of.ts'

export const streamKey = (partition: string): string => `sluice:{${partition}}:stream`

/** Written to find out whether Redis accepts writes. */
export const PROBE_KEY = 'sluice:probe'

/** A hash of waiting bytes: `total`, and one field per business id. */
export const backlogKey = (partition: string): string => `sluice:{${partition}}:backlog`

/**
 * A hash about the applied entries that the stream still keeps (STREAM_KEEP): `applied`, the last id that was applied;
 * `count` and `bytes` of what is kept; `trimmed`, the last id that was deleted; `early`, when an entry was last deleted
 * before its time, in epoch ms.
 */
export const keptKey = (partition: string): string => `sluice:{${partition}}:kept`

/** The lowest version of the partition map that an append may use (stream/partitions/fence.ts). */
export const fenceKey = (partition: string): string => `sluice:{${partition}}:fence`

export const answersChannel = (frontDoor: string): string => `sluice:answers:${frontDoor}`

/**
 * A sorted set of the live workers that share these kinds of partitions. The score is the time until which a worker
 * counts as live.
 */
export const workersKey = (kinds: readonly PartitionKind[]): string => `sluice:workers:${kinds.join('+')}`
