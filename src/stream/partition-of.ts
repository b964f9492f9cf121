/** Maps requests to partitions. */
import type { IngestRequest } from './entry.ts'

/**
 * Live events and past events have separate partitions, so that an import never delays a live event (design, promise 8).
 * Web events have partitions of their own, too: they cannot be mistaken for other events, and may wait for ClickHouse.
 */
export const PARTITION_KINDS = ['live', 'backfill', 'web'] as const
export type PartitionKind = (typeof PARTITION_KINDS)[number]

/** Separate threads serve the two groups: the long work of the low-priority kinds would delay live events. */
export const URGENT_KINDS = ['live'] as const satisfies PartitionKind[]
export const LOW_PRIORITY_KINDS = ['backfill', 'web'] as const satisfies PartitionKind[]

export function partitionKind(kind: IngestRequest['kind']): PartitionKind {
  if (kind === 'capture') return 'web'
  return kind === 'batch' ? 'backfill' : 'live'
}

/** The kind in a partition's name. */
export const kindOf = (partition: string): PartitionKind => partition.split('-')[0] as PartitionKind

/** The key that selects the partition. Events of a business stay in order, and so do web events of a browser. */
export const partitionKey = (request: IngestRequest): string =>
  request.kind === 'capture' ? request.visitorId : request.businessId

/** The partition's name, such as `live-3`. All requests of one key and kind use one partition, and stay in order. */
export function partitionOf(kind: PartitionKind, key: string, partitions: number): string {
  return `${kind}-${fnv1a(key) % partitions}`
}

/** The names of all partitions, as in `positions`. */
export function allPartitions(partitions: number): string[] {
  const numbers = Array.from({ length: partitions }, (_, number) => number)
  return PARTITION_KINDS.flatMap((kind) => numbers.map((number) => `${kind}-${number}`))
}

/** FNV-1a, 32 bits, for ASCII text. It decides a key's partition, so it must never change. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
