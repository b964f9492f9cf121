/** Marketing costs of the demo's language school. The result depends only on the day. */
import { DEMO_DAYS } from './compose-demo.ts'

const DAY_MS = 86_400_000

interface DemoSpend {
  /** A date such as `2026-02-28`. */
  day: string
  channel: 'paid_search' | 'paid_social' | 'email'
  source: string
  campaign: string
  currency: string
  /** A decimal number. */
  amount: string
}

/** Sources as in the touches of the demo people, with the daily cents for a hundred people. */
const PAID = [
  { channel: 'paid_search', source: 'google', campaign: 'spring', cents: 520 },
  { channel: 'paid_social', source: 'facebook', campaign: 'teachers', cents: 810 },
  { channel: 'email', source: 'newsletter', campaign: 'monthly', cents: 90 },
] as const

/** Composes the spend of the last days, with less on weekends. `count`: number of people. `now`: epoch milliseconds. */
export function composeSpend({ count, now }: { count: number; now: number }): DemoSpend[] {
  return Array.from({ length: DEMO_DAYS }, (_, ago) => new Date(now - ago * DAY_MS)).flatMap((at) =>
    PAID.map(({ cents, ...paid }) => {
      const isWeekend = at.getUTCDay() % 6 === 0
      const amount = (Math.round((cents * count * (isWeekend ? 0.6 : 1)) / 100) / 100).toFixed(2)
      return { ...paid, day: at.toISOString().slice(0, 10), currency: 'USD', amount }
    }),
  )
}
