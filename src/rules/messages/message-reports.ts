/**
 * What providers report of a message, put together: the result depends neither on the order of the reports nor on how often each of them
 * comes.
 */
import { type Blame, suppressionOf } from './blame.ts'

export const REPORTED_STATES = ['sent', 'failed', 'delivered', 'bounced', 'complained'] as const
export type ReportedState = (typeof REPORTED_STATES)[number]

export interface MessageReport {
  state: ReportedState
  /** Of the provider, in epoch ms. */
  at: number
  /** Of a failed, bounced or complained one. */
  blame?: Blame
}

/** `at`: epoch ms. */
export interface StateEntry {
  state: string
  at: number
}

export interface ReportedMessage {
  state: string
  /** Each state once, in the order of `ORDER`. */
  states: readonly StateEntry[]
  /** Which reports there were: their states, and for what they suppress the address. */
  reports: readonly string[]
}

/** The last one of those that a message has had is its state. What was skipped is known to have gone out once a provider reports it. */
const ORDER = ['claimed', 'skipped', 'unknown', ...REPORTED_STATES]

const keyOf = ({ state, blame }: MessageReport): string => {
  const reason = suppressionOf(blame)
  return reason === null ? state : `${state} ${reason}`
}

/** `isNew`: such a report was never there. Null when it changes nothing. */
export function addReport(
  message: ReportedMessage,
  report: MessageReport,
): (ReportedMessage & { isNew: boolean }) | null {
  const key = keyOf(report)
  const isNew = !message.reports.includes(key)
  const known = message.states.find(({ state }) => state === report.state)
  const isEarlier = known === undefined || report.at < known.at
  if (!isNew && !isEarlier) return null
  const others = message.states.filter((entry) => entry !== known)
  const entry = isEarlier ? { state: report.state, at: report.at } : known
  const states = inOrder([...others, entry])
  const reports = isNew ? [...message.reports, key].toSorted() : message.reports
  return { state: states.at(-1)?.state ?? message.state, states, reports, isNew }
}

const rankOf = (state: string): number => ORDER.indexOf(state)

export const inOrder = <Entry extends { state: string }>(states: readonly Entry[]): Entry[] =>
  states.toSorted((a, b) => rankOf(a.state) - rankOf(b.state))
