/** The audit log: every change to settings, people and contacts, with its actor. */
import type { Queryable } from '../stores/postgres.ts'

export const AUDIT_KEEP_DAYS = 400

/** The user, key or command that makes a change. */
export interface Actor {
  kind: 'user' | 'key' | 'command'
  /** The id of the user or the key; for a command, the name of the operating system user. */
  id: string
  /** The email of the user, or the last characters of the key. */
  name: string
}

/** A person with an account. */
export type PersonActor = Actor & { kind: 'user' }

/** The business that is changed, and who changes it. */
export interface Change {
  businessId: string
  actor: Actor
}

export interface AuditEntry {
  /** Null for a change to the installation. */
  businessId: string | null
  actor: Actor
  /** Such as `key.create`. */
  action: string
  /** The id of the changed object. */
  target: string | null
  /** Names of fields and ids; never personal data of contacts. */
  details?: Record<string, unknown>
}

/** Records a change. If the change has a transaction, call it in that transaction. */
export async function recordAudit(sql: Queryable, entry: AuditEntry): Promise<void> {
  await recordAttempt(sql, entry)
}

/** Records something before it is tried. Returns the id of the entry. */
export async function recordAttempt(sql: Queryable, entry: AuditEntry): Promise<number> {
  const { businessId, actor, action, target, details = {} } = entry
  const [{ id }] = await sql<[{ id: number }]>`
    insert into audit_log (business_id, actor_kind, actor_id, actor_name, action, target, details)
    values (${businessId}, ${actor.kind}, ${actor.id}, ${actor.name}, ${action}, ${target}, ${JSON.stringify(details)}::text::jsonb)
    returning id`
  return id
}

/** Adds the outcome of an attempt to its entry. */
export async function recordOutcome(sql: Queryable, id: number, outcome: string): Promise<void> {
  await sql`update audit_log set details = details || ${JSON.stringify({ outcome })}::text::jsonb where id = ${id}`
}

/**
 * Records a change to a contact. A key may make thousands of changes a minute, so the changes of a key are counted: one
 * row per action and hour, with the last target.
 */
export async function recordContactAudit(sql: Queryable, entry: AuditEntry): Promise<void> {
  if (entry.actor.kind !== 'key') return recordAudit(sql, entry)
  const { businessId, actor, action, target, details = {} } = entry
  await sql`
    insert into audit_log (business_id, actor_kind, actor_id, actor_name, action, target, details, hour)
    values (${businessId}, ${actor.kind}, ${actor.id}, ${actor.name}, ${action}, ${target},
      ${JSON.stringify(details)}::text::jsonb, date_trunc('hour', now()))
    on conflict (business_id, actor_id, action, hour) where hour is not null
    do update set times = audit_log.times + 1, target = excluded.target, details = excluded.details, at = now()`
}

export interface AuditRow {
  id: number
  at: Date
  actorKind: Actor['kind']
  actorId: string
  actorName: string
  action: string
  target: string | null
  /** The email of the changed user; null when the target is not a user, or not one whom the readers of this log may know. */
  targetEmail: string | null
  details: Record<string, unknown>
  times: number
}

/**
 * Lists the entries, newest first. `before`: the page contains only smaller ids; null for the first page. The log of a
 * business names its members only.
 */
export async function listAudit(
  sql: Queryable,
  { businessId, before, limit }: { businessId: string | null; before: number | null; limit: number },
): Promise<AuditRow[]> {
  return sql<AuditRow[]>`
    with page as materialized (
      select id, at, actor_kind as "actorKind", actor_id as "actorId", actor_name as "actorName", action, target, details, times
      from audit_log
      where business_id is not distinct from ${businessId}::uuid and id < ${before ?? Number.MAX_SAFE_INTEGER}
      order by id desc limit ${limit}
    )
    select page.*, known.email as "targetEmail"
    from page left join (
      select u.id::text as id, u.email from users u
      where ${businessId}::uuid is null
        or exists (select from memberships m where m.business_id = ${businessId}::uuid and m.user_id = u.id)
    ) known on known.id = page.target
    order by page.id desc`
}

/** Deletes up to 5,000 entries that are too old. Resolves with their number. */
export async function purgeAudit(sql: Queryable): Promise<number> {
  const { count } = await sql`
    delete from audit_log where id in (
      select id from audit_log where at < now() - ${`${AUDIT_KEEP_DAYS} days`}::interval order by at limit 5000)`
  return count
}
