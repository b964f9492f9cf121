/** Adds suppressions. */
import { uuidv7 } from 'uuidv7'
import { type Change, recordContactAudit } from '../../audit/audit.ts'
import type { ChannelAddress, SuppressionReason } from '../../rules/messages/suppression.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import { type MessageKey, loadMessageKey } from '../message-key.ts'
import { listOf } from './find-suppressed.ts'
import { hashesOf } from './hash-address.ts'

/** Per business, by its own calls. Reports of providers are always stored: the number of messages limits them. */
export const MAX_SUPPRESSIONS = 1_000_000

export interface NewSuppression extends ChannelAddress {
  reason: SuppressionReason
}

/** `known`: it existed for this reason. `full`: the business has reached `most`. */
export type Suppressed = 'added' | 'known' | 'full'

/** Call it in a transaction. `now`: epoch milliseconds. Returns the outcome of each item, in order. */
export async function suppress(
  tx: Queryable,
  key: MessageKey,
  { businessId, now, most = Infinity }: { businessId: string; now: number; most?: number },
  items: readonly NewSuppression[],
): Promise<Suppressed[]> {
  const many = await lockCount(tx, businessId)
  const rows = items.map((item) => ({ ...item, hashes: hashesOf(key, businessId, item) }))
  const known = await findKnown(tx, businessId, rows)
  const fresh: HashedItem[] = []
  const outcomes = rows.map((row): Suppressed => {
    const names = row.hashes.map((hash) => nameOf({ ...row, hash }))
    if (names.some((name) => known.has(name))) return 'known'
    if (many + fresh.length >= most) return 'full'
    fresh.push(row)
    for (const name of names) known.add(name)
    return 'added'
  })
  await insert(tx, { businessId, now }, fresh)
  return outcomes
}

interface HashedItem extends NewSuppression {
  /** Of all forms of the address, its own first. */
  hashes: string[]
}

interface StoredItem extends Pick<NewSuppression, 'channel' | 'reason'> {
  hash: string
}

const nameOf = ({ hash, channel, reason }: StoredItem) => `${hash} ${channel} ${reason}`

/** Two calls at once must not exceed the limit together. */
export async function lockCount(tx: Queryable, businessId: string): Promise<number> {
  await tx`insert into suppression_counts (business_id, many) values (${businessId}, 0) on conflict do nothing`
  const [row] = await tx<{ many: number }[]>`
    select many from suppression_counts where business_id = ${businessId} for update`
  return row?.many ?? 0
}

async function findKnown(tx: Queryable, businessId: string, rows: readonly HashedItem[]): Promise<Set<string>> {
  const hashes = listOf(rows.flatMap((row) => row.hashes))
  const known = await tx<StoredItem[]>`
    select encode(s.address_hash, 'hex') as hash, s.channel, s.reason
    from unnest(${hashes}::text::text[]) as asked (hash)
    join suppressions s on s.address_hash = decode(asked.hash, 'hex') and s.business_id::text = ${businessId}`
  return new Set(known.map(nameOf))
}

async function insert(
  tx: Queryable,
  { businessId, now }: { businessId: string; now: number },
  rows: readonly HashedItem[],
): Promise<void> {
  if (rows.length === 0) return
  const column = (read: (row: HashedItem) => string) => listOf(rows.map(read))
  await tx`
    insert into suppressions (business_id, id, channel, address_hash, reason, suppressed_at)
    select ${businessId}, id, channel, decode(hash, 'hex'), reason, ${now}
    from unnest(${column(() => uuidv7())}::text::uuid[], ${column(({ channel }) => channel)}::text::text[],
      ${column(({ hashes: [own = ''] }) => own)}::text::text[], ${column(({ reason }) => reason)}::text::text[]
    ) as x (id, channel, hash, reason)`
  await tx`update suppression_counts set many = many + ${rows.length} where business_id = ${businessId}`
}

/** For requests of a person or a key: limited, and recorded in the audit log. */
export async function addSuppressions(
  sql: Sql,
  { businessId, actor, now }: Change & { now: number },
  items: readonly NewSuppression[],
): Promise<Suppressed[]> {
  const key = await loadMessageKey(sql)
  return await inTransaction(sql, async (tx) => {
    const outcomes = await suppress(tx, key, { businessId, now, most: MAX_SUPPRESSIONS }, items)
    const added = outcomes.filter((outcome) => outcome === 'added').length
    const entry = { businessId, actor, action: 'suppression.add', target: null, details: { added } }
    if (added > 0) await recordContactAudit(tx, entry)
    return outcomes
  })
}
