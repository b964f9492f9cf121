/** Durations of one unit, as a number and a unit. */

export const UNITS = ['minutes', 'hours', 'days', 'weeks'] as const
export type Unit = (typeof UNITS)[number]

const FORMS: Record<Unit, [before: string, after: string]> = {
  minutes: ['PT', 'M'],
  hours: ['PT', 'H'],
  days: ['P', 'D'],
  weeks: ['P', 'W'],
}

/**
 * `amount` may be empty while a person types it. Returns undefined for a duration of several units, and for text that
 * is not a duration.
 */
export function readAmount(text: unknown): { amount: string; unit: Unit } | undefined {
  if (typeof text !== 'string') return undefined
  for (const unit of UNITS) {
    const [before, after] = FORMS[unit]
    if (!text.startsWith(before) || !text.endsWith(after)) continue
    const amount = text.slice(before.length, text.length - after.length)
    if (/^(\d+(\.\d+)?)?$/.test(amount)) return { amount, unit }
  }
  return undefined
}

export const writeAmount = (amount: string, unit: Unit): string => FORMS[unit].join(amount)
