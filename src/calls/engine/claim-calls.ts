/** Claims due messages of calls: in one transaction, which is committed before anything is sent. */
import {
  type ChosenSender,
  type ClaimSenders,
  type SendingRow,
  openSenders,
} from '../../campaigns/engine/send/claim-senders.ts'
import { addressOf } from '../../campaigns/engine/claim/read-move-facts.ts'
import { loadMessageKey } from '../../messages/message-key.ts'
import { type BusinessAddress, findSuppressed } from '../../messages/suppressions/find-suppressed.ts'
import { decideCall } from '../../rules/calls/decide-call.ts'
import type { SendStep } from '../../rules/campaigns/steps.ts'
import type { Queryable } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import { type Recipient, loadRecipients } from '../load-recipients.ts'
import type { CallEngineDeps } from './call-engine-deps.ts'
import type { CallMove } from './call-move.ts'
import { type CallShare, listWaiting, shareCalls } from './find-due-calls.ts'
import { type LockedCall, lockCalls } from './lock-calls.ts'
import { storeClaim } from './store-claim.ts'

/** A message that this worker may send until its claim expires. */
export interface ClaimedCall extends LockedCall {
  claim: string
  recipient: string | null
  sender: ChosenSender
  /** When this claim was decided, by `performance.now()`. */
  since: number
}

export interface CallsClaimed {
  sends: ClaimedCall[]
  /** Number of messages that were decided. */
  moved: number
  /** There was room for a message that was due. */
  isDue: boolean
  /** When the next message is due, in epoch milliseconds; null: none waits. */
  nextAt: number | null
}

/** @param roomOf returns how many more messages of a business may be in flight */
export async function claimCalls(
  deps: CallEngineDeps,
  most: number,
  roomOf: (businessId: string) => number = () => most,
): Promise<CallsClaimed> {
  const { sql, now, report } = deps
  const soughtAt = now()
  const waiting = await listWaiting(sql)
  const nextAt = waiting.find(({ dueAt }) => dueAt > soughtAt)?.dueAt ?? null
  const due = waiting.flatMap(({ businessId, dueAt }) => (dueAt <= soughtAt ? [businessId] : []))
  const shares = shareCalls(due, most, roomOf)
  if (shares.length === 0) return { sends: [], moved: 0, isDue: false, nextAt }
  const { sends, settled, moved } = await inTransaction(sql, (tx) => claimShares(deps, tx, shares, soughtAt))
  report(settled)
  return { sends, moved, isDue: true, nextAt }
}

async function claimShares(deps: CallEngineDeps, tx: Queryable, shares: readonly CallShare[], soughtAt: number) {
  const calls = await lockCalls(tx, shares, soughtAt)
  if (calls.length === 0) return { sends: [], settled: [], moved: 0 }
  const addressed = await findAddresses(deps, tx, calls)
  const senders = await openSenders(tx, calls.map(rowOf), deps.now())
  // Read after the last lock: of two claims for one sender, the later one has the later instant.
  const at = deps.now()
  const since = performance.now()
  const moves = addressed.map((one) => decide(one, senders, at))
  await senders.store()
  const claim = crypto.randomUUID()
  await storeClaim(tx, moves, { now: at, claim, leaseEnd: at + deps.leaseMs })
  const sends = moves.flatMap(({ call, recipient, verdict }) =>
    verdict.kind === 'send'
      ? [{ ...call, attempts: call.attempts + 1, recipient, sender: verdict.sender, claim, since }]
      : [],
  )
  const settled = moves.flatMap(({ call, verdict }) => (verdict.kind === 'settle' ? [call.messageId] : []))
  return { sends, settled, moved: moves.length }
}

interface Addressed {
  call: LockedCall
  /** As providers get it. Null: the contact has none. Undefined: the channel has no addresses. */
  address: string | null | undefined
  isSuppressed: boolean
}

function decide({ call, address, isSuppressed }: Addressed, senders: ClaimSenders, now: number): CallMove {
  const { expiresAt, state, claim, heldBy } = call
  const verdict = decideCall({ now, expiresAt, state, hasDied: claim !== null, address, isSuppressed })
  const recipient = address ?? null
  if (verdict.kind !== 'send') return { call, recipient, verdict }
  const turn = senders.take(rowOf(call), {
    step: stepOf(call),
    isQueued: heldBy?.type === 'per_second',
    isCall: true,
    expiresAt,
    now,
  })
  if (turn.kind === 'taken') return { call, recipient, verdict: { kind: 'send', sender: turn.sender } }
  const { until, heldBy: by } = turn.held
  return { call, recipient, verdict: { kind: 'hold', heldBy: by, until: Math.min(until, expiresAt) } }
}

/** As a campaign with this one message. */
const rowOf = (call: LockedCall): SendingRow => ({
  businessId: call.businessId,
  boundTo: call.boundTo,
  of: { sends: [stepOf(call)], definition: {} },
})

const stepOf = ({ channel, templateId, options }: LockedCall): SendStep => ({
  id: '',
  type: 'send',
  channel,
  template: templateId,
  kind: 'transactional',
  ...(options.sender !== null && { sender: options.sender }),
})

/** A call to an id goes to an address that the contact has now. */
async function findAddresses(
  { sql }: CallEngineDeps,
  tx: Queryable,
  calls: readonly LockedCall[],
): Promise<Addressed[]> {
  const contacts = await loadRecipients(
    tx,
    calls.map(({ businessId, contactId, channel }) => ({
      businessId,
      contactId: contactId ?? NO_CONTACT,
      needsPush: channel === 'push',
    })),
  )
  const asked = calls.flatMap((call, place) => addressesOf(call, contacts[place] ?? null))
  const answers = await findSuppressed(tx, await loadMessageKey(sql), asked)
  const suppressed = new Set(asked.filter((_, at) => answers[at]).map(nameOf))
  return calls.map((call, place) => {
    const contact = contacts[place] ?? null
    const isOut = (address: string) => suppressed.has(nameOf({ ...call, address }))
    const address = targetOf(call, contact, isOut)
    return { call, address, isSuppressed: typeof address === 'string' && isOut(address.replace(/^\+/, '')) }
  })
}

const NO_CONTACT = '00000000-0000-0000-0000-000000000000'

function targetOf(
  { options, recipient, channel }: LockedCall,
  contact: Recipient | null,
  isSuppressed: (address: string) => boolean,
): string | null | undefined {
  if (options.isToAddress) return recipient
  return contact === null ? null : addressOf(channel, contact, isSuppressed)
}

function addressesOf(
  { businessId, channel, options, recipient }: LockedCall,
  contact: Recipient | null,
): BusinessAddress[] {
  if (channel === 'push' || channel === 'webhook') return []
  const ofContact = (channel === 'email' ? contact?.emails : contact?.phones) ?? []
  const addresses = options.isToAddress ? [(recipient ?? '').replace(/^\+/, '')] : ofContact
  return addresses.map((address) => ({ businessId, channel, address }))
}

const nameOf = ({ businessId, channel, address }: { businessId: string; channel: string; address: string }): string =>
  `${businessId} ${channel} ${address}`
