/**
 * Ids that follow from the place of an item in the stream. An entry that is applied again, because a failover of
 * Postgres lost its commit, gets the same ids. So what ClickHouse and callers already have stays valid, and nothing is
 * there twice.
 */
import { createHash } from 'node:crypto'
import { PARTITION_KINDS, kindOf } from './partitions/partition-of.ts'

/** The place of an item in the streams. */
export interface ItemPlace {
  partition: string
  streamId: string
  /** Position of the item in its entry, starting at 0. */
  at: number
}

/** Returns ids in ascending order. The id of the event does not depend on how many others come before it. */
export type NewId = (of?: 'event') => string

/** The largest numbers that fit. The hash distinguishes what is beyond them. */
const MAX_SEQUENCE = 2 ** 20 - 1
const MAX_PLACE = 2 ** 10 - 1
/** The kind of the partition, and its number, below MAX_PARTITIONS. */
const PARTITION_BITS = 10
const NUMBER_BITS = 8
const HASH_BITS = 20

/** Events are counted from here, all other ids from 0. Both have 14 bits. */
const FIRST_EVENT = 8192

/**
 * A UUID of version 7: the milliseconds of the stream id (48 bits), then its sequence (20), the place in the entry (10),
 * the number of the id (14), the partition (10), and a hash (20). The order of ids is that of the stream. The hash
 * distinguishes the places beyond what fits, such as sequences of a Redis whose clock was set back far. Most items need
 * no id, so nothing is computed before the first one.
 */
export function deriveIds({ partition, streamId, at }: ItemPlace): NewId {
  let parts: IdParts | undefined
  let [events, others] = [FIRST_EVENT, 0]
  return (of) => {
    parts ??= partsOf(partition, streamId, at)
    const count = of === 'event' ? events++ : others++
    return parts.start + hex(parts.middle | (count << PARTITION_BITS), 7) + parts.end
  }
}

interface IdParts {
  /** Up to the first six bits of the place. */
  start: string
  /** The other four bits of the place, and the partition. The number of the id comes between them. */
  middle: number
  /** The hash. */
  end: string
}

function partsOf(partition: string, streamId: string, at: number): IdParts {
  const entry = entryPartsOf(partition, streamId)
  const place = Math.min(at, MAX_PLACE)
  // Differs between the items of an entry.
  const hash = (entry.hash + at) & (2 ** (PARTITION_BITS + HASH_BITS) - 1)
  const variantAndPlace = 0x8000 | ((entry.sequence & 0xff) << 6) | (place >> 4)
  const number = entry.number ?? hash >> HASH_BITS
  return {
    start: `${entry.start}-${hex(variantAndPlace, 4)}-`,
    middle: ((place & 0xf) << 24) | number,
    end: hex(hash & (2 ** HASH_BITS - 1), 5),
  }
}

interface EntryParts {
  partition: string
  streamId: string
  /** The milliseconds, the version, and the first twelve bits of the sequence. */
  start: string
  sequence: number
  number: number | undefined
  hash: number
}

/** The items of an entry are decided one after the other, so the parts that they share are computed once. */
let latest: EntryParts | undefined

function entryPartsOf(partition: string, streamId: string): EntryParts {
  if (latest?.streamId === streamId && latest.partition === partition) return latest
  const [ms, sent] = streamId.split('-').map(Number)
  const time = hex(ms ?? 0, 12)
  const sequence = Math.min(sent ?? 0, MAX_SEQUENCE)
  const hash = createHash('sha256').update(`${partition} ${streamId}`).digest().readUInt32BE() >>> 2
  const start = `${time.slice(0, 8)}-${time.slice(8)}-7${hex(sequence >> 8, 3)}`
  latest = { partition, streamId, start, sequence, number: numberOf(partition), hash }
  return latest
}

const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0')

/** Two partitions never have the same number, so that no two people get the same id. */
function numberOf(partition: string): number | undefined {
  const kind = PARTITION_KINDS.indexOf(kindOf(partition))
  const number = Number(partition.split('-')[1])
  if (kind < 0 || !Number.isInteger(number)) return undefined
  return (kind << NUMBER_BITS) | number
}

/** Returns the entry that an id was derived from, if it was. */
export function entryOf(id: string): Pick<ItemPlace, 'partition' | 'streamId'> | undefined {
  const digits = id.replaceAll('-', '')
  const ms = Number.parseInt(digits.slice(0, 12), 16)
  const sequence =
    (Number.parseInt(digits.slice(13, 16), 16) << 8) | ((Number.parseInt(digits.slice(16, 20), 16) >> 6) & 0xff)
  const number = Number.parseInt(digits.slice(20, 27), 16) & (2 ** PARTITION_BITS - 1)
  const kind = PARTITION_KINDS[number >> NUMBER_BITS]
  if (kind === undefined) return undefined
  return { partition: `${kind}-${number & (2 ** NUMBER_BITS - 1)}`, streamId: `${ms}-${sequence}` }
}
