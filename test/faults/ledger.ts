/** Records what the client knows: what it sent, how often, and the answers. */
import type { Business } from './create-businesses.ts'

/** One event. Its properties contain its mark, so that each record of it can be recognised. */
export interface Fact {
  mark: string
  businessId: string
  event: string
  /** `kind:value`, as stored in Postgres. */
  identity: string[]
  /** Undefined when it is not sent, so that the time of receipt applies. */
  occurredAt: number | undefined
  /** Its contribution to the revenue, in hundredths of this currency. */
  cents: number
  currency: string | undefined
  order: boolean
  key: string | undefined
  tags?: string[]
  traits?: Traits
  /** False when the product must refuse it. */
  valid: boolean
}

export type Traits = Record<string, string | number | boolean | null>

/**
 * The outcome of one attempt: `answered` (200), `queued` (202, or a 200 that
 * counts queued rows), `refused` (503 `unavailable`: nothing was recorded),
 * `rejected` (any other error), `unknown` (503 `outcome_unknown`, or no answer).
 */
export type Outcome = 'answered' | 'queued' | 'refused' | 'rejected' | 'unknown'

/** The fields of answers that the audit checks. */
export interface AnswerData {
  contactId?: string
  isNew?: boolean
  deduped?: boolean | number
  interpreted?: { type: string; countedRevenue: number }
  received?: number
  recorded?: number
  failed?: number
  queued?: number
  warnings?: string[]
  importId?: number
}

export interface Attempt {
  sentAt: number
  endedAt: number
  outcome: Outcome
  /** HTTP status and code, or the error of the connection. */
  answer: string
  /** Method, address and the error of the answer: for complaints. */
  detail?: string
  data: AnswerData
}

/** One request with all its attempts. */
export interface Sending {
  business: Business
  kind: 'track' | 'batch' | 'identify'
  body: object
  facts: Fact[]
  /** The `method` of an identify, or the mark of a track's event. */
  mark: string
  /** The identity of a track or an identify. */
  identity: string[]
  /**
   * Number of events that had been acknowledged before the batch was first sent. The answer must count them as deduped.
   */
  known: number
  /** Only for an identify. */
  traits?: Traits
  firstName?: string | undefined
  /** Whether it was sent without a key. */
  unkeyed?: boolean
  attempts: Attempt[]
}

/** An opt-in or opt-out of mails that was sent for a contact, with all its attempts. */
export interface Choice {
  business: Business
  contactId: string
  email: string
  subscribed: boolean
  /** Epoch milliseconds. */
  madeAt: number
  /** Whether it was sent as a past choice, in a batch. */
  inBatch: boolean
  attempts: Attempt[]
}

export class Ledger {
  readonly sendings: Sending[] = []
  readonly choices: Choice[] = []
  /** When Redis last lost all its data. */
  forgottenAt: number | undefined

  open(sending: Omit<Sending, 'attempts'>): Sending {
    const opened = { ...sending, attempts: [] }
    this.sendings.push(opened)
    return opened
  }

  choose(choice: Omit<Choice, 'attempts'>): Choice {
    const made = { ...choice, attempts: [] }
    this.choices.push(made)
    return made
  }

  attempts(): Attempt[] {
    return [...this.sendings, ...this.choices].flatMap(({ attempts }) => attempts)
  }

  /**
   * A request that was only queued when Redis lost its data must be sent again. Later ones are as binding as before.
   */
  doubtQueued(): void {
    for (const attempt of this.attempts())
      if (attempt.outcome === 'queued' && attempt.sentAt <= (this.forgottenAt ?? -Infinity)) attempt.outcome = 'unknown'
  }
}

/** 200 or 202: applied, or about to be. */
export const isKept = ({ outcome }: Attempt): boolean => outcome === 'answered' || outcome === 'queued'

export const isAcknowledged = (sending: Sending): boolean => sending.attempts.some(isKept)
