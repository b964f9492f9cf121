/** Creates senders, changes and deletes them. Those of a business are changed one after the other. */
import { isDeepStrictEqual } from 'node:util'
import { type Actor, recordAudit } from '../../audit/audit.ts'
import { type Fault, faultOf } from '../../rules/faults.ts'
import type { Queryable } from '../../stores/postgres.ts'
import { afterCommit, inTransaction } from '../../stores/transaction.ts'
import type { MessageChannel } from '../templates/template.ts'
import {
  DEFAULT_SENDER,
  type SenderKey,
  type StoredChannel,
  channelsOfSender,
  connectionOf,
  listSenders,
  loadChannel,
  loadSender,
  unset,
} from './channels.ts'
import { FORMER_MS } from '../callbacks/former-provider.ts'
import { findUses } from './find-sender-uses.ts'
import { lockOpening } from './opening-lock.ts'
import { prepareVia } from './prepare-via.ts'
import { releaseHeld } from './release-held.ts'
import { type PreparedSender, type SaveDeps, givenLimits, prepareSender, storePrepared } from './save-channel.ts'
import { auditOf } from './sender-audit.ts'
import { statusOf } from './show-sender.ts'
import { type SenderFields, readFields, readNewKey } from './sender-fields.ts'
import { moveDefault, retireSender } from './store-sender.ts'

/** Per channel. */
export const MAX_SENDERS = 50

interface Change {
  businessId: string
  actor: Actor
}

export type SenderOutcome =
  | { kind: 'saved'; sender: StoredChannel }
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'no_secrets_key' }
  | { kind: 'taken' }
  | { kind: 'too_many' }
  | { kind: 'locked'; field: string }
  | { kind: 'not_found' }

export async function createSender(
  deps: SaveDeps,
  { businessId, actor }: Change,
  body: Record<string, unknown>,
): Promise<SenderOutcome> {
  const named = readNewKey(body)
  if ('faults' in named) return { kind: 'faults', ...named }
  const { channel } = named
  const fields = readFields(channel, body)
  if ('faults' in fields) return { kind: 'faults', ...fields }
  const key = { businessId, channel, sender: named.key }
  if (key.sender === DEFAULT_SENDER) return { kind: 'taken' }
  // One that was deleted lately: its provider still reports.
  const deleted = await loadSender(deps.sql, key, deps.now() - FORMER_MS)
  const before = { ...(deleted ?? unset(channel)), via: null, fallback: null, revision: null }
  const made = await prepare(deps, key, before, fields)
  if (made.kind !== 'prepared') return made
  const stored = await inTransaction(deps.sql, async (tx): Promise<SenderOutcome | null> => {
    await lockSenders(tx, businessId)
    const taken = await channelsOfSender(tx, businessId, key.sender)
    if (taken.length > 0) return { kind: 'taken' }
    const all = await listSenders(tx, businessId)
    if (all.filter((one) => one.channel === channel).length >= MAX_SENDERS) return { kind: 'too_many' }
    return storeChange(tx, { key, actor, before }, made, fields)
  })
  return stored ?? (await reload(deps, key))
}

/** Fields that `body` leaves out stay as they are; null removes one. */
export async function updateSender(
  deps: SaveDeps,
  { businessId, channel, sender, actor }: SenderKey & { actor: Actor },
  body: Record<string, unknown>,
): Promise<SenderOutcome> {
  const key = { businessId, channel, sender }
  const fields = readFields(channel, body)
  if ('faults' in fields) return { kind: 'faults', ...fields }
  for (;;) {
    const before = await loadSender(deps.sql, key)
    if (before === null) return { kind: 'not_found' }
    const locked = lockedField(before, body)
    if (locked !== undefined) return { kind: 'locked', field: locked }
    const isOnlyDefault = Object.keys(body).every((name) => name === 'isDefault')
    const wanted = { ...fields, settings: mergeSettings(before, fields.settings) }
    const made = isOnlyDefault ? null : await prepare(deps, key, before, wanted)
    if (made !== null && made.kind !== 'prepared') return made
    const isSame = made?.details.changed.length === 0 && before.revision !== null && statusOf(before) === 'active'
    if (isSame && !fields.isDefault) return { kind: 'saved', sender: before }
    const stored = await inTransaction(deps.sql, async (tx): Promise<SenderOutcome | 'again' | null> => {
      await lockSenders(tx, businessId)
      if (made === null) return changeDefault(tx, { key, actor, before }, fields)
      return (await storeChange(tx, { key, actor, before }, made, fields)) ?? null
    })
    if (stored === 'again') continue
    if (stored?.kind === 'taken') continue
    if (stored !== null) return stored
    await afterCommit(() => releaseHeld(deps.sql, connectionOf(businessId, before), deps.now()))
    return await reload(deps, key)
  }
}

/** `names`: what names it. */
export type DeleteOutcome =
  | { kind: 'deleted' }
  | { kind: 'not_found' }
  | { kind: 'default' }
  | { kind: 'in_use'; names: string[] }

export async function deleteSender(
  { sql, now }: Pick<SaveDeps, 'sql' | 'now'>,
  { actor, ...key }: SenderKey & { actor: Actor },
): Promise<DeleteOutcome> {
  const outcome = await inTransaction(sql, async (tx): Promise<DeleteOutcome> => {
    await lockSenders(tx, key.businessId)
    await lockOpening(tx, key)
    const found = await loadSender(tx, key)
    if (found === null) return { kind: 'not_found' }
    if (found.isDefault || key.sender === DEFAULT_SENDER) return { kind: 'default' }
    const names = await findUses(tx, key)
    if (names.length > 0) return { kind: 'in_use', names }
    await retireSender(tx, key, now())
    await recordAudit(tx, { ...auditOf(key, 'remove'), actor })
    return { kind: 'deleted' }
  })
  if (outcome.kind === 'deleted') await afterCommit(() => releaseHeld(sql, key, now()))
  return outcome
}

/** Nothing names a sender meanwhile: who does so locks the business, too. */
async function lockSenders(tx: Queryable, businessId: string): Promise<void> {
  await tx`select from businesses where id = ${businessId} for no key update`
}

async function reload(deps: SaveDeps, key: SenderKey): Promise<SenderOutcome> {
  const sender = await loadSender(deps.sql, key)
  return sender === null ? { kind: 'not_found' } : { kind: 'saved', sender }
}

/** Keys and channels never change, nor whether a sender has a connection of its own. */
function lockedField(before: StoredChannel, body: Record<string, unknown>): string | undefined {
  const present: Record<string, unknown> = { key: before.key, channel: before.channel, via: before.via }
  return Object.keys(present).find((name) => {
    const sent = body[name]
    return sent !== undefined && (sent ?? null) !== present[name]
  })
}

function mergeSettings(before: StoredChannel, sent: Record<string, unknown>): Record<string, unknown> {
  if (before.via !== null) return { ...before.ownSettings, ...sent }
  const { provider = before.provider } = sent
  const kept = provider === before.provider ? before.ownSettings : {}
  return { provider, ...kept, ...givenLimits(before), ...sent }
}

async function prepare(deps: SaveDeps, key: SenderKey, before: StoredChannel, fields: SenderFields) {
  const via = fields.via ?? before.via
  const made =
    via === null
      ? await prepareSender(deps, key, before, fields.settings)
      : await prepareVia(deps, { ...key, via }, before, fields.settings)
  if (made.kind === 'faults') return { ...made, faults: made.faults.map((fault) => nameFrom(key.channel, fault)) }
  if (made.kind !== 'prepared' || fields.fallback === undefined) return made
  const { next, details } = made
  const changed = before.fallback === fields.fallback ? details.changed : [...details.changed, 'fallback']
  return { ...made, next: { ...next, fallback: fields.fallback }, details: { ...details, changed } }
}

/** Callers write the address of a mail as `from`, too. */
const nameFrom = (channel: MessageChannel, fault: Fault): Fault =>
  channel === 'email' && fault.path === 'sender'
    ? { ...fault, path: 'from', message: fault.message.replace(/^sender/, 'from') }
    : fault

interface Target {
  key: SenderKey
  actor: Actor
  before: StoredChannel
}

/** Null: it is stored. `taken`: it has changed meanwhile. */
async function storeChange(
  tx: Queryable,
  target: Target,
  made: PreparedSender,
  { isDefault }: Pick<SenderFields, 'isDefault'>,
): Promise<SenderOutcome | null> {
  const { key } = target
  const { via, fallback } = made.next
  if (isDefault && via !== null) return fail('isDefault', 'via_default')
  const others = (await listSenders(tx, key.businessId)).filter(({ channel }) => channel === key.channel)
  if (fallback === key.sender) return fail('fallback', 'other_sender')
  if (fallback !== null && !others.some((one) => one.key === fallback))
    return { kind: 'faults', faults: [faultOf('fallback', 'sender_of_channel', { channel: key.channel })] }
  if (via !== null && others.find((one) => one.key === via)?.via !== null) return fail('via', 'via_own')
  if (!(await storePrepared(tx, target, made))) return { kind: 'taken' }
  if (isDefault) await moveDefault(tx, key)
  return null
}

const fail = (path: string, rule: 'via_default' | 'other_sender' | 'via_own'): SenderOutcome => ({
  kind: 'faults',
  faults: [faultOf(path, rule)],
})

/** Null: it is the default. */
async function changeDefault(
  tx: Queryable,
  { key, actor, before }: Target,
  { isDefault }: Pick<SenderFields, 'isDefault'>,
): Promise<SenderOutcome | 'again' | null> {
  const current = await loadSender(tx, key)
  if (!isDeepStrictEqual(current?.revision, before.revision)) return 'again'
  if (!isDefault || (await loadChannel(tx, key)).key === key.sender) return null
  if (before.via !== null) return fail('isDefault', 'via_default')
  await moveDefault(tx, key)
  await recordAudit(tx, { ...auditOf(key, 'save'), actor, details: { changed: ['isDefault'] } })
  return null
}
