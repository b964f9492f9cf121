/** A channel as callers see it. */
import type { Config } from '../../config.ts'
import type { Sql } from '../../stores/postgres.ts'
import { callbacksOf } from '../callbacks/callbacks-of.ts'
import { callbackUrl } from '../callbacks/token.ts'
import { loadMessageKey } from '../message-key.ts'
import { type StoredChannel, connectionOf } from './channels.ts'
import { requireProvider } from './providers.ts'

export interface ShownChannel {
  channel: StoredChannel['channel']
  provider: string
  [setting: string]: unknown
  /** URL for the provider's reports. Absent: the provider reports nothing. */
  callbackUrl?: string
  perSecond: number | null
  dailyBudget: number | null
  reserve: number
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
  return stored.map((one) => {
    const { channel, provider, settings, perSecond, dailyBudget, reserve } = one
    const { complete } = requireProvider(provider)
    const connection = connectionOf(businessId, one)
    const url = callbacksOf(provider) && callbackUrl(config, key, { ...connection, provider })
    return {
      channel,
      provider,
      ...complete(settings),
      ...(url !== undefined && { callbackUrl: url }),
      perSecond,
      dailyBudget,
      reserve,
      secrets: one.secretNames,
      updatedAt: one.updatedAt?.toISOString() ?? null,
      pausedAt: one.pausedAt === null ? null : new Date(one.pausedAt).toISOString(),
      pauseReason: one.pauseReason,
    }
  })
}
