/** Sets up the default sender of a channel, or another one, and resets the default one to `log`. */
import { type Actor, recordAudit } from '../../audit/audit.ts'
import { formerToKeep } from '../callbacks/former-provider.ts'
import { RefusedTargetError, resolveTarget } from '../../outbound/resolve-target.ts'
import type { TargetGuard } from '../../outbound/target-guard.ts'
import type { ChannelLimits } from '../../rules/campaigns/channel-limits.ts'
import type { Fault } from '../../rules/faults.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { afterCommit, inTransaction } from '../../stores/transaction.ts'
import {
  type ChannelKey,
  DEFAULT_SENDER,
  type SenderKey,
  type StoredChannel,
  connectionOf,
  loadChannel,
  loadSender,
} from './channels.ts'
import { type ReadSettings, type SentSettings, readSettings } from './read-settings.ts'
import { lockOpening } from './opening-lock.ts'
import { DEFAULT_PROVIDER } from './providers.ts'
import { releaseHeld } from './release-held.ts'
import { openIfPossible, sealSecrets } from './sender-secrets.ts'
import { auditOf } from './sender-audit.ts'
import { type SenderRecord, isShared, resetSender, storeSender } from './store-sender.ts'

const LOOKUP_MS = 5000

export interface SaveDeps {
  sql: Sql
  guard: TargetGuard
  secretsKey: string | undefined
  /** Epoch milliseconds. */
  now: () => number
}

export interface ChannelChange extends ChannelKey {
  actor: Actor
}

export type SaveOutcome =
  | { kind: 'saved'; channel: StoredChannel }
  | { kind: 'faults'; faults: Fault[] }
  /** SECRETS_KEY is not set, and there is a secret to encrypt. */
  | { kind: 'no_secrets_key' }

/**
 * Saves the default sender of a channel. `change` returns all new settings from the stored ones. It is called again when
 * these change meanwhile. A secret that it leaves out stays, unless it would go to another recipient, so that no caller
 * can send it to a host of their own.
 */
export async function saveChannel(
  deps: SaveDeps,
  { actor, ...channel }: ChannelChange,
  change: (before: StoredChannel) => SentSettings,
): Promise<SaveOutcome> {
  for (;;) {
    const before = await loadChannel(deps.sql, channel)
    const key = { ...channel, sender: before.key }
    const made = await prepareSender(deps, key, before, change(before))
    if (made.kind !== 'prepared') return made
    const isStored = await inTransaction(deps.sql, (tx) => storePrepared(tx, { key, actor, before }, made))
    if (!isStored) continue
    await afterCommit(() => releaseHeld(deps.sql, key, made.now))
    return { kind: 'saved', channel: await loadChannel(deps.sql, channel) }
  }
}

/** Settings that were checked, and can be stored. */
export interface PreparedSender {
  kind: 'prepared'
  next: SenderRecord
  /** For the audit log. */
  details: { provider: string; changed: string[] }
  now: number
}

/** Checks settings of a sender with a connection of its own. */
export async function prepareSender(
  { guard, secretsKey, now: clock }: SaveDeps,
  key: SenderKey,
  before: StoredChannel,
  wanted: SentSettings,
): Promise<PreparedSender | Exclude<SaveOutcome, { kind: 'saved' }>> {
  const sent = readSettings(key.channel, wanted)
  if ('faults' in sent) return { kind: 'faults', ...sent }
  const former = formerSecrets(key, before, sent, secretsKey)
  const read = withKeys(sent, former, before)
  const { provider, settings } = read
  const all = { ...former.secrets, ...read.secrets }
  const names = Object.keys({ ...former.opened, ...all })
  const faults = [...provider.check(settings, names), ...(await findRefused(read, guard))]
  if (faults.length > 0) return { kind: 'faults', faults }
  const isGiven = Object.keys(read.secrets).length > 0
  if (isGiven && secretsKey === undefined) return { kind: 'no_secrets_key' }
  const now = clock()
  const replaced = () => provider.replaceSecrets(former.opened, all, now)
  const { perSecond = null, dailyBudget = null, reserve = 0 } = read.limits
  const isSame = isSameAccount(before, read)
  return {
    kind: 'prepared',
    next: {
      via: null,
      fallback: before.fallback,
      provider: provider.name,
      settings,
      secret: isGiven ? sealSecrets(key, replaced(), secretsKey ?? '') : former.sealed,
      secretNames: isGiven ? Object.keys(all) : former.names,
      perSecond,
      dailyBudget,
      reserve,
      former: formerToKeep(before, { isSame, next: read, now }),
      callbackSource: isSame ? before.callbackSource : null,
    },
    details: { provider: provider.name, changed: changedNames(before, read) },
    now,
  }
}

/** Returns false when it has changed since `before` was read. */
export async function storePrepared(
  tx: Queryable,
  { key, actor, before }: { key: SenderKey; actor: Actor; before: StoredChannel },
  { next, details, now }: Pick<PreparedSender, 'next' | 'details' | 'now'>,
): Promise<boolean> {
  await lockOpening(tx, key)
  if (!(await storeSender(tx, key, before, next, now))) return false
  await recordAudit(tx, { ...auditOf(key, 'save'), actor, details })
  return true
}

interface FormerSecrets {
  /** Null when they do not stay. */
  sealed: string | null
  /** Names of the secrets in it. */
  names: string[]
  /** Undefined when they do not stay, or cannot be decrypted. */
  opened: Record<string, unknown> | undefined
  /** The remaining secrets that callers have written. */
  secrets: Record<string, unknown>
}

const isSameAccount = (before: StoredChannel, { provider, settings }: ReadSettings): boolean =>
  before.provider === provider.name && provider.recipientOf(before.settings) === provider.recipientOf(settings)

function formerSecrets(
  key: SenderKey,
  before: StoredChannel,
  read: ReadSettings,
  secretsKey: string | undefined,
): FormerSecrets {
  const { provider } = read
  if (before.secret === null || !isSameAccount(before, read))
    return { sealed: null, names: [], opened: undefined, secrets: {} }
  const opened = openIfPossible(key, before, secretsKey)
  const names = Object.keys(provider.secrets.properties).filter((name) => opened?.[name] !== undefined)
  const secrets = Object.fromEntries(names.map((name) => [name, opened?.[name]]))
  return { sealed: before.secret, names: before.secretNames, opened, secrets }
}

/** Includes the keys of the provider: existing ones, or new ones where these are missing. */
function withKeys(read: ReadSettings, { opened }: FormerSecrets, before: StoredChannel): ReadSettings {
  const { keys } = read.provider
  if (keys === undefined) return read
  const kept = Object.keys(keys.settings.properties).map((name) => [name, before.settings[name]] as const)
  const { settings, secrets } = opened === undefined ? keys.make() : { settings: Object.fromEntries(kept), secrets: {} }
  return { ...read, settings: { ...read.settings, ...settings }, secrets: { ...read.secrets, ...secrets } }
}

/** A host that is unknown now may become known. */
async function findRefused({ provider, settings }: ReadSettings, guard: TargetGuard): Promise<Fault[]> {
  const checked = provider.targets(settings).map(async ({ path, url }) => {
    try {
      await resolveTarget(url, guard, AbortSignal.timeout(LOOKUP_MS))
    } catch (error) {
      if (error instanceof RefusedTargetError) return [{ path, message: `${path}: ${error.message}` }]
    }
    return []
  })
  return (await Promise.all(checked)).flat()
}

/** Only names, because an address can contain a secret. */
function changedNames(before: StoredChannel, { provider, secrets, ...read }: ReadSettings): string[] {
  const known = { ...(before.provider === provider.name && before.settings), ...givenLimits(before) }
  const next: Record<string, unknown> = { ...read.settings, ...read.limits }
  const names = new Set([...Object.keys(known), ...Object.keys(next)])
  const changed = [...names].filter((name) => JSON.stringify(known[name]) !== JSON.stringify(next[name]))
  return [...changed, ...Object.keys(secrets)]
}

/** As callers write them. */
export const givenLimits = ({ perSecond, dailyBudget, reserve }: ChannelLimits): Record<string, unknown> => ({
  ...(perSecond !== null && { perSecond }),
  ...(dailyBudget !== null && { dailyBudget }),
  ...(reserve !== 0 && { reserve }),
})

/** Resets the default sender of a channel to `log`. Returns false when it is `log` already, without settings. */
export async function removeChannel(
  { sql, now }: Pick<SaveDeps, 'sql' | 'now'>,
  { actor, ...channel }: ChannelChange,
): Promise<boolean> {
  const before = await loadChannel(sql, channel)
  const key = connectionOf(channel.businessId, before)
  const isRemoved = await inTransaction(sql, async (tx) => {
    await lockOpening(tx, key)
    if (!(await resetDefault(tx, key, before, now()))) return false
    await recordAudit(tx, { ...auditOf(key, 'remove'), actor })
    return true
  })
  await afterCommit(() => releaseHeld(sql, key, now()))
  return isRemoved
}

/**
 * A default sender of another key than `default` keeps its row, so that it stays the default; so does one whose connection
 * others use.
 */
async function resetDefault(tx: Queryable, key: SenderKey, before: StoredChannel, now: number): Promise<boolean> {
  if (key.sender === DEFAULT_SENDER && !(await isShared(tx, key))) return resetSender(tx, key)
  const current = (await loadSender(tx, key)) ?? before
  const nothing = { via: null, secret: null, secretNames: [], perSecond: null, dailyBudget: null, reserve: 0 }
  const next = { ...nothing, provider: DEFAULT_PROVIDER.name, settings: {}, former: null, callbackSource: null }
  return storeSender(tx, key, current, { ...next, fallback: current.fallback }, now)
}
