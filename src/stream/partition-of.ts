/** Which stream a request travels on. */
import type { Request } from './entry.ts'

/** Live events and past ones travel apart, so that an import never delays a live event (design, promise 8). */
export type PartitionKind = 'live' | 'backfill'

export const partitionKind = (kind: Request['kind']): PartitionKind => (kind === 'batch' ? 'backfill' : 'live')

/** `live-3`: everything of one business and kind travels in one partition, and so in order. */
export function partitionOf(kind: PartitionKind, businessId: string, partitions: number): string {
  return `${kind}-${fnv1a(businessId) % partitions}`
}

/** Every partition there is, as named in `positions`. */
export function allPartitions(partitions: number): string[] {
  const numbers = Array.from({ length: partitions }, (_, number) => number)
  return [...numbers.map((number) => `live-${number}`), ...numbers.map((number) => `backfill-${number}`)]
}

/** FNV-1a, 32 bits, of ASCII text. It decides where a business's entries lie: it must never change. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
