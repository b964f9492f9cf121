/**
 * Local times computed only from the offsets that the code of `moment-timezone` finds: `local-time.ts` must give the same
 * results.
 */
import moment from 'moment-timezone'

const DAY = 86_400_000
/**
 * Two years of hours, with a margin before and after for enrolments that begin in them and for the instants that they
 * lead to.
 */
export const FIRST = Date.UTC(2026, 0, 1)
export const HOURS = 2 * 365 * 24
const [BEGIN, END] = [FIRST - 20 * DAY, FIRST + 3 * 365 * DAY]
/** No zone changes its clocks twice within this time. */
const STRIDE = 14 * DAY

/** From `at` (epoch ms) on, local time is this far ahead of UTC, in ms. */
export interface Offset {
  at: number
  ms: number
}

export interface NaiveZone {
  offsets: Offset[]
  /**
   * Returns the first instant with a local time, which is given as if it were UTC. A local time that the day skips
   * comes later by the length of the skip.
   */
  instantOf(local: number): number
  /** Returns the local time as if it were UTC. */
  localOf(at: number): number
}

const known = new Map<string, NaiveZone>()

export function naiveZone(name: string): NaiveZone {
  const zone = known.get(name) ?? makeZone(offsetsOf(name))
  known.set(name, zone)
  return zone
}

function makeZone(offsets: Offset[]): NaiveZone {
  const offsetAt = (at: number) => offsets.findLast((one) => one.at <= at)?.ms ?? 0
  const instantOf = (local: number): number => {
    const instants = offsets.map(({ ms }) => local - ms).filter((at) => at + offsetAt(at) === local)
    if (instants.length > 0) return Math.min(...instants)
    const skips = offsets.findIndex(({ at, ms }, index) => {
      const before = offsets[index - 1]
      return before !== undefined && at + before.ms <= local && local < at + ms
    })
    return local - (offsets[skips - 1]?.ms ?? NaN)
  }
  return { offsets, instantOf, localOf: (at) => at + offsetAt(at) }
}

function offsetsOf(name: string): Offset[] {
  const zone = moment.tz.zone(name)
  if (zone === null) throw new Error(`no zone ${name}`)
  const offsetAt = (at: number): number => -zone.utcOffset(at) * 60_000
  const offsets = [{ at: BEGIN, ms: offsetAt(BEGIN) }]
  for (let at = BEGIN; at < END; at += STRIDE) {
    const last = offsets.at(-1)?.ms
    if (offsetAt(at + STRIDE) === last) continue
    let [before, after] = [at, at + STRIDE]
    while (after - before > 60_000) {
      const middle = Math.round((before + after) / 120_000) * 60_000
      if (offsetAt(middle) === last) before = middle
      else after = middle
    }
    offsets.push({ at: after, ms: offsetAt(after) })
  }
  return offsets
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** Returns the local midnights around an instant. */
function daysAround({ localOf }: NaiveZone, at: number): number[] {
  const today = Math.floor(localOf(at) / DAY) * DAY
  return Array.from({ length: 16 }, (_, index) => today + (index - 4) * DAY)
}

export function naiveNext(
  zone: NaiveZone,
  after: number,
  time: string,
  weekdays: readonly number[] | undefined,
): number {
  const wanted = daysAround(zone, after).filter((day) => {
    const weekday = new Date(day).getUTCDay() || 7
    return weekdays === undefined || weekdays.includes(weekday)
  })
  const instants = wanted.map((day) => zone.instantOf(day + minutesOf(time) * 60_000))
  return Math.min(...instants.filter((at) => at > after))
}

/** An instant is quiet when it lies between the beginning and the end of one day's quiet hours. */
export function naiveWindow(
  zone: NaiveZone,
  dueAt: number,
  { from, to }: { from: string; to: string },
): { from: number; until: number } {
  const nights = daysAround(zone, dueAt).map((day) => ({
    begin: zone.instantOf(day + minutesOf(from) * 60_000),
    end: zone.instantOf(day + (minutesOf(to) + (to < from ? 1440 : 0)) * 60_000),
  }))
  const isQuiet = (at: number) => nights.some(({ begin, end }) => begin <= at && at < end)
  const ends = nights.map(({ end }) => end).filter((end) => end > dueAt)
  const open = Math.min(...[dueAt, ...ends].filter((at) => !isQuiet(at)))
  const begins = nights.map(({ begin }) => begin)
  return { from: open, until: Math.min(...begins.filter((at) => at > open && isQuiet(at))) }
}
