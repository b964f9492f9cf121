/** Accepts reports of a provider after its channel was given another provider or account. */
import type { Provider } from '../channels/provider.ts'
import type { FormerChannel, StoredChannel } from '../channels/channels.ts'
import type { Queryable } from '../../stores/postgres.ts'
import { callbacksOf } from './callbacks-of.ts'

/** How long, in milliseconds: providers report for days, and repeat what they could not deliver. */
export const FORMER_MS = 7 * 86_400_000

/**
 * Returns what to keep when a channel is set up again: at most one provider, the latest that reports. Secrets that were
 * merely replaced are not kept, because others may know them. `isSame`: it is the same account of the same provider.
 * `now`: epoch milliseconds.
 */
export function formerToKeep(
  before: Pick<StoredChannel, 'provider' | 'settings' | 'secret' | 'callbackSource' | 'former'>,
  {
    isSame,
    next,
    now,
  }: { isSame: boolean; next: { provider: Provider; settings: Record<string, unknown> }; now: number },
): FormerChannel | null {
  const { provider, settings, secret, callbackSource, former } = before
  if (isSame) return former
  if (secret !== null && callbacksOf(provider) !== undefined)
    return { provider, settings, secret, callbackSource, until: now + FORMER_MS }
  const isBack =
    former?.provider === next.provider.name &&
    next.provider.recipientOf(former.settings) === next.provider.recipientOf(next.settings)
  return isBack ? null : former
}

/** Also forgets senders that were deleted. `now`: epoch milliseconds. */
export async function forgetFormer(sql: Queryable, now: number): Promise<void> {
  await sql`delete from senders where deleted_at <= ${now - FORMER_MS}`
  await sql`update senders set former = null where former is not null and (former->>'until')::bigint <= ${now}`
}
