/**
 * Ids that follow from the place of an item in the stream. An entry that is applied again, because a failover of
 * Postgres lost its commit, gets the same ids. So what ClickHouse and callers already have stays valid, and nothing is
 * there twice.
 */
import { createHash } from 'node:crypto'
import { PARTITION_KINDS, kindOf } from './partition-of.ts'

/** The place of an item in the streams. */
export interface ItemPlace {
  partition: string
  streamId: string
  /** Position of the item in its entry, starting at 0. */
  at: number
}

/** Returns ids in ascending order. The id of the event does not depend on how many others come before it. */
export type NewId = (of?: 'event') => string

const SEQUENCE_BITS = 20n
const PLACE_BITS = 10n
const COUNT_BITS = 14n
const HASH_BITS = 20n
/** The kind of the partition, and its number, below MAX_PARTITIONS. */
const PARTITION_BITS = 10n
const NUMBER_BITS = 8n

/** Events are counted from here, all other ids from 0. */
const FIRST_EVENT = 8192

/**
 * A UUID of version 7: the milliseconds of the stream id, then its sequence, the place in the entry, the number of the
 * id, the partition, and a hash. The order of ids is that of the stream. The hash distinguishes the places beyond what
 * fits, such as sequences of a Redis whose clock was set back far.
 */
export function deriveIds(place: ItemPlace): NewId {
  const { partition, streamId, at } = place
  const [ms = '0', sequence = '0'] = streamId.split('-')
  const digest = createHash('sha256').update(`${partition} ${streamId} ${at}`).digest('hex')
  const hash = BigInt(`0x${digest.slice(0, 16)}`)
  const prefix = (fit(BigInt(sequence), SEQUENCE_BITS) << PLACE_BITS) | fit(BigInt(at), PLACE_BITS)
  const number = numberOf(partition)
  const suffix =
    number === undefined ? cut(hash, PARTITION_BITS + HASH_BITS) : (number << HASH_BITS) | cut(hash, HASH_BITS)
  let [events, others] = [FIRST_EVENT, 0]
  return (of) => {
    const count = of === 'event' ? events++ : others++
    const rest = (((prefix << COUNT_BITS) | BigInt(count)) << (PARTITION_BITS + HASH_BITS)) | suffix
    return toUuid(BigInt(ms), rest)
  }
}

const fit = (value: bigint, bits: bigint): bigint => (value < 1n << bits ? value : (1n << bits) - 1n)

const cut = (value: bigint, bits: bigint): bigint => value & ((1n << bits) - 1n)

/** Two partitions never have the same number, so that no two people get the same id. */
function numberOf(partition: string): bigint | undefined {
  const kind = PARTITION_KINDS.indexOf(kindOf(partition))
  const number = Number(partition.split('-')[1])
  if (kind < 0 || !Number.isInteger(number)) return undefined
  return (BigInt(kind) << NUMBER_BITS) | BigInt(number)
}

/** @param rest 74 bits */
function toUuid(ms: bigint, rest: bigint): string {
  const [high, low] = [rest >> 62n, rest & ((1n << 62n) - 1n)]
  const bits = (ms << 80n) | (7n << 76n) | (high << 64n) | (2n << 62n) | low
  const hex = bits.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Returns the entry that an id was derived from, if it was. */
export function entryOf(id: string): Pick<ItemPlace, 'partition' | 'streamId'> | undefined {
  const bits = BigInt(`0x${id.replaceAll('-', '')}`)
  const rest = (((bits >> 64n) & 0xfffn) << 62n) | cut(bits, 62n)
  const number = cut(rest >> HASH_BITS, PARTITION_BITS)
  const kind = PARTITION_KINDS[Number(number >> NUMBER_BITS)]
  if (kind === undefined) return undefined
  const sequence = rest >> (PLACE_BITS + COUNT_BITS + PARTITION_BITS + HASH_BITS)
  return { partition: `${kind}-${cut(number, NUMBER_BITS)}`, streamId: `${bits >> 80n}-${sequence}` }
}
