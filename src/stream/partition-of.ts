/** Which stream a request travels on. */
import type { Request } from './entry.ts'

/**
 * Live events and past ones travel apart, so that an import never delays a live event (design, promise 8). What a browser
 * captures by itself has partitions of its own too: none of it can be taken for an event, and it may wait for ClickHouse.
 */
export const PARTITION_KINDS = ['live', 'backfill', 'web'] as const
export type PartitionKind = (typeof PARTITION_KINDS)[number]

/** Threads of their own serve either: the work for what can wait is long, and would stand in the way of what cannot. */
export const URGENT_KINDS = ['live'] as const satisfies PartitionKind[]
export const LOW_PRIORITY_KINDS = ['backfill', 'web'] as const satisfies PartitionKind[]

export function partitionKind(kind: Request['kind']): PartitionKind {
  if (kind === 'capture') return 'web'
  return kind === 'batch' ? 'backfill' : 'live'
}

/** Of a partition's name. */
export const kindOf = (partition: string): PartitionKind => partition.split('-')[0] as PartitionKind

/** What decides between the partitions of a kind: events are in order for a business, web events for a browser. */
export const partitionKey = (request: Request): string =>
  request.kind === 'capture' ? request.visitorId : request.businessId

/** `live-3`: everything of one key and kind travels in one partition, and so in order. */
export function partitionOf(kind: PartitionKind, key: string, partitions: number): string {
  return `${kind}-${fnv1a(key) % partitions}`
}

/** Every partition there is, as named in `positions`. */
export function allPartitions(partitions: number): string[] {
  const numbers = Array.from({ length: partitions }, (_, number) => number)
  return PARTITION_KINDS.flatMap((kind) => numbers.map((number) => `${kind}-${number}`))
}

/** FNV-1a, 32 bits, of ASCII text. It decides where a key's entries lie: it must never change. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
