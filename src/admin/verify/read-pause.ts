import { UsageError } from '../command.ts'

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 }

/** Milliseconds of `30s`, `10m` or `1h`. Throws UsageError. */
export function readPause(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,5})([smh])$/.exec(text) ?? []
  const ms = Number(count) * (UNITS[unit] ?? 0)
  if (ms > 0 && ms <= 7 * 24 * 3_600_000) return ms
  throw new UsageError(`--every must be a pause such as 30s, 10m or 1h, of a week at most, not "${text}"`)
}
