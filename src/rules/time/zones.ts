/**
 * Local times of IANA time zones. Instants are epoch milliseconds. A local time is a number, too: what the epoch
 * milliseconds would be if the clock of the place showed UTC.
 */
import { type Zone, zoneOf } from './zone-table.ts'

export { TIME_ZONES_VERSION, zoneNamed } from './zone-table.ts'

/** No clock was ever further from UTC. */
const FURTHEST = 16 * 3_600_000
/** The calendar repeats after 400 years, days of the week included. */
const CYCLE = 146_097 * 86_400_000
/** The table ends here. What follows is read from the cycle before it. */
const END = Date.UTC(2500, 0)

/** Returns by how many milliseconds local time is ahead of UTC at an instant. */
export function offsetAt(zone: string, at: number): number {
  const { starts, offsets } = zoneOf(zone)
  return offsets[indexAt(starts, inTable(at))] ?? 0
}

export const localAt = (zone: string, at: number): number => at + offsetAt(zone, at)

/**
 * Returns the instant of a local time. A local time that the day lacks comes later by as much as the clock skips (02:30
 * is 03:30). Of a time that comes twice, it is the first.
 */
export function instantOf(zone: string, local: number): number {
  const wanted = inTable(local)
  const { instant, later } = findInstant(zoneOf(zone), wanted)
  return (instant ?? later) + (local - wanted)
}

/** Returns the first instant at or after a local time, such as the beginning of a day that lacks its midnight. */
export function firstInstantFrom(zone: string, local: number): number {
  const wanted = inTable(local)
  const { instant, change } = findInstant(zoneOf(zone), wanted)
  return (instant ?? change) + (local - wanted)
}

/** `change`: when the clock skips the time. `later`: the instant that is later by as much as the clock skips. */
type Found = { instant: number; change?: never; later?: never } | { instant?: never; change: number; later: number }

function findInstant({ starts, offsets }: Zone, local: number): Found {
  let index = indexAt(starts, local - FURTHEST)
  for (;;) {
    const at = local - (offsets[index] ?? 0)
    const change = starts[index + 1] ?? Infinity
    if (at < change) return { instant: at }
    if (local - (offsets[index + 1] ?? 0) < change) return { change, later: at }
    index += 1
  }
}

const inTable = (at: number): number => (at < END ? at : END - CYCLE + ((at - END) % CYCLE))

/** Returns the last index whose start is not after an instant. */
function indexAt(starts: Float64Array, at: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((starts[middle] ?? 0) <= at) low = middle
    else high = middle - 1
  }
  return low
}
