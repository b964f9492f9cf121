/** Writes the decisions of a claim, in its transaction. */
import { DEFAULT_SENDER } from '../../messages/channels/channels.ts'
import type { HeldBy } from '../../rules/campaigns/checked-send.ts'
import type { Queryable } from '../../stores/postgres.ts'
import { dropCalls } from './drop-calls.ts'
import type { CallMove } from './call-move.ts'

interface ClaimContext {
  now: number
  claim: string
  leaseEnd: number
}

export async function storeClaim(tx: Queryable, moves: readonly CallMove[], context: ClaimContext): Promise<void> {
  await storeMessages(tx, moves, context)
  await storeDue(tx, moves, context)
  const gone = moves.filter(({ verdict }) => verdict.kind === 'settle' || verdict.kind === 'drop')
  await dropCalls(
    tx,
    gone.map(({ call }) => call),
  )
}

/** `default` goes without saying. */
const storedKey = (sender: string): string | null => (sender === DEFAULT_SENDER ? null : sender)

/** The first claim of a message is its second state. A message that is tried again is in it already. */
async function storeMessages(tx: Queryable, moves: readonly CallMove[], { now }: ClaimContext): Promise<void> {
  const rows = moves.flatMap(({ call, recipient, verdict }): MessageRow[] => {
    const key = { business_id: call.businessId, id: call.messageId, recipient }
    if (verdict.kind === 'send') {
      const { sender, connection } = verdict.sender
      const by = { sender: storedKey(sender), connection: storedKey(connection) }
      return [{ ...key, state: 'claimed', reason: null, taken: true, ...by }]
    }
    const left = { taken: false, sender: null, connection: null }
    return verdict.kind === 'settle' ? [{ ...key, state: verdict.state, reason: verdict.reason, ...left }] : []
  })
  if (rows.length === 0) return
  await tx`
    update messages m set
      recipient = coalesce(x.recipient, m.recipient), reason = x.reason, state = x.state,
      sender = case when x.taken then x.sender else m.sender end,
      connection = case when x.taken then x.connection else m.connection end,
      states = case when m.state = x.state then m.states
        else m.states || jsonb_build_array(jsonb_build_object('state', x.state, 'at', ${now}::bigint)) end
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (business_id uuid, id uuid, state text, reason text, recipient text,
      taken boolean, sender text, connection text)
    where m.business_id = x.business_id and m.id = x.id and m.state in ('queued', 'claimed')`
}

interface MessageRow {
  business_id: string
  id: string
  recipient: string | null
  state: string
  reason: string | null
  taken: boolean
  sender: string | null
  connection: string | null
}

async function storeDue(tx: Queryable, moves: readonly CallMove[], context: ClaimContext): Promise<void> {
  const { claim, leaseEnd } = context
  const rows = moves.flatMap(({ call, verdict }): DueRow[] => {
    const key = { business_id: call.businessId, message_id: call.messageId }
    if (verdict.kind === 'send')
      return [{ ...key, due_at: leaseEnd, claim, attempts: call.attempts + 1, held_by: null }]
    if (verdict.kind !== 'hold') return []
    return [{ ...key, due_at: verdict.until, claim: null, attempts: call.attempts, held_by: verdict.heldBy }]
  })
  if (rows.length === 0) return
  await tx`
    update due_calls d set due_at = x.due_at, claim = x.claim, attempts = x.attempts, held_by = x.held_by
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (business_id uuid, message_id uuid, due_at bigint, claim uuid,
      attempts integer, held_by jsonb)
    where d.business_id = x.business_id and d.message_id = x.message_id`
}

interface DueRow {
  business_id: string
  message_id: string
  due_at: number
  claim: string | null
  attempts: number
  held_by: HeldBy | null
}
