/** Destinations in Postgres. Every change raises the version of the business's configuration: what is recorded later sees it. */
import { uuidv7 } from 'uuidv7'
import { CHUNK_ROWS, runInChunks } from '../stores/run-in-chunks.ts'
import type { ConversionType } from '../rules/events/facts.ts'
import type { Sql } from '../stores/postgres.ts'
import { sleep } from '../async/sleep.ts'
import { type DestinationKind, clickIdsOf } from './settings.ts'

/** Its secret stays in Postgres. */
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

const IN_HANDS_MS = 50

export const newDestinationId = (): string => uuidv7()

/** Of any business, active or not. */
export async function hasDestination(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ found: boolean }]>`select exists (select from destinations) as found`
  return row.found
}

export async function addDestination(
  sql: Sql,
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
 * What is not named stays as it is. False, and nothing is changed, when the settings are no longer those that were read
 * `before`: a change of them is made from the whole, and would undo another one.
 */
export async function updateDestination(sql: Sql, before: Destination, change: DestinationChange): Promise<boolean> {
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
 * With all that waits for it, and what is remembered of it: first nothing more is queued, and little is left for the one
 * statement that keeps the business's saves waiting. `report` hears how many conversions have gone.
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
 * What a sender, a merge or an erasure has in its hands is waited for with nothing locked. The deletion of the destination
 * would wait for it too, but with the destination locked, which the sender may be about to hold back: a deadlock.
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
    await sleep(IN_HANDS_MS)
  }
}

/** Oldest first; of one business, or of all. */
export async function listDestinations(sql: Sql, businessId?: string): Promise<Destination[]> {
  return sql<Destination[]>`
    select ${columns(sql)} from destinations
    ${businessId === undefined ? sql`` : sql`where business_id = ${businessId}`} order by id`
}

/** With its sealed secret. Undefined when there is none of this id. */
export async function findDestination(sql: Sql, id: string): Promise<(Destination & { secret: string }) | undefined> {
  const [found] = await sql<(Destination & { secret: string })[]>`
    select ${columns(sql)}, secret from destinations where id = ${id}`
  return found
}

const columns = (sql: Sql) => sql`
  id, business_id as "businessId", kind, name, to_json(types) as types, settings, active, created_at as "createdAt"`

/** The driver is told no types: a list is written as Postgres reads it (words alone). */
const listOf = (words: readonly string[] | null) => words && `{${words.join(',')}}`
