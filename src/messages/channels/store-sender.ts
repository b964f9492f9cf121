/** Writes the rows of senders. */
import { uuidv7 } from 'uuidv7'
import type { Queryable } from '../../stores/postgres.ts'
import type { ChannelKey, SenderKey, StoredChannel } from './channels.ts'

/** What a person sets. */
export type SenderRecord = Pick<
  StoredChannel,
  'via' | 'fallback' | 'provider' | 'secret' | 'secretNames' | 'perSecond' | 'dailyBudget' | 'reserve' | 'former'
> & { settings: Record<string, unknown>; callbackSource: string | null }

/**
 * Stores a sender, which is then neither paused nor unreachable, and its records are looked up anew. `now`: epoch
 * milliseconds. Returns false, without a change, when it has changed since `before` was read.
 */
export async function storeSender(
  sql: Queryable,
  { businessId, channel, sender }: SenderKey,
  before: Pick<StoredChannel, 'revision'>,
  next: SenderRecord,
  now: number,
): Promise<boolean> {
  const { via, fallback, provider, secret, perSecond, dailyBudget, reserve, callbackSource } = next
  // Words of ours.
  const names = `{${next.secretNames.join(',')}}`
  const json = JSON.stringify(next.settings)
  const former = next.former && JSON.stringify(next.former)
  const { count } = await sql`
    insert into senders as s (business_id, channel, key, via, fallback, provider, settings, secret, secret_names, per_second, daily_budget,
      reserve, revision, opened_at, former, callback_source, check_wanted)
    select ${businessId}, ${channel}, ${sender}, ${via}::text, ${fallback}::text, ${provider}, ${json}::text::jsonb, ${secret}::text,
      ${names}::text::text[], ${perSecond}::integer, ${dailyBudget}::integer, ${reserve}::integer, ${uuidv7()}::uuid, ${now}::bigint,
      ${former}::text::jsonb, ${callbackSource}::text, ${channel === 'email'}
    on conflict (business_id, channel, key) do update set via = excluded.via, fallback = excluded.fallback,
      provider = excluded.provider, settings = excluded.settings, secret = excluded.secret, secret_names = excluded.secret_names,
      per_second = excluded.per_second, daily_budget = excluded.daily_budget, reserve = excluded.reserve,
      revision = excluded.revision, updated_at = clock_timestamp(), paused_at = null, pause_reason = null, unreachable_at = null,
      opened_at = excluded.opened_at, former = excluded.former, callback_source = excluded.callback_source,
      check_wanted = excluded.check_wanted, deleted_at = null,
      checked = case when s.deleted_at is null then s.checked end
    where case when ${before.revision}::uuid is null then s.deleted_at is not null else s.deleted_at is null and s.revision = ${before.revision}::uuid end`
  return count === 1
}

/** Resets `default` to \`log\`. Returns false when it had no settings. */
export async function resetSender(sql: Queryable, { businessId, channel, sender }: SenderKey): Promise<boolean> {
  const { count } = await sql`
    delete from senders where business_id = ${businessId} and channel = ${channel} and key = ${sender}`
  return count === 1
}

/** Whether others use its connection. */
export async function isShared(sql: Queryable, { businessId, channel, sender }: SenderKey): Promise<boolean> {
  const found = await sql`
    select from senders where business_id = ${businessId} and channel = ${channel} and via = ${sender} and deleted_at is null limit 1`
  return found.length > 0
}

/** Its callbacks count for some time. `now`: epoch milliseconds. */
export async function retireSender(
  sql: Queryable,
  { businessId, channel, sender }: SenderKey,
  now: number,
): Promise<void> {
  await sql`
    update senders set deleted_at = ${now}, paused_at = null, pause_reason = null, unreachable_at = null, check_wanted = false
    where business_id = ${businessId} and channel = ${channel} and key = ${sender}`
}

/** Makes a sender the default of its channel: its row, or `default` without one. */
export async function moveDefault(sql: Queryable, { businessId, channel, sender }: SenderKey): Promise<void> {
  await clearDefault(sql, { businessId, channel })
  await sql`
    update senders set is_default = true
    where business_id = ${businessId} and channel = ${channel} and key = ${sender}`
}

async function clearDefault(sql: Queryable, { businessId, channel }: ChannelKey): Promise<void> {
  await sql`
    update senders set is_default = false
    where business_id = ${businessId} and channel = ${channel} and is_default`
}
