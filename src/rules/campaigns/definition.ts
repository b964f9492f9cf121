/** What a campaign does with its enrolled contacts. The definition of a published version never changes. */
import type { MessageChannel } from '../messages/message-channel.ts'
import type { Step } from './steps.ts'

export interface Definition {
  /** Empty: enrolments stay `active`. */
  steps: Step[]
  /** Null: none. Absent: those of the business. */
  quietHours?: QuietHours | null
  /** In addition to those of the business. */
  caps: Cap[]
  /** Percentage of contacts that go through all steps and are sent nothing. */
  holdOut: number
  tracking: Tracking
  /** Key of the topic of its messages that name none, by the channels that it has. */
  topic?: string
  /** The senders of its messages that name none. */
  senders?: ChannelSenders
}

/** Keys of senders. */
export type ChannelSenders = Partial<Record<MessageChannel, string>>

/** What is tracked in its mails. */
export interface Tracking {
  opens: boolean
  clicks: boolean
}

/** Tracking of a campaign that does not set it. */
export const DEFAULT_TRACKING: Tracking = { opens: true, clicks: true }

/**
 * Local times, `HH:MM`, never equal: `from` is included, and `until` is on the same day or, if it is not later, on the
 * next day.
 */
export interface QuietHours {
  from: string
  to: string
}

/** Value for the quiet hours of the business. It is stored as an absent field. */
export const QUIET_HOURS_OF_BUSINESS = 'default'

/** For a business that has set none. */
export const DEFAULT_QUIET_HOURS: QuietHours = { from: '21:00', to: '09:00' }

export const quietHoursOf = ({ quietHours = DEFAULT_QUIET_HOURS }: Pick<Definition, 'quietHours'>): QuietHours | null =>
  quietHours

export const CAP_ACTIONS = ['wait', 'skip'] as const

/** At most `atMost` messages of a channel in any `days` days, over all campaigns. */
export interface Cap {
  channel: MessageChannel
  atMost: number
  /** May be a decimal. */
  days: number
  /** What happens with a message that would exceed the cap. */
  whenReached: (typeof CAP_ACTIONS)[number]
}

export const MAX_STEPS = 200
/** Including the top list. */
export const MAX_LEVELS = 5
export const MAX_STEP_ID = 64
export const MAX_EVENT = 64
export const MAX_PARTS = 100
export const MAX_CAPS = 20
export const MAX_AT_MOST = 1000
export const MAX_CAP_DAYS = 365
export const MAX_HOLD_OUT = 50
