/**
 * Combines the reports of providers about a message. The result depends neither on the order of the reports nor on
 * their repetition.
 */
import { type Blame, suppressionOf } from './blame.ts'

export const REPORTED_STATES = ['sent', 'failed', 'delivered', 'bounced', 'complained'] as const
export type ReportedState = (typeof REPORTED_STATES)[number]

export interface MessageReport {
  state: ReportedState
  /** Time of the provider, in epoch ms. */
  at: number
  /** Set when the message failed, bounced or was complained about. */
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
  /** Keys of the reports so far: see `keyOfReport`. */
  reports: readonly string[]
}

/**
 * The state of a message is the last of these that it has had. A skipped message has been sent after all once a
 * provider reports it.
 */
const ORDER = ['queued', 'claimed', 'skipped', 'unknown', ...REPORTED_STATES]

/**
 * The reason for which the report suppresses the address, or else the state. A refusal at the hand-over has a key, too:
 * a callback that reports it again is a repeat, also when the provider then has another word for it.
 */
export const keyOfReport = ({ state, blame }: Pick<MessageReport, 'state' | 'blame'>): string =>
  suppressionOf(blame) ?? state

/** Adds a report. `isNew`: no such report existed. Returns null when the report changes nothing. */
export function addReport(
  message: ReportedMessage,
  report: MessageReport,
): (ReportedMessage & { isNew: boolean }) | null {
  const key = keyOfReport(report)
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
