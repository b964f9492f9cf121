import { readIso } from './read-iso.ts'

/** 0001-01-01T00:00:00Z. */
const YEAR_ONE = -62_135_596_800_000
const MAX_AHEAD_MS = 5 * 60_000

/**
 * Returns when an event happened, in epoch ms (decisions, "Time"). `value` is an ISO 8601 string or a number of epoch
 * milliseconds. `now` is the time of receipt. The front door responds to a fault with the code `invalid_occurred_at`.
 */
export function readOccurredAt(
  value: string | number,
  now: number,
): { at: number; warning?: string } | { fault: string } {
  const at = typeof value === 'string' ? readIso(value) : wholeMilliseconds(value)
  if (at === undefined) {
    return { fault: 'occurredAt must be a real ISO 8601 date or date-time, or a number of epoch milliseconds' }
  }
  if (at < YEAR_ONE) return { fault: 'occurredAt must not be before year 1' }
  if (at > now + MAX_AHEAD_MS) return { fault: 'occurredAt must not be more than 5 minutes in the future' }
  if (typeof value === 'number' && readsAsSeconds(value)) {
    return {
      at,
      warning: 'occurredAt looks like seconds; it was taken as epoch milliseconds. Multiply seconds by 1000',
    }
  }
  return { at }
}

function wholeMilliseconds(value: number): number | undefined {
  // Adding 0 turns -0 into 0.
  return Number.isNaN(value) ? undefined : Math.floor(value) + 0
}

function readsAsSeconds(value: number): boolean {
  const size = Math.abs(value)
  return size >= 1e8 && size < 1e11
}
