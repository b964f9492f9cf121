/** A channel as callers see it. */
import type { Config } from '../../config.ts'
import type { Sql } from '../../stores/postgres.ts'
import { callbacksOf } from '../callbacks/callbacks-of.ts'
import { callbackUrl } from '../callbacks/token.ts'
import { loadMessageKey } from '../message-key.ts'
import type { StoredChannel } from './channels.ts'
import { requireProvider } from './providers.ts'

export interface ShownChannel {
  channel: StoredChannel['channel']
  provider: string
  [setting: string]: unknown
  /** URL for the provider's reports. Absent: the provider reports nothing. */
  callbackUrl?: string
  perSecond: number | null
  dailyBudget: number | null
  /** Names of the stored secrets. */
  secrets: string[]
  /** ISO 8601 UTC; null when it was never set up. */
  updatedAt: string | null
  /** Since when its messages wait (ISO 8601 UTC), and why. Null: they do not. */
  pausedAt: string | null
  pauseReason: string | null
}

export async function showChannels(
  { sql, config }: { sql: Sql; config: Pick<Config, 'publicUrl' | 'port'> },
  businessId: string,
  stored: readonly StoredChannel[],
): Promise<ShownChannel[]> {
  const key = await loadMessageKey(sql)
  return stored.map(({ channel, provider, settings, perSecond, dailyBudget, secretNames, updatedAt, ...pause }) => {
    const { complete } = requireProvider(provider)
    const url = callbacksOf(provider) && callbackUrl(config, key, { businessId, channel, provider })
    return {
      channel,
      provider,
      ...complete(settings),
      ...(url !== undefined && { callbackUrl: url }),
      perSecond,
      dailyBudget,
      secrets: secretNames,
      updatedAt: updatedAt?.toISOString() ?? null,
      pausedAt: pause.pausedAt === null ? null : new Date(pause.pausedAt).toISOString(),
      pauseReason: pause.pauseReason,
    }
  })
}
