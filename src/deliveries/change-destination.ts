/** Creates and changes destinations, for commands and the dashboard. */
import { type Actor, type Change, recordAudit } from '../audit/audit.ts'
import type { TargetGuard } from '../outbound/target-guard.ts'
import type { ConversionType } from '../rules/events/facts.ts'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { sealSecret } from '../stores/seal-secret.ts'
import {
  type Destination,
  type DestinationChange,
  type SealedDestination,
  addDestination,
  findDestination,
  newDestinationId,
  updateDestination,
} from './destinations.ts'
import { type SettingText, checkTargets, readSettings, readTypes } from './read-destination.ts'
import { withFormerKey } from './signing-key.ts'

/** A new destination that has been checked, including its addresses. `secret` is not sealed yet. */
export interface NewDestination extends Pick<Destination, 'kind' | 'name' | 'types' | 'settings'> {
  secret: object
}

/** Returns the id of the destination. Throws RequestError `limit_reached`. */
export async function createDestination(
  sql: Sql,
  { businessId, actor }: Change,
  { secret, ...destination }: NewDestination,
  secretsKey: string,
): Promise<string> {
  const id = newDestinationId()
  const sealed = sealSecret(secret, id, secretsKey)
  const { kind, name, types } = destination
  return inTransaction(sql, async (tx) => {
    await addDestination(tx, { ...destination, businessId, id, secret: sealed })
    const entry = { businessId, actor, action: 'destination.add', target: id }
    await recordAudit(tx, { ...entry, details: { kind, name, types } })
    return id
  })
}

/** Omitted fields keep their values. */
export interface WantedChange {
  name?: string
  active?: boolean
  types?: ConversionType[]
  settings?: readonly SettingText[]
  /** The checked secret, not sealed yet. */
  secret?: { parts: object; secretsKey: string }
}

/**
 * Changes a destination. If another change has been made in the meantime, applies this one on top of it. Returns false
 * when the destination no longer exists. Throws SettingsError.
 */
export async function changeDestination(
  { sql, guard }: { sql: Sql; guard: TargetGuard },
  actor: Actor,
  found: SealedDestination,
  wanted: WantedChange,
): Promise<boolean> {
  const entry = { businessId: found.businessId, actor, action: 'destination.update', target: found.id }
  for (let before: SealedDestination | undefined = found; before; before = await findDestination(sql, found.id)) {
    const current = before
    const change = composeChange(current, wanted)
    if (change.settings) await checkTargets(change.settings, guard)
    const isDone = await inTransaction(sql, async (tx) => {
      if (!(await updateDestination(tx, current, change))) return false
      // Without their values: an address can contain a secret.
      await recordAudit(tx, { ...entry, details: { changed: Object.keys(change) } })
      return true
    })
    if (isDone) return true
  }
  return false
}

function composeChange(before: SealedDestination, wanted: WantedChange): DestinationChange {
  const { name, active, secret } = wanted
  const texts = wanted.settings ?? []
  const settings = texts.length > 0 ? readSettings(before.kind, before.settings, texts) : undefined
  const types = wanted.types || settings ? readTypes(before.kind, settings ?? before.settings, wanted.types) : undefined
  return {
    ...(name !== undefined && { name }),
    ...(active !== undefined && { active }),
    ...(types && { types }),
    ...(settings && { settings }),
    ...(secret && { secret: seal(before, secret) }),
  }
}

const seal = (before: SealedDestination, { parts, secretsKey }: { parts: object; secretsKey: string }): string =>
  sealSecret(withFormerKey(before, parts, secretsKey), before.id, secretsKey)
