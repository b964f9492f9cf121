/** What the client knows: what it sent, how often, and how it was answered. */
import type { Business } from './create-businesses.ts'

/** One event. Its mark travels in its properties, so that each record of it is known as such. */
export interface Fact {
  mark: string
  businessId: string
  event: string
  /** `kind:value`, as Postgres keeps them. */
  identity: string[]
  /** Undefined: not sent, so that it is the instant of receipt. */
  occurredAt: number | undefined
  /** What it adds to the revenue, in hundredths, of this currency. */
  cents: number
  currency: string | undefined
  order: boolean
  key: string | undefined
  tags?: string[]
  traits?: Traits
  /** False: the product has to refuse it. */
  valid: boolean
}

export type Traits = Record<string, string | number | boolean | null>

/**
 * What became of one attempt: `answered` (200), `queued` (202), `refused` (503 `unavailable`: nothing was recorded),
 * `rejected` (any other error), `unknown` (503 `outcome_unknown`, or no answer).
 */
export type Outcome = 'answered' | 'queued' | 'refused' | 'rejected' | 'unknown'

/** The fields of the three answers that the audit looks at. */
export interface AnswerData {
  contactId?: string
  isNew?: boolean
  deduped?: boolean | number
  interpreted?: { type: string; countedRevenue: number }
  received?: number
  recorded?: number
  failed?: number
  warnings?: string[]
}

export interface Attempt {
  sentAt: number
  endedAt: number
  outcome: Outcome
  /** HTTP status and code, or the connection's fault. */
  answer: string
  data: AnswerData
}

/** One request, however often it was sent. */
export interface Sending {
  business: Business
  kind: 'track' | 'batch' | 'identify'
  body: object
  facts: Fact[]
  /** An identify's: its `method`. */
  mark: string
  /** Its identity, of track and identify. */
  identity: string[]
  /** Facts that had been acknowledged before it was first sent: a batch must call them deduped. */
  known: number
  /** An identify's. */
  traits?: Traits
  firstName?: string | undefined
  /** Sent without a key. */
  unkeyed?: boolean
  attempts: Attempt[]
}

export class Ledger {
  readonly sendings: Sending[] = []
  /** When Redis last forgot all that it held. */
  forgottenAt: number | undefined

  open(sending: Omit<Sending, 'attempts'>): Sending {
    const opened = { ...sending, attempts: [] }
    this.sendings.push(opened)
    return opened
  }

  attempts(): Attempt[] {
    return this.sendings.flatMap((sending) => sending.attempts)
  }

  /** What was only queued when Redis forgot it has to be sent again. What was sent since is as binding as ever. */
  doubtQueued(): void {
    for (const attempt of this.attempts())
      if (attempt.outcome === 'queued' && attempt.sentAt <= (this.forgottenAt ?? -Infinity)) attempt.outcome = 'unknown'
  }
}

/** 200 or 202: applied, or about to be. */
export const isKept = ({ outcome }: Attempt): boolean => outcome === 'answered' || outcome === 'queued'

export const isAcknowledged = (sending: Sending): boolean => sending.attempts.some(isKept)
