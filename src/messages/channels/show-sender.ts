/** A sender as callers see it. */
import type { Config } from '../../config.ts'
import type { Sql } from '../../stores/postgres.ts'
import { callbacksOf } from '../callbacks/callbacks-of.ts'
import { callbackUrl } from '../callbacks/token.ts'
import { loadMessageKey } from '../message-key.ts'
import { type StoredChannel, type StoredCheck, connectionOf } from './channels.ts'
import { readUsed } from './report-sender.ts'
import { requireProvider } from './providers.ts'
import { type SenderAddress, fromOf, readFrom } from './sender-address.ts'

export const SENDER_STATUSES = ['active', 'paused', 'unreachable'] as const
export type SenderStatus = (typeof SENDER_STATUSES)[number]

/** Instants are ISO 8601 UTC. */
export interface ShownSender {
  key: string
  channel: StoredChannel['channel']
  isDefault: boolean
  provider: string
  [setting: string]: unknown
  from: SenderAddress | null
  via: string | null
  fallback: string | null
  perSecond: number | null
  dailyBudget: number | null
  reserve: number
  /** Turns of today's budget that are taken, by its connection. Null: there is no budget. */
  usedToday: number | null
  status: SenderStatus
  pausedAt: string | null
  pauseReason: string | null
  callbackUrl?: string
  secrets: string[]
  updatedAt: string | null
  check: StoredCheck | null
}

export const statusOf = ({
  pausedAt,
  unreachableAt,
}: Pick<StoredChannel, 'pausedAt' | 'unreachableAt'>): SenderStatus =>
  pausedAt !== null ? 'paused' : unreachableAt !== null ? 'unreachable' : 'active'

export async function showSenders(
  { sql, config, now }: { sql: Sql; config: Pick<Config, 'publicUrl' | 'port'>; now: () => number },
  businessId: string,
  stored: readonly StoredChannel[],
): Promise<ShownSender[]> {
  const messageKey = await loadMessageKey(sql)
  const used = await readUsed(sql, businessId, now())
  return stored.map((one) => {
    const { channel, key, isDefault, provider, via, fallback, perSecond, dailyBudget, reserve } = one
    const url = callbacksOf(provider) && callbackUrl(config, messageKey, { ...connectionOf(businessId, one), provider })
    const settings = via === null ? requireProvider(provider).complete(one.settings) : one.ownSettings
    return {
      ...settings,
      key,
      channel,
      isDefault,
      provider,
      from: readFrom(channel, fromOf(one)),
      via,
      fallback,
      perSecond,
      dailyBudget,
      reserve,
      usedToday: dailyBudget === null ? null : used(connectionOf(businessId, one)),
      status: statusOf(one),
      pausedAt: one.pausedAt === null ? null : new Date(one.pausedAt).toISOString(),
      pauseReason: one.pauseReason,
      ...(url !== undefined && { callbackUrl: url }),
      secrets: via === null ? one.secretNames : [],
      updatedAt: one.updatedAt?.toISOString() ?? null,
      check: one.checked,
    }
  })
}
