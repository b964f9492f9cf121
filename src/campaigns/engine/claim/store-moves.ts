/** Writes the decisions of a claim, in its transaction. */
import { type Cell, arrayLiteral } from '../../../stores/write-columns.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import type { LeftMessage, Moved, NewMessage } from './move.ts'
import { DEFAULT_SENDER } from '../../../messages/channels/channels.ts'
import { reappliedAt } from '../apply-update.ts'

export interface StoreContext {
  now: number
  claim: string
  /** When the claims of this set expire. */
  leaseEnd: number
}

/** Milliseconds after which a branch that waits for the timeline queries it again. The answer makes it due earlier. */
const ASKED_LOOK_MS = 3_600_000

export async function storeMoves(tx: Queryable, moves: readonly Moved[], context: StoreContext): Promise<void> {
  await insertMessages(tx, moves, context.now)
  await recheckMessages(tx, moves)
  await leaveMessages(tx, moves, context.now)
  await moveRows(tx, moves, context)
  const ended = moves.flatMap(({ row, place }) => (place.kind === 'end' ? [{ ...row, state: place.state }] : []))
  await endEnrolments(tx, ended, context.now)
}

/** An existing message is an error: it would be sent twice. */
async function insertMessages(tx: Queryable, moves: readonly Moved[], now: number): Promise<void> {
  const rows = moves.flatMap(({ row: { businessId, campaignId, enrolmentId, contactId }, made }) =>
    made.map((message): MessageRow => ({ businessId, campaignId, enrolmentId, contactId, ...message })),
  )
  if (rows.length === 0) return
  const column = (of: (row: MessageRow) => Cell) => arrayLiteral(rows.map(of))
  await tx`
    insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, reason, recipient,
      claimed_at, states, template_id, checked, kept, sender, connection)
    select business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, reason, recipient,
      ${now}, jsonb_build_array(jsonb_build_object('state', state, 'at', ${now}::bigint)), template_id, checked::json, state <> 'skipped',
      sender, connection
    from unnest(
      ${column((row) => row.businessId)}::text::uuid[], ${column((row) => row.messageId)}::text::uuid[],
      ${column((row) => row.campaignId)}::text::uuid[], ${column((row) => row.enrolmentId)}::text::uuid[],
      ${column((row) => row.contactId)}::text::uuid[], ${column((row) => row.step.id)}::text::text[],
      ${column((row) => row.step.channel)}::text::text[], ${column((row) => row.state)}::text::text[],
      ${column((row) => row.reason)}::text::text[], ${column((row) => row.recipient)}::text::text[],
      ${column((row) => row.step.template)}::text::uuid[], ${column((row) => JSON.stringify(row.checked))}::text::text[],
      ${column((row) => storedKey(row.sender?.sender))}::text::text[], ${column((row) => storedKey(row.sender?.connection))}::text::text[]
    ) as x (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, reason, recipient, template_id, checked, sender,
      connection)`
}

/** `default` goes without saying. */
const storedKey = (sender: string | undefined): string | null =>
  sender === undefined || sender === DEFAULT_SENDER ? null : sender

type MessageRow = Pick<Moved['row'], 'businessId' | 'campaignId' | 'enrolmentId' | 'contactId'> & NewMessage

async function recheckMessages(tx: Queryable, moves: readonly Moved[]): Promise<void> {
  const rows = moves.flatMap(({ row, rechecked }) =>
    rechecked.map(({ messageId, sender, ...now }) => ({
      business_id: row.businessId,
      id: messageId,
      ...now,
      isTaken: sender !== null,
      sender: storedKey(sender?.sender),
      connection: storedKey(sender?.connection),
    })),
  )
  if (rows.length === 0) return
  await tx`
    update messages m set checked = x.checked, recipient = x.recipient,
      sender = case when x."isTaken" then x.sender else m.sender end,
      connection = case when x."isTaken" then x.connection else m.connection end
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (business_id uuid, id uuid, checked json, recipient text,
      "isTaken" boolean, sender text, connection text)
    where m.business_id = x.business_id and m.id = x.id and m.state = 'claimed'`
}

async function leaveMessages(tx: Queryable, moves: readonly Moved[], now: number): Promise<void> {
  const rows = moves.flatMap(({ row, left }) => left.map((message) => leftRecord(row.businessId, message)))
  if (rows.length === 0) return
  await tx`
    update messages m set
      state = x.state, reason = x.reason,
      states = m.states || jsonb_build_array(jsonb_build_object('state', x.state, 'at', ${now}::bigint))
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (business_id uuid, id uuid, state text, reason text)
    where m.business_id = x.business_id and m.id = x.id and m.state = 'claimed'`
}

const leftRecord = (businessId: string, { messageId, state, reason }: LeftMessage) => ({
  business_id: businessId,
  id: messageId,
  state,
  reason,
})

async function moveRows(tx: Queryable, moves: readonly Moved[], context: StoreContext): Promise<void> {
  const rows = moves.flatMap((move) => rowRecord(move, context) ?? [])
  if (rows.length === 0) return
  await tx`
    update due_steps d set
      step = x.step, began_at = x.began_at, due_at = x.due_at, listens_for = x.listens_for, held_by = x.held_by, waited = x.waited,
      awaited_at = case when x.began_at = d.began_at and x.step = d.step then d.awaited_at end,
      message_id = x.message_id, bound_to = case when x.message_id = d.message_id then d.bound_to end, claim = x.claim, attempts = x.attempts, settled = x.settled, held = x.held, answers = null,
      -- The contact is locked: all that was answered for it has a row by now. One that asks again goes on waiting for the first row.
      asked_outbox_id = case when x.asks then coalesce(
        case when d.step = x.step and d.began_at = x.began_at then d.asked_outbox_id end,
        (select coalesce(max(id), 0) from outbox)) end
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (business_id uuid, enrolment_id uuid, step text,
      began_at bigint, due_at bigint, listens_for text, held_by jsonb, waited boolean, message_id uuid, claim uuid, attempts integer,
      settled boolean, held boolean, asks boolean)
    where d.business_id = x.business_id and d.enrolment_id = x.enrolment_id`
}

function rowRecord({ row, place }: Moved, { now, claim, leaseEnd }: StoreContext) {
  if (place.kind === 'end') return null
  const { stepId, since, isFirst } =
    place.kind === 'held' ? { stepId: row.step, since: row.beganAt, isFirst: !row.waited } : place.position
  const there = {
    business_id: row.businessId,
    enrolment_id: row.enrolmentId,
    step: stepId,
    began_at: since,
    waited: !isFirst,
    listens_for: null,
    held_by: null,
    message_id: null,
    claim: null,
    attempts: 0,
    settled: false,
    held: false,
    asks: false,
  }
  const { messageId, attempts } = row
  switch (place.kind) {
    case 'held': {
      const held = { ...there, due_at: row.dueAt, listens_for: row.listensFor, held: true }
      return place.isSettled ? { ...held, settled: true } : { ...held, message_id: messageId, attempts }
    }
    case 'at': {
      const { dueAt, listensFor, heldBy } = place
      const at = { ...there, due_at: dueAt, listens_for: listensFor, held_by: heldBy }
      // Quiet hours can delay a message that is to be tried again.
      const stays = stepId === row.step && since === row.beganAt && !row.settled && row.claim === null
      return stays ? { ...at, message_id: messageId, attempts } : at
    }
    case 'asks':
      return { ...there, due_at: now + ASKED_LOOK_MS, asks: true }
    case 'updates': {
      const tried = stepId === row.step && since === row.beganAt ? attempts + 1 : 1
      return { ...there, due_at: reappliedAt(now, tried), attempts: tried }
    }
    case 'sends': {
      const sent = place.sending.messageId
      const tried = messageId === sent ? attempts + 1 : 1
      return { ...there, due_at: leaseEnd, message_id: sent, claim, attempts: tried }
    }
  }
}

export interface EndedEnrolment {
  businessId: string
  enrolmentId: string
  contactId: string
  /** Null: it had ended before. */
  state: string | null
  /** True when its message is in flight: the row stays until the message is settled. */
  isUnderWay?: boolean
}

/** Their contacts are locked. Saves that have read one of these contacts are decided again. */
export async function endEnrolments(tx: Queryable, ended: readonly EndedEnrolment[], now: number): Promise<void> {
  if (ended.length === 0) return
  const column = (of: (row: EndedEnrolment) => Cell) => arrayLiteral(ended.map(of))
  await tx`
    with x as materialized (
      select * from unnest(
        ${column((row) => row.businessId)}::text::uuid[], ${column((row) => row.enrolmentId)}::text::uuid[],
        ${column((row) => row.contactId)}::text::uuid[], ${column((row) => row.state)}::text::text[],
        ${column(({ isUnderWay = false }) => isUnderWay)}::text::boolean[]
      ) as x (business_id, enrolment_id, contact_id, state, stays)
    ),
    gone as (
      delete from due_steps d using x
      where d.business_id = x.business_id and d.enrolment_id = x.enrolment_id and not x.stays
    ),
    stopped as (
      update enrolments e set state = x.state, ended_at = ${now}, event_name = null, event_properties = null
      from x
      where e.business_id = x.business_id and e.contact_id = x.contact_id and e.id = x.enrolment_id
        and e.state = 'active' and x.state is not null
      returning e.business_id, e.contact_id
    )
    update contacts c set version = c.version + 1
    from (select distinct business_id, contact_id from stopped) s
    where c.business_id = s.business_id and c.id = s.contact_id`
}
