const UNITS_MS = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1000] as const
const MAX_MS = 365 * 86_400_000

export const ISO_DURATION =
  /^P(?!$)(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?!$)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:[.,]\d{1,3})?)S)?)?$/

/**
 * Returns the milliseconds of an ISO 8601 duration in weeks, days of 24 hours, hours, minutes and seconds, such as
 * `P3D` or `PT90M`. Undefined when it is not a duration, not above zero, or longer than P365D.
 */
export function readDuration(text: string): number | undefined {
  const parts = ISO_DURATION.exec(text)
  if (parts === null) return undefined
  const counts = parts.slice(1).map((count: string | undefined) => Number((count ?? '0').replace(',', '.')))
  const ms = Math.round(UNITS_MS.reduce((sum, unit, index) => sum + unit * (counts[index] ?? 0), 0))
  return ms > 0 && ms <= MAX_MS ? ms : undefined
}
