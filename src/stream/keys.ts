/** The names in Redis. One hash tag per partition: on a Redis Cluster a partition's keys lie together. */

export const streamKey = (partition: string): string => `sluice:{${partition}}:stream`

/** A hash of waiting bytes: `total`, and one field per business id. */
export const backlogKey = (partition: string): string => `sluice:{${partition}}:backlog`

/** The version of the partitioning that an append has to know at least (stream/fence.ts). */
export const fenceKey = (partition: string): string => `sluice:{${partition}}:fence`

export const answersChannel = (frontDoor: string): string => `sluice:answers:${frontDoor}`

/** A sorted set of the ingest workers that are alive, scored by the time until which they are believed to be. */
export const WORKERS_KEY = 'sluice:workers'
