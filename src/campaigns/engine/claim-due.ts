import { uuidv7 } from 'uuidv7'
import type { Queryable } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import type { EngineDeps } from './engine-deps.ts'
import type { ChannelKey } from '../../messages/channels/channels.ts'
import type { Rendered } from './attempt.ts'
import { type ChannelTurns, openTurns } from './channel-turns.ts'
import type { FoundDue } from './find-due.ts'
import type { CampaignKey } from '../../rules/campaigns/share-room.ts'
import { type DueRow, lockDue } from './lock-due.ts'
import type { ClaimedUpdate } from './apply-update.ts'
import { type ClaimedMessage, type DecidedMove, type MoveContext, type Moved, messageToSend, moveOn } from './move.ts'
import { type MoveFactsOptions, type MoveFacts, type VersionedRow, readMoveFacts } from './read-move-facts.ts'
import { storeMoves } from './store-moves.ts'
import { loadMessagingOf } from '../messaging.ts'
import { DEFAULT_MESSAGING, withMessaging } from '../../rules/campaigns/messaging.ts'
import { askSuppressed } from './ask-suppressed.ts'
import { readRuleTests } from './test-rules.ts'

/** A message that this worker may send until its claim expires. */
export interface ClaimedSend extends ClaimedMessage {
  claim: string
  /** Includes this attempt. */
  attempts: number
  /** Instant of the first attempt, in epoch milliseconds. */
  claimedAt: number
  /** The message when its rendering began in the claim but did not end in time. Undefined when it did not begin. */
  making?: Promise<Rendered>
}

export interface Claimed {
  sends: ClaimedSend[]
  updates: ClaimedUpdate[]
  /** Number of enrolments that were moved. */
  moved: number
  /** Channels whose messages were sent in the claim. */
  kept: ClaimedChannel[]
  /**
   * Campaigns whose messages the claim can send, with nothing left to send. None has updates: an update is applied after
   * the claim, also when it follows a message that the claim has sent.
   */
  sentInClaim: CampaignKey[]
  /** True when a claim beside the main ones has found enrolments that it cannot move. */
  leftSome: boolean
}

/** A channel whose messages were sent in a claim. */
export interface ClaimedChannel extends ChannelKey {
  provider: string
}

export interface SentInClaim {
  /** Moves with the outcomes of their messages. */
  moves: readonly DecidedMove[]
  /** Epoch milliseconds. */
  sentAt: number
  channels: ClaimedChannel[]
  /** Messages that were not rendered in time, by their ids. */
  pending: ReadonlyMap<string, Promise<Rendered>>
}

/** Sends some messages of a claim, while their contacts are locked. */
export type SendInClaim = (
  deps: EngineDeps,
  tx: Queryable,
  claim: { moves: readonly DecidedMove[] } & Pick<ChannelTurns, 'keeperOf' | 'findChanged'>,
) => Promise<SentInClaim>

/** Thrown when the messages of a claim could not be sent in it; see its cause. */
export class SendInClaimError extends Error {
  override name = 'SendInClaimError'
}

export interface ClaimOptions {
  /** Number of messages of a business that the worker has in flight. */
  inFlight?: (businessId: string) => number
  /** Default: all messages are sent after the claim. */
  sendInClaim?: SendInClaim
  /** True when messages of the business are rendered so slowly that a claim should not wait for them. */
  isSlow?: (businessId: string) => boolean
  /**
   * Set for a claim beside the main ones. It finds enrolments of these campaigns alone, and moves only those whose
   * message it can send itself.
   */
  besideFor?: readonly CampaignKey[]
}

/** Milliseconds after which an enrolment that cannot be moved is tried again. */
const FAULT_MS = 60_000

/**
 * Moves up to `most` due enrolments (see `DueFinder`) in one transaction, and claims their messages. Claims are
 * committed before anything is sent, except for messages that never leave Postgres. The claim sees every goal, opt-out,
 * pause, archive, merge and erasure that was answered before it. A later one waits until the claim is committed.
 */
export async function claimDue(
  deps: EngineDeps,
  most: number,
  { inFlight = () => 0, besideFor, ...options }: ClaimOptions = {},
): Promise<Claimed> {
  const { sql, now, due } = deps
  let found: FoundDue[] = []
  try {
    return await inTransaction(sql, async (tx) => {
      const soughtAt = now()
      found = besideFor
        ? await due.findOf(tx, { now: soughtAt, most, campaigns: besideFor })
        : await due.find(tx, { now: soughtAt, most, inFlight })
      const rows = await lockDue(tx, { now: soughtAt, found })
      return rows.length === 0 ? NOTHING : await moveLocked(deps, tx, rows, { ...options, isBeside: !!besideFor })
    })
  } finally {
    due.release(found)
  }
}

const NOTHING: Claimed = { sends: [], updates: [], moved: 0, kept: [], sentInClaim: [], leftSome: false }

async function moveLocked(
  deps: EngineDeps,
  tx: Queryable,
  rows: DueRow[],
  { sendInClaim, isSlow = () => false, isBeside }: Pick<ClaimOptions, 'sendInClaim' | 'isSlow'> & { isBeside: boolean },
): Promise<Claimed> {
  const { now, leaseMs } = deps
  const all = await findVersions(deps, tx, rows)
  const movable = isBeside
    ? onePerContact(all).filter(({ messageId, of }) => messageId === null && !of.hasUpdates)
    : all
  const turns = await openTurns(
    tx,
    movable.flatMap(({ businessId, of }) => of.channels.map((channel) => ({ businessId, channel }))),
  )
  const keeperOf: ChannelTurns['keeperOf'] = (channel) => (isSlow(channel.businessId) ? null : turns.keeperOf(channel))
  const sendsAll = ({ businessId, of }: VersionedRow): boolean =>
    !of.hasUpdates && of.channels.every((channel) => keeperOf({ businessId, channel }) !== null)
  const versioned = isBeside ? movable.filter(sendsAll) : all
  // Read after the last lock: of two claims for one channel, the later one has the later instant.
  const at = now()
  const context = { now: at, claim: crypto.randomUUID(), leaseEnd: at + leaseMs }
  const decided = await decideMoves(deps, tx, versioned, {
    now: at,
    takeTurn: turns.take,
    makes: ({ businessId, of }) =>
      sendInClaim !== undefined && of.channels.some((channel) => keeperOf({ businessId, channel }) !== null),
  })
  await turns.store()
  const {
    moves: tried,
    sentAt,
    channels,
    pending,
  }: SentInClaim = sendInClaim
    ? await sendInClaim(deps, tx, { moves: decided, keeperOf, findChanged: turns.findChanged }).catch(
        (cause: unknown) => {
          throw new SendInClaimError('messages were not sent in their claim', { cause })
        },
      )
    : { moves: decided, sentAt: at, channels: [], pending: new Map() }
  const moves = isBeside ? tried.filter(({ place }) => place.kind !== 'sends') : tried
  await storeMoves(tx, moves, { ...context, sentAt })
  const sends = moves.flatMap((move) => {
    const { messageId, attempts: before } = move.row
    const claimed = messageToSend(move)
    if (claimed === null) return []
    const isRetry = messageId === claimed.messageId
    const attempts = isRetry ? before + 1 : 1
    const claimedAt = (isRetry ? move.context.facts.message?.claimedAt : undefined) ?? at
    const making = pending.get(claimed.messageId)
    return { ...claimed, claim: context.claim, attempts, claimedAt, ...(making && { making }) }
  })
  const updates = moves.flatMap(({ row: { businessId, campaignId, contactId, enrolmentId }, place }) =>
    place.kind === 'updates' ? [{ businessId, campaignId, contactId, enrolmentId, step: place.step }] : [],
  )
  const leftSome = isBeside && moves.length < rows.length
  const counts = { moved: moves.length, leftSome }
  return { sends, updates, kept: channels, sentInClaim: campaignsSentInClaim(moves, sendsAll), ...counts }
}

function campaignsSentInClaim(moves: readonly DecidedMove[], sendsAll: (row: VersionedRow) => boolean): CampaignKey[] {
  return [...Map.groupBy(moves, ({ row }) => row.campaignId).values()].flatMap((own) => {
    const [first] = own
    const isSent = own.every(({ row, place }) => sendsAll(row) && place.kind !== 'sends')
    return first && isSent ? [{ businessId: first.row.businessId, campaignId: first.row.campaignId }] : []
  })
}

/** What becomes of another enrolment of a contact may depend on a message that is late. */
function onePerContact(rows: readonly VersionedRow[]): VersionedRow[] {
  const contacts = new Set<string>()
  return rows.filter(({ contactId }) => !contacts.has(contactId) && contacts.add(contactId))
}

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
  { now, takeTurn, makes }: Pick<MoveContext, 'takeTurn'> & MoveFactsOptions,
): Promise<DecidedMove[]> {
  const facts = await readMoveFacts(tx, versioned, { now, makes })
  const tests = await readRuleTests(tx, versioned, now)
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
      const context = { facts: known, testRule, newId: uuidv7, now, isSuppressed, takeTurn }
      const move = moveOn(row, context)
      moves.push({ ...move, context })
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
