/**
 * Holds visits for about a second, because only then is it known whether a program opened several links at once. A
 * visit by a person then becomes an event, through the stream. Front doors share the visits that they see in Redis.
 */
import { hash } from 'node:crypto'
import { createSharedTimeouts } from '../../../async/shared-timeouts.ts'
import type { Logger } from '../../../log.ts'
import type { TrackedMessage } from '../../../messages/tracking/token.ts'
import { createLogThrottle } from '../../../process/log-throttle.ts'
import { BURST_MS, type LinkVisit, isBurst } from '../../../rules/messages/is-burst.ts'
import { type MessageEventFact, messageEventKey } from '../../../rules/messages/message-event.ts'
import type { Sql } from '../../../stores/postgres.ts'
import type { Redis } from '../../../stores/redis.ts'
import type { Submitter } from '../../../stream/publish/submit.ts'
import type { RateLimiter } from '../../access/rate-limiter.ts'

/** An opened message, or an opened link in it. */
export interface Visit extends TrackedMessage {
  /** Target of the link; null when the message itself was opened. */
  target: string | null
  /** Time of the visit in epoch ms. */
  at: number
  requestId: string
}

export interface VisitBuffer {
  /** Returns at once, and never throws. Visits are dropped while too many are held. */
  note(visit: Visit): void
  /** Records all visits that are held. */
  close(): Promise<void>
}

export interface VisitBufferDeps {
  sql: Sql
  redis: Redis
  limiter: Pick<RateLimiter, 'take'>
  submitter: Pick<Submitter, 'submit'>
  log: Logger
}

/** Longer than a burst, since the clocks of front doors differ and Redis may be slow. */
const HOLD_MS = BURST_MS + 200
export const MAX_HELD = 10_000
/** Per message. A mail that was forwarded to many people is visited more often. */
export const VISITS_A_MINUTE = 30
const KEEP_MS = 5000

export function createVisitBuffer(deps: VisitBufferDeps, { most = MAX_HELD } = {}): VisitBuffer {
  const timeouts = createSharedTimeouts(HOLD_MS)
  const held = new Map<() => void, ReturnType<typeof timeouts.begin>>()
  const running = new Set<Promise<void>>()
  const mayLog = createLogThrottle(deps.log, () => performance.now())

  async function handle(visit: Visit): Promise<void> {
    try {
      if (!(await announce(deps, visit))) return
      await hold()
      await record(deps, visit)
    } catch (error) {
      if (mayLog())
        deps.log.warn({ err: error, message: visit.messageId }, 'an opened message or link was not recorded')
    }
  }
  let isClosing = false
  const hold = (): Promise<void> =>
    new Promise((resolve) => {
      if (isClosing) return resolve()
      const release = (): void => {
        held.delete(release)
        resolve()
      }
      held.set(release, timeouts.begin(release))
    })

  return {
    note(visit) {
      if (isClosing || running.size >= most) return
      const handled: Promise<void> = handle(visit).finally(() => running.delete(handled))
      running.add(handled)
    },
    async close() {
      isClosing = true
      while (running.size > 0) {
        for (const release of held.keys()) release()
        await Promise.race(running)
      }
      timeouts.close()
    },
  }
}

const visitsKey = ({ messageId }: TrackedMessage): string => `sluice:visits:${messageId}`

/** Shares a visit with all front doors. Returns false when the message has more visits than a person makes. */
async function announce({ redis, limiter }: VisitBufferDeps, visit: Visit): Promise<boolean> {
  const taken = await limiter.take(`tracked:${visit.businessId}:${visit.messageId}`, VISITS_A_MINUTE)
  if (taken?.allowed === false) return false
  if (visit.target === null) return true
  const key = visitsKey(visit)
  const [added] =
    (await redis
      .pipeline()
      .zadd(key, visit.at, `${visit.at} ${linkOf(visit.target)}`)
      .zremrangebyscore(key, 0, visit.at - KEEP_MS)
      .pexpire(key, KEEP_MS)
      .exec()) ?? []
  if (added?.[0]) throw added[0]
  return true
}

async function record(deps: VisitBufferDeps, visit: Visit): Promise<void> {
  const { businessId, messageId, target, at, requestId } = visit
  const link = target === null ? null : linkOf(target)
  const around = await deps.redis.zrangebyscore(visitsKey(visit), at - BURST_MS, at + BURST_MS)
  if (isBurst({ link, at }, around.map(readVisit))) return
  const message = await findMessage(deps.sql, visit)
  if (message === null) return
  const { contactId, campaignId, stepId, sentAt } = message
  const happened = { event: target === null ? 'email_opened' : 'email_clicked', messageId, occurredAt: at } as const
  const ofCampaign = campaignId !== null && { campaignId, stepId }
  const properties = { messageId, ...ofCampaign, ...(target !== null && { url: target }) }
  const fact: MessageEventFact = {
    ...happened,
    properties: JSON.stringify(properties),
    key: messageEventKey(happened, { link: link ?? '', sentAt }),
  }
  const base = { businessId, receivedAt: at, requestId, contactId }
  const submitted = await deps.submitter.submit({ ...base, kind: 'message_event', fact }, { wait: false })
  if (submitted.kind !== 'queued') throw new Error(`the stream did not take it: ${submitted.kind}`)
}

function readVisit(member: string): LinkVisit {
  const [at = '', link = ''] = member.split(' ')
  return { at: Number(at), link }
}

/** A short hash of the link, which only needs to differ between the links of a message. */
const linkOf = (target: string): string => hash('sha256', target, 'base64url').slice(0, 22)

interface FoundMessage {
  contactId: string
  /** Null for a message of a call, as the next one. */
  campaignId: string | null
  stepId: string | null
  /** Time of sending in epoch ms. */
  sentAt: number
}

/** Returns null for a message to an erased person, or of an inactive business. */
async function findMessage(sql: Sql, { businessId, messageId }: TrackedMessage): Promise<FoundMessage | null> {
  const [found] = await sql<FoundMessage[]>`
    select m.contact_id as "contactId", m.campaign_id as "campaignId", m.step as "stepId", m.claimed_at as "sentAt"
    from messages m join businesses b on b.id = m.business_id
    where m.business_id = ${businessId} and m.id = ${messageId} and m.contact_id is not null and b.active
      and b.removed_at is null`
  return found ?? null
}
