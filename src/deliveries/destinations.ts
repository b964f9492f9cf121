/** Stores destinations in Postgres. Every change raises the version of the business's configuration, so that events recorded later use it. */
import { uuidv7 } from 'uuidv7'
import { CHUNK_ROWS, runInChunks } from '../stores/run-in-chunks.ts'
import type { ConversionType } from '../rules/events/facts.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { sleep } from '../async/sleep.ts'
import { type DestinationKind, clickIdsOf } from './settings.ts'

/** A destination without its secret. */
export interface Destination {
  id: string
  businessId: string
  kind: DestinationKind
  name: string
  types: ConversionType[]
  settings: Record<string, unknown>
  active: boolean
  createdAt: Date
}

/** `secret` is sealed. */
export type DestinationChange = Partial<Pick<Destination, 'name' | 'types' | 'settings' | 'active'>> & {
  secret?: string
}

const LOCKED_RETRY_MS = 50

export const newDestinationId = (): string => uuidv7()

export async function addDestination(
  sql: Queryable,
  destination: Omit<Destination, 'active' | 'createdAt'> & { secret: string },
): Promise<void> {
  const { id, businessId, kind, name, types, settings, secret } = destination
  await sql`
    with business as (
      update businesses set config_version = config_version + 1 where id = ${businessId} returning id
    )
    insert into destinations (business_id, id, kind, name, types, click_ids, settings, secret)
    select id, ${id}, ${kind}, ${name}, ${listOf(types)}::text[], ${listOf(clickIdsOf(kind, settings))}::text[],
      ${JSON.stringify(settings)}::text::jsonb, ${secret} from business`
}

/**
 * Changes the named fields. Returns false, and changes nothing, when the settings are no longer those of `before`: `change` has
 * complete settings, and would undo another change of them.
 */
export async function updateDestination(
  sql: Queryable,
  before: Destination,
  change: DestinationChange,
): Promise<boolean> {
  const { name = null, types = null, settings = before.settings, active = null, secret = null } = change
  const { count } = await sql`
    with business as (
      update businesses set config_version = config_version + 1 where id = ${before.businessId} returning id
    )
    update destinations d set
      name = coalesce(${name}, d.name), types = coalesce(${listOf(types)}::text[], d.types),
      settings = ${JSON.stringify(settings)}::text::jsonb,
      click_ids = ${listOf(clickIdsOf(before.kind, settings))}::text[], active = coalesce(${active}, d.active),
      secret = coalesce(${secret}, d.secret), held_until = '-infinity'
    from business where d.business_id = business.id and d.id = ${before.id}
      and d.settings = ${JSON.stringify(before.settings)}::text::jsonb`
  return count === 1
}

/**
 * Removes a destination with its queued conversions and its history. First it stops queueing and deletes the deliveries in
 * chunks, because the last statement blocks the saves of the business. `report` is called with the number of deleted
 * conversions.
 */
export async function removeDestination(
  sql: Sql,
  destination: Destination,
  report?: (soFar: number) => void,
): Promise<void> {
  const { businessId, id } = destination
  const raised = () =>
    sql`update businesses set config_version = config_version + 1 where id = ${businessId} returning id`
  await sql`
    with business as (${raised()})
    update destinations d set active = false from business where d.business_id = business.id and d.id = ${id}`
  await dropAll(sql, destination, report)
  await sql`
    with business as (${raised()})
    delete from destinations d using business where d.business_id = business.id and d.id = ${id}`
}

/**
 * Waits without any lock for deliveries that a sender, a merge or an erasure has locked. Deleting the destination would wait for
 * them with the destination locked. The sender may be about to update that destination, so this would be a deadlock.
 */
async function dropAll(sql: Sql, { businessId, id }: Destination, report?: (soFar: number) => void): Promise<void> {
  const all = sql`business_id = ${businessId} and destination_id = ${id}`
  for (;;) {
    await runInChunks(
      () => sql`
        with step as materialized (
          select business_id, id from deliveries where ${all} limit ${CHUNK_ROWS} for update skip locked
        )
        delete from deliveries d using step where d.business_id = step.business_id and d.id = step.id`,
      report,
    )
    const left = await sql`select from deliveries where ${all} limit 1`
    if (left.length === 0) return
    await sleep(LOCKED_RETRY_MS)
  }
}

/** The destinations of one business, or of all, oldest first. */
export async function listDestinations(sql: Sql, businessId?: string): Promise<Destination[]> {
  return sql<Destination[]>`
    select ${columns(sql)} from destinations
    ${businessId === undefined ? sql`` : sql`where business_id = ${businessId}`} order by id`
}

/** A destination with its sealed secret; undefined when it does not exist. */
export async function findDestination(
  sql: Queryable,
  id: string,
): Promise<(Destination & { secret: string }) | undefined> {
  const [found] = await sql<(Destination & { secret: string })[]>`
    select ${columns(sql)}, secret from destinations where id = ${id}`
  return found
}

const columns = (sql: Queryable) => sql`
  id, business_id as "businessId", kind, name, to_json(types) as types, settings, active, created_at as "createdAt"`

/** An array literal of Postgres, because the driver does not know the types. Only for plain words, without quoting. */
const listOf = (words: readonly string[] | null) => words && `{${words.join(',')}}`
