/** Maps requests to partitions. */
import { type IngestRequest, isBatch } from '../entry.ts'

/**
 * Live events and past events have separate partitions, so that an import never delays a live event (design, promise
 * 8). Web events also have partitions of their own: they cannot be mistaken for other events, and may wait for
 * ClickHouse.
 */
export const PARTITION_KINDS = ['live', 'backfill', 'web'] as const
export type PartitionKind = (typeof PARTITION_KINDS)[number]

/** Separate threads serve the two groups: the long work of the low-priority kinds would delay live events. */
export const URGENT_KINDS = ['live'] as const satisfies PartitionKind[]
export const LOW_PRIORITY_KINDS = ['backfill', 'web'] as const satisfies PartitionKind[]

export function partitionKind(kind: IngestRequest['kind']): PartitionKind {
  if (kind === 'capture') return 'web'
  return isBatch({ kind }) ? 'backfill' : 'live'
}

/** Returns the kind of a partition, which its name begins with. */
export const kindOf = (partition: string): PartitionKind => partition.split('-')[0] as PartitionKind

/**
 * Returns the key that selects the partition. It keeps the events of a business in order, and the web events of a
 * browser.
 */
export const partitionKey = (request: IngestRequest): string =>
  request.kind === 'capture' ? request.visitorId : request.businessId

/**
 * Returns the partition's name, such as `live-3`. All requests of one key and kind use one partition and stay in order.
 */
export function partitionOf(kind: PartitionKind, key: string, partitions: number): string {
  return `${kind}-${fnv1a(key) % partitions}`
}

/** Returns the names of all partitions, as in `positions`. */
export function allPartitions(partitions: number): string[] {
  const numbers = Array.from({ length: partitions }, (_, number) => number)
  return PARTITION_KINDS.flatMap((kind) => numbers.map((number) => `${kind}-${number}`))
}

/** FNV-1a, 32 bits, for ASCII text. It decides the partition of a key, so it must never change. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
