/** Counts the results of a backtest, contact by contact. */
import { addAmounts, amountToNumber } from '../events/money.ts'
import type { MessageChannel } from '../messages/message-channel.ts'
import type { SkipReason } from '../messages/message-reasons.ts'
import type { Replayed } from './replay-contact.ts'
import type { Step } from './steps.ts'
import { walkSteps } from './walk-steps.ts'

/** Number of examples in each list of a sample. */
export const MAX_SAMPLES = 20
export const MAX_SAMPLE_SENDS = 50

export interface StepCounts {
  stepId: string
  /** Enrolments that reached it. */
  entered: number
  /** Null: the step sends nothing. */
  channel: MessageChannel | null
  sent: number
  skipped: Partial<Record<SkipReason, number>>
}

export interface DayCounts {
  /** Day of the enrolments, in the zone of the business, such as `2026-11-24`. */
  day: string
  entered: number
  /** Messages of those enrolments. */
  sent: number
  converted: number
}

/** An enrolment, as an example. Instants are ISO 8601 UTC. */
export interface Sample {
  contactId: string
  enrolledAt: string
  state: Replayed['state']
  endsAt: string | null
  /** The step of an active enrolment. */
  stepId: string | null
  /** At most `MAX_SAMPLE_SENDS`. */
  sends: { stepId: string; channel: MessageChannel; at: string; reason: SkipReason | null }[]
}

export interface Counted {
  /** Number of contacts. */
  contacts: number
  /** Number of enrolments: in all states together, and by state. */
  entered: number
  active: number
  finished: number
  converted: number
  stopped: number
  /** Held-out contacts. */
  heldOut: number
  /** Share of converted enrolments. Null without enrolments. */
  conversionRate: number | null
  /** Number of messages. */
  sent: number
  /** In the order of the campaign. */
  steps: StepCounts[]
  /** By currency: revenue of the converted contacts from the enrolment to its end. */
  revenue: Record<string, number>
  /** Days with enrolments, oldest first. */
  days: DayCounts[]
  samples: Sample[]
}

export interface Tally {
  add(contactId: string, enrolments: readonly Replayed[], isHeldOut: boolean): void
  /** `amount`: a decimal. */
  earn(currency: string, amount: string): void
  counted(): Counted
}

/** @param dayOf returns the day of an instant in epoch milliseconds */
export function createTally(steps: readonly Step[], dayOf: (at: number) => string): Tally {
  const totals = { contacts: 0, entered: 0, active: 0, finished: 0, converted: 0, stopped: 0, heldOut: 0, sent: 0 }
  const byStep = new Map(walkSteps(steps).map(({ step }) => [step.id, newCounts(step)]))
  const days = new Map<string, DayCounts>()
  const revenue = new Map<string, string>()
  const samples: Sample[] = []
  const addOne = (contactId: string, enrolment: Replayed, isHeldOut: boolean): void => {
    const { state, enrolledAt, entered, sends } = enrolment
    const sent = sends.filter(({ reason }) => reason === null).length
    totals.entered += 1
    totals[state] += 1
    totals.sent += sent
    if (isHeldOut) totals.heldOut += 1
    for (const stepId of entered) byStep.get(stepId)!.entered += 1
    for (const { step, reason } of sends) {
      const counts = byStep.get(step.id)!
      if (reason === null) counts.sent += 1
      else counts.skipped[reason] = (counts.skipped[reason] ?? 0) + 1
    }
    const day = dayOf(enrolledAt)
    const counts = days.get(day) ?? { day, entered: 0, sent: 0, converted: 0 }
    days.set(day, counts)
    counts.entered += 1
    counts.sent += sent
    if (state === 'converted') counts.converted += 1
    if (samples.length < MAX_SAMPLES) samples.push(sampleOf(contactId, enrolment))
  }
  return {
    add(contactId, enrolments, isHeldOut) {
      if (enrolments.length > 0) totals.contacts += 1
      for (const enrolment of enrolments) addOne(contactId, enrolment, isHeldOut)
    },
    earn: (currency, amount) => void revenue.set(currency, addAmounts(revenue.get(currency) ?? '0', amount)),
    counted: () => ({
      ...totals,
      conversionRate: totals.entered === 0 ? null : totals.converted / totals.entered,
      steps: [...byStep.values()],
      revenue: Object.fromEntries(
        [...revenue]
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([currency, amount]) => [currency, amountToNumber(amount)]),
      ),
      days: [...days.values()].toSorted((one, other) => (one.day < other.day ? -1 : 1)),
      samples,
    }),
  }
}

const newCounts = (step: Step): StepCounts => ({
  stepId: step.id,
  entered: 0,
  channel: step.type === 'send' ? step.channel : null,
  sent: 0,
  skipped: {},
})

const isoTime = (at: number): string => new Date(at).toISOString()

const sampleOf = (contactId: string, { enrolledAt, state, endsAt, stepId, sends }: Replayed): Sample => ({
  contactId,
  enrolledAt: isoTime(enrolledAt),
  state,
  endsAt: endsAt === null ? null : isoTime(endsAt),
  stepId,
  sends: sends
    .slice(0, MAX_SAMPLE_SENDS)
    .map(({ step, at, reason }) => ({ stepId: step.id, channel: step.channel, at: isoTime(at), reason })),
})
