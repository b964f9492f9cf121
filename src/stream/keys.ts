/** The names in Redis. One hash tag per partition: on a Redis Cluster a partition's keys lie together. */
import type { PartitionKind } from './partition-of.ts'

export const streamKey = (partition: string): string => `sluice:{${partition}}:stream`

/** A hash of waiting bytes: `total`, and one field per business id. */
export const backlogKey = (partition: string): string => `sluice:{${partition}}:backlog`

/** The version of the partitioning that an append has to know at least (stream/fence.ts). */
export const fenceKey = (partition: string): string => `sluice:{${partition}}:fence`

export const answersChannel = (frontDoor: string): string => `sluice:answers:${frontDoor}`

/** A sorted set of the live workers that share out these kinds of partitions, scored by the time until which they are believed to be. */
export const workersKey = (kinds: readonly PartitionKind[]): string => `sluice:workers:${kinds.join('+')}`
