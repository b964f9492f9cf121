/** Why a mail is not sent, and until when caps hold it. */
import type { PlanCap } from './plan.ts'
import type { Message, ModelEnrolment, Person } from './records.ts'

/** Returns the first address that is not suppressed. */
export const addressOf = ({ emails }: Person, suppressed: ReadonlySet<number>): number | undefined =>
  emails.find((address) => !suppressed.has(address))

/** Returns the reason to refuse the mail; null when nothing refuses it. */
export function refusalOf(
  person: Person,
  suppressed: ReadonlySet<number>,
  isMarketing: boolean,
): 'no_opt_in' | 'no_address' | 'suppressed' | null {
  if (isMarketing && person.hasOptIn !== true) return 'no_opt_in'
  if (person.emails.length === 0) return 'no_address'
  return addressOf(person, suppressed) === undefined ? 'suppressed' : null
}

const counts = ({ channel, state }: Message): boolean =>
  channel === 'email' && state !== 'failed' && state !== 'skipped'

/** Returns the claim instants of the person's mails that count for caps, without the one that is to be tried again. */
export function countedOf(all: readonly ModelEnrolment[], { person, row }: ModelEnrolment): number[] {
  const sent = all.filter((one) => one.person === person).flatMap(({ messages }) => messages)
  return sent.filter((one) => one !== row?.message && counts(one)).map(({ claimedAt }) => claimedAt)
}

/**
 * Returns the instant at which all caps allow another mail; null when they do now. `counted`: instants of the mails
 * that were sent.
 */
export function cappedUntil(counted: readonly number[], caps: readonly PlanCap[], now: number): number | 'skip' | null {
  const newestFirst = counted.toSorted((one, other) => other - one)
  const reached = caps.flatMap(({ atMost, ms, whenReached }) => {
    // There is room again when this mail falls out of the cap's time.
    const fallsOutAt = (newestFirst[atMost - 1] ?? -Infinity) + ms
    return fallsOutAt > now ? [whenReached === 'skip' ? whenReached : fallsOutAt] : []
  })
  if (reached.length === 0) return null
  const instants = reached.filter((one) => one !== 'skip')
  return instants.length < reached.length ? 'skip' : Math.max(...instants)
}
