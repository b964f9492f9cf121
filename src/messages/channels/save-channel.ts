/** Sets up channels, and resets them to `log`. */
import { type Actor, recordAudit } from '../../audit/audit.ts'
import { formerToKeep } from '../callbacks/former-provider.ts'
import { RefusedTargetError, resolveTarget } from '../../outbound/resolve-target.ts'
import type { TargetGuard } from '../../outbound/target-guard.ts'
import type { ChannelLimits } from '../../rules/campaigns/channel-limits.ts'
import type { Fault } from '../../rules/faults.ts'
import type { Sql } from '../../stores/postgres.ts'
import { afterCommit, inTransaction } from '../../stores/transaction.ts'
import {
  type ChannelKey,
  type StoredChannel,
  deleteChannel,
  loadChannel,
  openIfPossible,
  sealSecrets,
  storeChannel,
} from './channels.ts'
import { type ReadSettings, type SentSettings, readSettings } from './read-settings.ts'
import { lockOpening } from './opening-lock.ts'
import { releaseHeld } from './release-held.ts'

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
 * `change` returns all new settings from the stored ones. It is called again when these change meanwhile. A secret that
 * it leaves out stays, unless it would go to another recipient, so that no caller can send it to a host of their own.
 */
export async function saveChannel(
  deps: SaveDeps,
  { actor, ...key }: ChannelChange,
  change: (before: StoredChannel) => SentSettings,
): Promise<SaveOutcome> {
  const { sql, secretsKey } = deps
  for (;;) {
    const before = await loadChannel(sql, key)
    const sent = readSettings(key.channel, change(before))
    if ('faults' in sent) return { kind: 'faults', ...sent }
    const former = formerSecrets(key, before, sent, secretsKey)
    const read = withKeys(sent, former, before)
    const { provider, settings } = read
    const all = { ...former.secrets, ...read.secrets }
    const names = Object.keys({ ...former.opened, ...all })
    const faults = [...provider.check(settings, names), ...(await findRefused(read, deps.guard))]
    if (faults.length > 0) return { kind: 'faults', faults }
    const isGiven = Object.keys(read.secrets).length > 0
    if (isGiven && secretsKey === undefined) return { kind: 'no_secrets_key' }
    const replaced = () => provider.replaceSecrets(former.opened, all, deps.now())
    const secret = isGiven ? sealSecrets(key, replaced(), secretsKey ?? '') : former.sealed
    const secretNames = isGiven ? Object.keys(all) : former.names
    const { perSecond = null, dailyBudget = null } = read.limits
    const now = deps.now()
    const isSame = isSameAccount(before, read)
    const next = {
      provider: provider.name,
      settings,
      secret,
      secretNames,
      perSecond,
      dailyBudget,
      former: formerToKeep(before, { isSame, next: read, now }),
      callbackSource: isSame ? before.callbackSource : null,
    }
    const isStored = await inTransaction(sql, async (tx) => {
      await lockOpening(tx, key)
      if (!(await storeChannel(tx, key, before, next, now))) return false
      const details = { provider: provider.name, changed: changedNames(before, read) }
      await recordAudit(tx, { businessId: key.businessId, actor, action: 'channel.save', target: key.channel, details })
      return true
    })
    if (!isStored) continue
    await afterCommit(() => releaseHeld(sql, key, now))
    return { kind: 'saved', channel: await loadChannel(sql, key) }
  }
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
  key: ChannelKey,
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
export const givenLimits = ({ perSecond, dailyBudget }: ChannelLimits): Record<string, unknown> => ({
  ...(perSecond !== null && { perSecond }),
  ...(dailyBudget !== null && { dailyBudget }),
})

/** Resets the channel to `log`. Returns false when it is `log` already, without settings. */
export async function removeChannel(
  { sql, now }: Pick<SaveDeps, 'sql' | 'now'>,
  { actor, ...key }: ChannelChange,
): Promise<boolean> {
  const isRemoved = await inTransaction(sql, async (tx) => {
    await lockOpening(tx, key)
    if (!(await deleteChannel(tx, key))) return false
    await recordAudit(tx, { businessId: key.businessId, actor, action: 'channel.remove', target: key.channel })
    return true
  })
  await afterCommit(() => releaseHeld(sql, key, now()))
  return isRemoved
}
