/** Why a mail is not sent, and until when caps hold it. */
import type { PlanCap } from './plan.ts'
import type { Message, Person } from './records.ts'

/** Null: nothing refuses it. */
export function refusalOf(
  { hasOptIn, emails: [address] }: Person,
  suppressed: ReadonlySet<number>,
  isMarketing: boolean,
): 'no_opt_in' | 'no_address' | 'suppressed' | null {
  if (isMarketing && hasOptIn !== true) return 'no_opt_in'
  if (address === undefined) return 'no_address'
  return suppressed.has(address) ? 'suppressed' : null
}

export const counts = ({ channel, state }: Message): boolean =>
  channel === 'email' && state !== 'failed' && state !== 'skipped'

/** The instant at which all caps allow one more mail. Null: they do so now. `counted`: instants of those that were sent. */
export function cappedUntil(counted: readonly number[], caps: readonly PlanCap[], now: number): number | 'skip' | null {
  const newestFirst = counted.toSorted((one, other) => other - one)
  const reached = caps.flatMap(({ atMost, ms, whenReached }) => {
    // Once this one falls out, there is room.
    const fallsOutAt = (newestFirst[atMost - 1] ?? -Infinity) + ms
    return fallsOutAt > now ? [whenReached === 'skip' ? whenReached : fallsOutAt] : []
  })
  if (reached.length === 0) return null
  const instants = reached.filter((one) => one !== 'skip')
  return instants.length < reached.length ? 'skip' : Math.max(...instants)
}
