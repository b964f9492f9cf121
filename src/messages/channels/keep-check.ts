/** Looks up the records of senders, and keeps what was found. */
import type { Sql } from '../../stores/postgres.ts'
import { type SenderKey, type StoredChannel, type StoredCheck, loadSender } from './channels.ts'
import { type ResolveTxt, checkSender } from './check-sender.ts'

interface CheckDeps {
  sql: Sql
  resolveTxt: ResolveTxt
  /** Epoch milliseconds. */
  now: () => number
}

/**
 * `selectors`: those of DKIM that a person names; they are kept for the next time. Null: the sender has no address with a
 * domain.
 */
export async function checkAndKeep(
  { sql, resolveTxt, now }: CheckDeps,
  businessId: string,
  stored: StoredChannel,
  selectors?: string[],
): Promise<StoredCheck | null> {
  const named = selectors ?? stored.checked?.selectors
  const found = await checkSender(resolveTxt, stored, named)
  const check = found && { at: new Date(now()).toISOString(), ...found, ...(named && { selectors: named }) }
  await sql`
    update senders set check_wanted = false, checked = ${check && JSON.stringify(check)}::text::json
    where business_id = ${businessId} and channel = ${stored.channel} and key = ${stored.key} and deleted_at is null
      -- Saved meanwhile: its new records are still to be looked up.
      and revision = ${stored.revision}::uuid`
  return check
}

const MOST = 20

/** Looks up the records of senders that were saved, or that have their first message of a day. Returns their number. */
export async function checkWanted(deps: CheckDeps): Promise<number> {
  const wanted = await deps.sql<SenderKey[]>`
    select business_id as "businessId", channel, key as sender from senders
    where check_wanted order by business_id, channel, key limit ${MOST}`
  await Promise.all(
    wanted.map(async (key) => {
      const stored = await loadSender(deps.sql, key)
      if (stored !== null) await checkAndKeep(deps, key.businessId, stored)
    }),
  )
  return wanted.length
}
