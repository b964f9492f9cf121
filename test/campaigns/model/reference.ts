/** The contract of campaigns as executable code. It shares nothing with the rules of the product. */
import { HOUR, MINUTE } from '../engine-lab.ts'
import { type Plan, type PlanMessaging, type PlanStep, type Zone, nameSteps } from './plan.ts'
import {
  type Chance,
  type Hand,
  type ModelCampaign,
  type ModelEnrolment,
  type Outcome,
  type Person,
  type Row,
  type Updating,
  NEW_ROW,
  absorb,
  newPerson,
  recorded,
} from './records.ts'
import { end, firstSince, holds, lookAgain, pass, recordAwaited } from './rows.ts'
import { addressOf, cappedUntil, countedOf, refusalOf } from './may-send.ts'
import { nextTime, openAt } from './times.ts'

export const LEASE = MINUTE
export const PEOPLE = 4
/** The person who has only a phone. */
export const PHONE = PEOPLE - 1

export class Reference {
  now: number
  /**
   * The contact of each person. Several people may turn out to be one. The last person has a phone, the others have
   * addresses.
   */
  people: Person[]
  suppressed = new Set<number>()
  private made = 0
  campaigns: ModelCampaign[]
  enrolments: ModelEnrolment[] = []
  /** Starts with the defaults of every business. */
  messaging: PlanMessaging = { quiet: { from: 21 * 60, to: 9 * 60 }, caps: [] }
  /** True when mail is paused. */
  isPaused = false
  private readonly chance: Chance

  constructor(now: number, plans: Plan[], chance: Chance) {
    this.now = now
    this.chance = chance
    this.people = Array.from({ length: PEOPLE }, (_, who) => newPerson(who === PHONE ? null : who))
    this.campaigns = plans.map((plan) => ({
      plan,
      status: 'published',
      versions: [{ ...plan, steps: nameSteps(plan.sketch, 1) }],
    }))
  }

  /** @param isLive false for a batch, which enrols no contact */
  record(who: number, event: string, at: number, isLive: boolean): void {
    const person = this.people[who]!
    if (person.no === 0) person.no = this.made += 1
    person.events.push({ event, at })
    for (const one of this.activeOf(person)) {
      if (this.campaigns[one.campaign]!.plan.goal === event) end(one, this.isReached(one) ? 'converted' : 'stopped')
      else recordAwaited(one, event, at)
    }
    if (isLive) this.campaigns.forEach((_, campaign) => this.enter(person, campaign, event, Math.min(at, this.now)))
  }

  private enter(person: Person, campaign: number, event: string, enrolledAt: number): void {
    const { plan, status, versions } = this.campaigns[campaign]!
    if (status !== 'published' || plan.trigger !== event) return
    const before = this.enrolments.filter((one) => one.person === person && one.campaign === campaign)
    if (before.some(({ state }) => !plan.canEnterAgain || state === 'active')) return
    const { steps } = versions.at(-1)!
    const one: ModelEnrolment = {
      person,
      campaign,
      version: versions.length,
      state: 'active',
      enrolledAt,
      receivedAt: this.now,
      row: { ...NEW_ROW, rest: steps, since: this.now, nextAt: this.now },
      messages: [],
    }
    if (this.isReached(one)) end(one, 'converted')
    this.enrolments.push(one)
  }

  private readonly activeOf = (person: Person) =>
    this.enrolments.filter((one) => one.person === person && one.state === 'active')

  private isReached({ person, campaign, enrolledAt }: ModelEnrolment): boolean {
    const { goal } = this.campaigns[campaign]!.plan
    return person.events.some(({ event, at }) => event === goal && at >= enrolledAt)
  }

  erase(who: number): void {
    const person = this.people[who]!
    this.people = this.people.map((one, of) => (one === person ? newPerson(of === PHONE ? null : of) : one))
    for (const one of this.enrolments) if (one.person === person) one.row = null
    this.enrolments = this.enrolments.filter((one) => one.person !== person)
  }

  /**
   * False when the contract does not define what happens to a wait that an event of the other contact would have ended.
   */
  canMerge(a: Person, b: Person): boolean {
    const events = [...a.events, ...b.events]
    return this.enrolments.every(({ person, row }) => {
      const [step] = row?.rest ?? []
      if (!row || step?.type !== 'wait_for' || (person !== a && person !== b)) return true
      return !events.some(({ event, at }) => event === step.event && at >= row.since)
    })
  }

  /** The older contact survives. */
  merge(a: Person, b: Person): void {
    const [survivor, loser] = a.no < b.no ? [a, b] : [b, a]
    for (const campaign of this.campaigns.keys()) {
      const both = [...this.activeOf(survivor), ...this.activeOf(loser)].filter((one) => one.campaign === campaign)
      const [, later] = both.toSorted((x, y) => x.enrolledAt - y.enrolledAt || x.receivedAt - y.receivedAt)
      if (later) end(later, 'merged')
    }
    const moved = this.enrolments.filter((one) => one.person === loser)
    for (const one of moved) one.person = survivor
    moved.forEach(lookAgain)
    if (survivor.zone === null) this.setZone(survivor, loser.zone)
    this.people = this.people.map((one) => (one === loser ? survivor : one))
    absorb(survivor, loser)
    for (const one of this.activeOf(survivor)) if (this.isReached(one)) end(one, 'converted')
  }

  /** Looks again at the steps that wait for a local time. */
  setZone(person: Person, zone: Zone | null): void {
    if (person.zone === zone) return
    person.zone = zone
    for (const one of this.enrolments)
      if (one.person === person && one.row?.rest[0]?.type !== 'wait_for' && one.row?.isOnPause !== true) lookAgain(one)
  }

  setPause(isPaused: boolean): void {
    this.isPaused = isPaused
    if (isPaused) return
    for (const { row } of this.enrolments) if (row?.isOnPause === true) row.nextAt = Math.min(row.nextAt, this.now)
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

  /** Moves everything that is due, once. */
  claim(): { moved: number; hands: Hand[]; updates: Updating[] } {
    const due = this.enrolments.filter(this.isDue).toSorted((one, other) => one.row!.nextAt - other.row!.nextAt)
    const claimed = due.flatMap((one) => this.move(one, one.row!) ?? [])
    return {
      moved: due.length,
      hands: claimed.flatMap((one) => ('message' in one ? [one] : [])),
      updates: claimed.flatMap((one) => ('step' in one ? [one] : [])),
    }
  }

  private move(one: ModelEnrolment, row: Row): Hand | Updating | null {
    const hasDied = row.claim !== null
    if (hasDied) Object.assign(row.message!, { state: 'unknown' })
    if (one.state !== 'active') {
      if (row.message?.state === 'claimed') Object.assign(row.message, { state: 'skipped', reason: 'ended' })
      one.row = null
      return null
    }
    row.claim = null
    row.isOnPause = false
    row.isSettled ||= hasDied
    if (row.isSettled) Object.assign(row, { message: null, attempts: 0 })
    row.isHeld = this.campaigns[one.campaign]!.status === 'paused'
    if (row.isHeld) return null
    if (row.isSettled) pass(row, [], row.rest[0]?.type === 'send', this.now)
    row.isSettled = false
    return this.walk(one, row)
  }

  private walk(one: ModelEnrolment, row: Row): Hand | Updating | null {
    for (;;) {
      const [step] = row.rest
      if (step === undefined || step.type === 'exit') {
        end(one, 'finished')
        return null
      }
      if (step.type === 'branch') {
        pass(row, holds(one, step.on) ? step.steps : step.otherwise, false, this.now)
      } else if (step.type === 'split') {
        const isFirst = this.chance.ofSplit(one.person, step.id) < step.percent * 100
        pass(row, isFirst ? step.steps : step.otherwise, false, this.now)
      } else if (step.type === 'update') {
        row.attempts += 1
        // The product chooses when the row is due again: see `dueAgain`.
        row.nextAt = Infinity
        return { enrolment: one, row, step, attempts: row.attempts }
      } else if (step.type === 'send') {
        const sent = this.send(one, row, step)
        if (sent !== 'goes on') return sent
        row.message = null
        pass(row, [], true, this.now)
      } else {
        const dueAt = step.type === 'wait_until' ? nextTime(row.since, step, one.person.zone) : row.since + step.ms
        const awaitedAt = step.type === 'wait_for' ? firstSince(one, step.event, row.since) : Infinity
        if (awaitedAt > dueAt && this.now < dueAt) {
          row.nextAt = dueAt
          return null
        }
        if (step.type !== 'wait_for') pass(row, [], true, this.now)
        else pass(row, awaitedAt <= dueAt ? step.steps : step.otherwise, true, this.now)
      }
    }
  }

  private send(one: ModelEnrolment, row: Row, step: PlanStep & { type: 'send' }): Hand | 'goes on' | null {
    const { zone } = one.person
    const version = this.campaigns[one.campaign]!.versions[one.version - 1]!
    const isMarketing = step.kind === 'marketing'
    const isMail = step.channel === 'email'
    const isHeldOut = isMarketing && this.chance.ofHoldOut(one.person, one.campaign) < version.holdOut * 100
    const refusal = isHeldOut ? 'held_out' : isMail ? refusalOf(one.person, this.suppressed, isMarketing) : null
    const quiet = version.quiet === 'business' ? this.messaging.quiet : version.quiet
    const caps = [...version.caps, ...this.messaging.caps]
    const isTimed = isMarketing && refusal === null
    const opensAt = isTimed && !row.isFirst ? openAt(quiet, this.now, zone) : this.now
    const capped = isTimed && isMail ? cappedUntil(countedOf(this.enrolments, one), caps, this.now) : null
    if (opensAt === this.now && capped !== null && capped !== 'skip') row.isFirst = false
    const heldUntil = opensAt > this.now ? opensAt : capped !== 'skip' ? capped : null
    if (heldUntil !== null) {
      row.nextAt = heldUntil
      return null
    }
    const reason = refusal ?? (capped === 'skip' ? 'cap' : null)
    if (reason === null && isMail && this.isPaused) {
      Object.assign(row, { isOnPause: true, isFirst: false, nextAt: this.now + HOUR })
      return null
    }
    const { channel } = step
    const message = row.message ?? { step: step.id, channel, state: 'claimed', reason: null, claimedAt: this.now }
    if (row.message === null) one.messages.push(message)
    if (reason !== null) {
      Object.assign(message, { state: 'skipped', reason })
      return 'goes on'
    }
    const attempts = row.attempts + 1
    const to = isMail ? (addressOf(one.person, this.suppressed) ?? null) : null
    row.claim = { enrolment: one, row, message, to, attempts }
    Object.assign(row, { message, nextAt: this.now + LEASE, attempts })
    return row.claim
  }

  /** Records a worker's outcome of a message that it had in flight, however late it arrives. */
  settle(hand: Hand, outcome: Outcome): void {
    const { enrolment, row, message } = hand
    const isOwn = enrolment.row === row && row.claim === hand
    const isRetry = outcome.kind === 'temporary' && outcome.at !== null
    if (outcome.kind === 'bounced' && hand.to !== null) this.suppressed.add(hand.to)
    const isKnown = message.state === 'unknown' && !isRetry && outcome.kind !== 'unknown'
    if (message.state === 'claimed' || isKnown) Object.assign(message, recorded(outcome))
    if (!isOwn) return
    row.claim = null
    row.nextAt = isRetry ? outcome.at! : this.now
    if (!isRetry) Object.assign(row, { isSettled: true, message: null, attempts: 0 })
  }

  /** The live partition applies an update, once. */
  apply({ enrolment, row, step }: Updating): void {
    const isOwn = enrolment.row === row && row.rest[0]?.id === step.id && !row.isSettled
    if (!isOwn || enrolment.state !== 'active') return
    enrolment.person.isVip = step.has
    Object.assign(row, { isSettled: true, nextAt: this.now, attempts: 0 })
  }
}
