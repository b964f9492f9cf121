/** What campaigns are to do, by the words of their contract: it shares nothing with the rules of the product. */
import { DAY, MINUTE } from '../engine-lab.ts'
import { type Plan, type PlanStep, type Quiet, nameSteps } from './plan.ts'

export const LEASE = MINUTE

export interface Person {
  isKnown: boolean
  hasOptIn: boolean
  /** Of the address: an erasure keeps it. */
  isSuppressed: boolean
  events: { event: string; at: number }[]
}

export interface Version {
  steps: PlanStep[]
  quiet: Quiet | null
}

export interface ModelCampaign {
  plan: Plan
  status: 'published' | 'paused' | 'archived'
  versions: Version[]
}

export interface Message {
  step: string
  state: string
  reason: string | null
  claimedAt: number
}

/** Where an enrolment is. */
interface Row {
  /** What is still to be done, from the step that has begun. */
  rest: PlanStep[]
  since: number
  /** Neither a wait nor a send lies behind. */
  isFirst: boolean
  nextAt: number
  /** It is held by a pause. */
  isHeld: boolean
  /** What the step was for is done. */
  isSettled: boolean
  /** That is being sent, or to be tried again. */
  message: Message | null
  claim: Hand | null
  attempts: number
}

export interface ModelEnrolment {
  person: number
  campaign: number
  version: number
  state: 'active' | 'finished' | 'converted' | 'stopped'
  enrolledAt: number
  row: Row | null
  messages: Message[]
}

/** A message that a worker has in hand. */
export interface Hand {
  enrolment: ModelEnrolment
  row: Row
  message: Message
  /** With this one. */
  attempts: number
}

export type Outcome =
  | { kind: 'accepted' | 'refused' | 'unknown' }
  /** `at`: of the next attempt, as the product has chosen it; null: it has given up. */
  | { kind: 'temporary'; at: number | null }

export class Reference {
  now: number
  people: Person[]
  campaigns: ModelCampaign[]
  enrolments: ModelEnrolment[] = []

  constructor(now: number, many: number, plans: Plan[]) {
    this.now = now
    this.people = Array.from({ length: many }, () => newPerson())
    this.campaigns = plans.map((plan) => ({
      plan,
      status: 'published',
      versions: [{ steps: nameSteps(plan.sketch, 1), quiet: plan.quiet }],
    }))
  }

  /** @param isLive a batch enrols nobody */
  record(who: number, event: string, at: number, isLive: boolean): void {
    const person = this.people[who]!
    person.isKnown = true
    person.events.push({ event, at })
    for (const one of this.activeOf(who)) {
      if (this.campaigns[one.campaign]!.plan.goal === event) end(one, this.isReached(one) ? 'converted' : 'stopped')
      else hear(one, event, at)
    }
    if (isLive) this.campaigns.forEach((_, campaign) => this.enter(who, campaign, event, Math.min(at, this.now)))
  }

  private enter(who: number, campaign: number, event: string, enrolledAt: number): void {
    const { plan, status, versions } = this.campaigns[campaign]!
    if (status !== 'published' || plan.trigger !== event) return
    const before = this.enrolments.filter((one) => one.person === who && one.campaign === campaign)
    if (before.some(({ state }) => !plan.canEnterAgain || state === 'active')) return
    const { steps } = versions.at(-1)!
    const one: ModelEnrolment = {
      person: who,
      campaign,
      version: versions.length,
      state: 'active',
      enrolledAt,
      row: { ...NEW_ROW, rest: steps, since: this.now, nextAt: this.now },
      messages: [],
    }
    if (this.isReached(one)) end(one, 'converted')
    this.enrolments.push(one)
  }

  private readonly activeOf = (who: number) =>
    this.enrolments.filter((one) => one.person === who && one.state === 'active')

  private isReached({ person, campaign, enrolledAt }: ModelEnrolment): boolean {
    const { goal } = this.campaigns[campaign]!.plan
    return this.people[person]!.events.some(({ event, at }) => event === goal && at >= enrolledAt)
  }

  erase(who: number): void {
    const { isSuppressed } = this.people[who]!
    this.people[who] = { ...newPerson(), isSuppressed }
    for (const one of this.enrolments) if (one.person === who) one.row = null
    this.enrolments = this.enrolments.filter((one) => one.person !== who)
  }

  setStatus(which: number, status: ModelCampaign['status']): boolean {
    const campaign = this.campaigns[which]!
    const from = { published: 'paused', paused: 'published', archived: campaign.status }[status]
    if (campaign.status !== from || campaign.status === 'archived') return false
    campaign.status = status
    for (const one of this.enrolments.filter(({ campaign: of }) => of === which)) {
      if (status !== 'paused' && one.row) one.row.isHeld = false
      if (status === 'archived' && one.state === 'active') end(one, 'stopped')
    }
    return true
  }

  private readonly isDue = ({ row }: ModelEnrolment): boolean => row !== null && !row.isHeld && row.nextAt <= this.now

  /** Moves all that is due once. */
  claim(): { moved: number; hands: Hand[] } {
    const due = this.enrolments.filter(this.isDue)
    return { moved: due.length, hands: due.flatMap((one) => this.move(one, one.row!) ?? []) }
  }

  private move(one: ModelEnrolment, row: Row): Hand | null {
    const hasDied = row.claim !== null
    if (hasDied) Object.assign(row.message!, { state: 'unknown' })
    if (one.state !== 'active') {
      if (row.message?.state === 'claimed') Object.assign(row.message, { state: 'skipped', reason: 'ended' })
      one.row = null
      return null
    }
    row.claim = null
    row.isSettled ||= hasDied
    if (row.isSettled) Object.assign(row, { message: null, attempts: 0 })
    row.isHeld = this.campaigns[one.campaign]!.status === 'paused'
    if (row.isHeld) return null
    if (row.isSettled) this.pass(row, [], true)
    row.isSettled = false
    return this.walk(one, row)
  }

  private walk(one: ModelEnrolment, row: Row): Hand | null {
    for (;;) {
      const [step] = row.rest
      if (step === undefined || step.type === 'exit') {
        end(one, 'finished')
        return null
      }
      if (step.type === 'branch') {
        const isKnown = this.people[one.person]!.events.some(({ event }) => event === step.event)
        this.pass(row, isKnown ? step.steps : step.otherwise, false)
      } else if (step.type === 'send') {
        const sent = this.send(one, row, step)
        if (sent !== 'goes on') return sent
        row.message = null
        this.pass(row, [], true)
      } else {
        const dueAt = row.since + step.ms
        const heardAt = step.type === 'wait_for' ? this.firstSince(one, step.event, row.since) : Infinity
        if (heardAt > dueAt && this.now < dueAt) {
          row.nextAt = dueAt
          return null
        }
        if (step.type === 'wait') this.pass(row, [], true)
        else this.pass(row, heardAt <= dueAt ? step.steps : step.otherwise, true)
      }
    }
  }

  private pass(row: Row, into: PlanStep[], isDelay: boolean): void {
    row.rest = [...into, ...row.rest.slice(1)]
    row.since = this.now
    row.attempts = 0
    row.isFirst &&= !isDelay
  }

  private firstSince({ person }: ModelEnrolment, awaited: string, since: number): number {
    const { events } = this.people[person]!
    return Math.min(...events.flatMap(({ event, at }) => (event === awaited && at >= since ? [at] : [])))
  }

  private send(one: ModelEnrolment, row: Row, step: PlanStep & { type: 'send' }): Hand | 'goes on' | null {
    const { hasOptIn, isSuppressed } = this.people[one.person]!
    const isMarketing = step.kind === 'marketing'
    const reason = isMarketing && !hasOptIn ? 'no_opt_in' : isSuppressed ? 'suppressed' : null
    if (reason === null && isMarketing && !row.isFirst) {
      row.nextAt = openAt(this.campaigns[one.campaign]!.versions[one.version - 1]!.quiet, this.now)
      if (row.nextAt > this.now) return null
    }
    const message = row.message ?? { step: step.id, state: 'claimed', reason: null, claimedAt: this.now }
    if (row.message === null) one.messages.push(message)
    if (reason !== null) {
      Object.assign(message, { state: 'skipped', reason })
      return 'goes on'
    }
    const attempts = row.attempts + 1
    row.claim = { enrolment: one, row, message, attempts }
    Object.assign(row, { message, nextAt: this.now + LEASE, attempts })
    return row.claim
  }

  /** What a worker says of a message that it had in hand, however late. */
  settle(hand: Hand, outcome: Outcome): void {
    const { enrolment, row, message } = hand
    const isOwn = enrolment.row === row && row.claim === hand
    const isRetry = outcome.kind === 'temporary' && outcome.at !== null
    const isKnown = message.state === 'unknown' && !isRetry && outcome.kind !== 'unknown'
    if (message.state === 'claimed' || isKnown) Object.assign(message, recorded(outcome))
    if (!isOwn) return
    row.claim = null
    row.nextAt = isRetry ? outcome.at! : this.now
    if (!isRetry) Object.assign(row, { isSettled: true, message: null, attempts: 0 })
  }

  /** The instants between which the next attempt lies. There is none from `giveUpAt` on. */
  retryBetween({ attempts, message: { claimedAt } }: Hand): { from: number; to: number; giveUpAt: number } {
    const longest = Math.min(60 * MINUTE, 20_000 * 2 ** (attempts - 1))
    return { from: this.now + longest / 2, to: this.now + longest, giveUpAt: claimedAt + DAY }
  }
}

const newPerson = (): Person => ({ isKnown: false, hasOptIn: false, isSuppressed: false, events: [] })

const NEW_ROW = { isFirst: true, isHeld: false, isSettled: false, message: null, claim: null, attempts: 0 }

/** A message that is under way, or to be tried again, is settled first. */
function end(one: ModelEnrolment, state: ModelEnrolment['state']): void {
  one.state = state
  if (!one.row?.message) one.row = null
}

/** The step is due when what it waits for has happened. */
function hear({ row }: ModelEnrolment, event: string, at: number): void {
  const [step] = row?.rest ?? []
  if (row && step?.type === 'wait_for' && step.event === event && at >= row.since) row.nextAt = Math.min(row.nextAt, at)
}

/** The first instant from this one on that is not in quiet hours. */
function openAt(quiet: Quiet | null, now: number): number {
  if (quiet === null) return now
  const sinceFrom = (((now - quiet.from * MINUTE) % DAY) + DAY) % DAY
  const length = ((quiet.to - quiet.from + 1440) % 1440) * MINUTE
  return sinceFrom < length ? now - sinceFrom + length : now
}

function recorded(outcome: Outcome): Pick<Message, 'state' | 'reason'> {
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'sent', reason: null }
    case 'refused':
      return { state: 'failed', reason: 'provider_refused' }
    case 'unknown':
      return { state: 'unknown', reason: null }
    case 'temporary':
      return outcome.at === null ? { state: 'failed', reason: 'gave_up' } : { state: 'claimed', reason: null }
  }
}
