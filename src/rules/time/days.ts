/** Days of the calendar, as numbers: day 0 is 1970-01-01. */
import { firstInstantFrom, localAt } from './zones.ts'

const DAY_MS = 86_400_000

/** Returns the day of an instant. */
export const dayAt = (zone: string, at: number): number => Math.floor(localAt(zone, at) / DAY_MS)

/** Returns midnight of a day, as a local time. */
export const midnightOf = (day: number): number => day * DAY_MS

/** Returns the instant at which a day begins. */
export const startOfDay = (zone: string, day: number): number => firstInstantFrom(zone, midnightOf(day))

/** 1 is Monday. */
export const weekdayOf = (day: number): number => ((((day + 3) % 7) + 7) % 7) + 1

/** Returns a day such as `2026-11-24`. */
export const showDay = (day: number): string => new Date(midnightOf(day)).toISOString().slice(0, 'YYYY-MM-DD'.length)

/** Reads a day such as `2026-11-24`. Returns undefined when there is no such day. */
export function readDay(text: string): number | undefined {
  const day = Date.parse(`${text}T00:00:00Z`) / DAY_MS
  return Number.isInteger(day) && showDay(day) === text ? day : undefined
}
