import { uuidv7 } from 'uuidv7'
import type { Tracking } from '../../../rules/campaigns/definition.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import { inTransaction } from '../../../stores/transaction.ts'
import type { EngineDeps } from '../engine-deps.ts'
import { openSenders } from '../send/claim-senders.ts'
import { type DueRow, lockDue } from './lock-due.ts'
import type { ClaimedUpdate } from '../apply-update.ts'
import { type MoveContext, type Moved, type Sending, moveOn } from './move.ts'
import { type MoveFacts, type VersionedRow, readMoveFacts } from './read-move-facts.ts'
import { storeMoves } from './store-moves.ts'
import { loadMessagingOf } from '../../messaging.ts'
import { DEFAULT_MESSAGING, withMessaging } from '../../../rules/campaigns/messaging.ts'
import { askSuppressed } from '../send/ask-suppressed.ts'
import { readTopicFacts } from './read-topic-facts.ts'
import { readRuleTests } from '../branches/test-rules.ts'

/** A message that this worker may send until its claim expires. */
export interface ClaimedSend extends Sending {
  businessId: string
  campaignId: string
  enrolmentId: string
  contactId: string
  tracking: Tracking
  claim: string
  /** Includes this attempt. */
  attempts: number
  /** Instant of the first attempt, in epoch milliseconds. */
  claimedAt: number
  /** When this claim was decided, by `performance.now()`: what is read later is at least as new. */
  since: number
}

export interface Claimed {
  sends: ClaimedSend[]
  updates: ClaimedUpdate[]
  /** Number of enrolments that were moved. */
  moved: number
}

/** Milliseconds after which an enrolment that cannot be moved is tried again. */
const FAULT_MS = 60_000

/**
 * Moves up to `most` due enrolments (see `DueFinder`) in one transaction, and claims their messages. Claims are
 * committed before anything is sent. The claim sees every goal, opt-out, pause, archive, merge and erasure that was
 * answered before it. A later one waits until the claim is committed.
 * @param inFlight returns the number of messages of a business that the worker has in flight
 */
export async function claimDue(
  deps: EngineDeps,
  most: number,
  inFlight: (businessId: string) => number = () => 0,
): Promise<Claimed> {
  const { sql, now, due } = deps
  return await inTransaction(sql, async (tx) => {
    const soughtAt = now()
    const found = await due.find(tx, { now: soughtAt, most, inFlight })
    const rows = await lockDue(tx, { now: soughtAt, found })
    return rows.length === 0 ? { sends: [], updates: [], moved: 0 } : await moveLocked(deps, tx, rows)
  })
}

async function moveLocked(deps: EngineDeps, tx: Queryable, rows: DueRow[]): Promise<Claimed> {
  const { now, leaseMs } = deps
  const versioned = await findVersions(deps, tx, rows)
  const senders = await openSenders(tx, versioned, now())
  // Read after the last lock: of two claims for one sender, the later one has the later instant.
  const at = now()
  const since = performance.now()
  const context = { now: at, claim: crypto.randomUUID(), leaseEnd: at + leaseMs }
  const moves = await decideMoves(deps, tx, versioned, { now: at, takeTurn: senders.take })
  await senders.store()
  await storeMoves(tx, moves, context)
  const sends = moves.flatMap(({ row, place, facts }) => {
    if (place.kind !== 'sends') return []
    const { businessId, campaignId, enrolmentId, contactId, messageId, of } = row
    const isRetry = messageId === place.sending.messageId
    const attempts = isRetry ? row.attempts + 1 : 1
    const claimedAt = (isRetry ? facts.message?.claimedAt : undefined) ?? at
    const { tracking } = of.definition
    const claimed = { businessId, campaignId, enrolmentId, contactId, tracking, attempts, claimedAt, since }
    return [{ ...place.sending, ...claimed, claim: context.claim }]
  })
  const updates = moves.flatMap(({ row: { businessId, campaignId, contactId, enrolmentId }, place }) =>
    place.kind === 'updates' ? [{ businessId, campaignId, contactId, enrolmentId, step: place.step }] : [],
  )
  return { sends, updates, moved: moves.length }
}

/** A move with the facts that it was decided by. */
type DecidedMove = Moved & { facts: MoveFacts }

/** Reads the versions, with the rules that are in force now. */
async function findVersions(deps: EngineDeps, tx: Queryable, rows: DueRow[]): Promise<VersionedRow[]> {
  const messagingOf = await loadMessagingOf(
    tx,
    rows.map(({ businessId }) => businessId),
  )
  const versioned: VersionedRow[] = []
  for (const row of rows) {
    const of = await deps.versions.read(tx, row)
    if (of === null) await postpone(deps, tx, row, new Error('the version of the campaign is gone'))
    else {
      const messaging = messagingOf.get(row.businessId) ?? DEFAULT_MESSAGING
      versioned.push({ ...row, of, rules: withMessaging(of.definition, messaging) })
    }
  }
  return versioned
}

async function decideMoves(
  deps: EngineDeps,
  tx: Queryable,
  versioned: readonly VersionedRow[],
  { now, takeTurn }: Pick<MoveContext, 'now' | 'takeTurn'>,
): Promise<DecidedMove[]> {
  const facts = await readMoveFacts(tx, versioned, now)
  const tests = await readRuleTests(tx, versioned, now)
  const topicOf = await readTopicFacts(tx, versioned)
  const isSuppressed = await askSuppressed(deps.sql, tx, versioned, facts)
  const moves: DecidedMove[] = []
  for (const row of versioned) {
    const known = facts.get(row.enrolmentId)
    if (known === undefined) {
      await postpone(deps, tx, row, new Error('the enrolment is gone'))
      continue
    }
    try {
      const testRule = tests.get(row.enrolmentId)
      const move = moveOn(row, {
        facts: known,
        testRule,
        newId: uuidv7,
        now,
        isSuppressed,
        topicOf: topicOf(row),
        takeTurn,
      })
      moves.push({ ...move, facts: known })
      countSend(move, facts, now)
    } catch (error) {
      await postpone(deps, tx, row, error)
    }
  }
  return moves
}

/** Two campaigns may have a message for one contact in the same set: the second one counts the first. */
function countSend({ row, place }: Moved, facts: ReadonlyMap<string, MoveFacts>, now: number): void {
  // A retry was read with the facts.
  if (place.kind !== 'sends' || place.sending.messageId === row.messageId) return
  for (const other of facts.values())
    if (other.contactId === row.contactId && other.enrolmentId !== row.enrolmentId)
      other.sends.push([place.sending.step.channel, now])
}

/** Postpones an enrolment that cannot be moved, so that the others do not wait for it. */
async function postpone(deps: EngineDeps, tx: Queryable, row: DueRow, error: unknown): Promise<void> {
  const { businessId, campaignId, enrolmentId } = row
  deps.log.error({ err: error, campaign: campaignId, enrolment: enrolmentId }, 'an enrolment could not be moved')
  await tx`
    update due_steps set due_at = ${deps.now() + FAULT_MS}
    where business_id = ${businessId} and enrolment_id = ${enrolmentId}`
}
