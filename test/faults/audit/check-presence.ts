/** Checks which events are recorded, how often, and with which times. */
import type { Fact, Sending } from '../ledger.ts'
import type { Held, Recorded } from '../read-held.ts'
import { type Facts, attemptsOf, describe, mayBeSilent, wasAcknowledged } from './facts.ts'

/** All processes use one machine's clock. A request that its sender gave up may arrive a little later. */
const EARLY_MS = 1000
const LATE_MS = 60_000

export function findLost(facts: Facts, { postgresMarks, clickhouseMarks }: Held): Fact[] {
  const due = [...facts].filter(([, sendings]) => wasAcknowledged(sendings)).map(([fact]) => fact)
  return due.filter(({ mark }) => !postgresMarks.has(mark) || !clickhouseMarks.has(mark))
}

export function findDoubled(facts: Facts, { postgresMarks, clickhouseMarks }: Held): Fact[] {
  const isDouble = (recorded: Recorded | undefined) => (recorded?.times ?? 0) > 1
  return [...facts.keys()].filter(
    ({ mark }) => isDouble(postgresMarks.get(mark)) || isDouble(clickhouseMarks.get(mark)),
  )
}

/** Nothing is recorded that was refused for good or never sent, and both stores contain the same events. */
export function checkPresence(facts: Facts, { postgresMarks, clickhouseMarks }: Held): string[] {
  const sent = new Map([...facts].map(([fact, sendings]) => [fact.mark, sendings]))
  const unexplained = [...new Set([...postgresMarks.keys(), ...clickhouseMarks.keys()])].filter((mark) => {
    const sendings = sent.get(mark)
    return !sendings || !(wasAcknowledged(sendings) || mayBeSilent(sendings))
  })
  const apart = [...sent.keys()].filter((mark) => postgresMarks.has(mark) !== clickhouseMarks.has(mark))
  return [
    ...unexplained.map((mark) => `unexplained: ${mark} (${describe(facts, mark)})`),
    ...apart.map((mark) => `in one store only: ${mark}`),
    ...[...facts].flatMap(([fact, sendings]) =>
      [postgresMarks, clickhouseMarks].flatMap((marks) => checkRecord(fact, sendings, marks.get(fact.mark))),
    ),
  ]
}

/**
 * Checks that the times are those of the caller and the front door, whatever ids the streams assigned, and that the
 * source is the endpoint.
 */
function checkRecord(fact: Fact, sendings: Sending[], recorded: Recorded | undefined): string[] {
  if (!recorded) return []
  const { mark } = fact
  const { occurredAt, receivedAt, source } = recorded
  const attempts = attemptsOf(sendings)
  const earliest = Math.min(...attempts.map(({ sentAt }) => sentAt)) - EARLY_MS
  const latest = Math.max(...attempts.map(({ endedAt }) => endedAt)) + LATE_MS
  const due = fact.occurredAt ?? receivedAt
  const sources = sendings.map(({ kind }) => (kind === 'batch' ? 'batch' : 'live'))
  return [
    ...(occurredAt === due ? [] : [`${mark} occurred at ${occurredAt}, not ${due}`]),
    ...(receivedAt >= earliest && receivedAt <= latest
      ? []
      : [`${mark} was received at ${receivedAt}, when nobody sent`]),
    ...(sources.some((one) => one === source) ? [] : [`${mark} is ${source} and was never sent so`]),
  ]
}
