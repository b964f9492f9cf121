/** What a campaign does with those who are enrolled in it. A published version's definition never changes. */
import type { MessageChannel } from '../messages/message-channel.ts'
import type { Step } from './steps.ts'

export interface Definition {
  /** Empty: enrolments stay `active`. */
  steps: Step[]
  /** Null: none. Absent: those of the business. */
  quietHours?: QuietHours | null
  /** Besides those of the business. */
  caps: Cap[]
  /** Per cent of the contacts that go through all steps and are sent nothing. */
  holdOut: number
  tracking: Tracking
}

/** What is found out about its mails. */
export interface Tracking {
  opens: boolean
  clicks: boolean
}

/** Of a campaign that says nothing of it. */
export const DEFAULT_TRACKING: Tracking = { opens: true, clicks: true }

/** Local times, `HH:MM`, never equal: from `from`, and until `to` on the same day or, if it is not later, on the next day. */
export interface QuietHours {
  from: string
  to: string
}

/** Sent as the quiet hours of a campaign: those of the business. It is stored as nothing. */
export const QUIET_HOURS_OF_BUSINESS = 'default'

/** Of a business that has set none. */
export const DEFAULT_QUIET_HOURS: QuietHours = { from: '21:00', to: '09:00' }

export const quietHoursOf = ({ quietHours = DEFAULT_QUIET_HOURS }: Pick<Definition, 'quietHours'>): QuietHours | null =>
  quietHours

export const CAP_ACTIONS = ['wait', 'skip'] as const

/** At most `atMost` sends by a channel in any `days` days, over all campaigns. */
export interface Cap {
  channel: MessageChannel
  atMost: number
  /** May be a decimal. */
  days: number
  /** What becomes of a send that would be one too many. */
  whenReached: (typeof CAP_ACTIONS)[number]
}

export const MAX_STEPS = 200
/** The top list is one. */
export const MAX_LEVELS = 5
export const MAX_STEP_ID = 64
export const MAX_EVENT = 64
export const MAX_PARTS = 100
export const MAX_CAPS = 20
export const MAX_AT_MOST = 1000
export const MAX_CAP_DAYS = 365
export const MAX_HOLD_OUT = 50
