/**
 * Stores the comparisons of the stores that operators start. They are in Postgres: any front door may run one, and all
 * of them show it.
 */
import { uuidv7 } from 'uuidv7'
import { type Actor, recordAudit } from '../audit/audit.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { type Transaction, inTransaction } from '../stores/transaction.ts'

/** Seconds without a report after which a run is considered lost: the front door that ran it is gone. */
const LOST_SECONDS = 60
const MAX_KEPT = 20

export interface VerifyProgress {
  contacts: number
  totalContacts: number
  activity: string
}

/** A summary of the output of `admin verify --json`. */
export interface VerifySummary {
  /** Null when the stores, or parts of them, could not be compared. */
  agree: boolean | null
  /** Why they could not be compared at all. */
  reason: string | null
  businesses: number
  contacts: number
  visitors: number
  /** Contacts and visitors that kept changing during the comparison. */
  notCompared: number
  /** Parts of businesses that could not be compared. */
  uncompared: number
  /** Number of differences by kind. */
  found: Record<string, number>
}

export interface VerifyRun extends VerifyProgress {
  startedBy: string
  startedAt: Date
  isStopping: boolean
  /** Null while it runs. */
  endedAt: Date | null
  result: VerifySummary | null
}

export const withoutResult = (reason: string): VerifySummary => ({
  agree: null,
  reason,
  businesses: 0,
  contacts: 0,
  visitors: 0,
  notCompared: 0,
  uncompared: 0,
  found: {},
})

const LOST = withoutResult('The front door that compared them has ended.')

/** Returns the id of the new run, or null while another one runs: the database allows one at a time. */
export async function beginRun(sql: Sql, actor: Actor): Promise<string | null> {
  return inTransaction(sql, async (tx) => {
    const id = await insertRun(tx, actor.name)
    if (id !== null) await recordAudit(tx, { businessId: null, actor, action: 'stores.verify', target: id })
    return id
  })
}

async function insertRun(tx: Transaction, startedBy: string): Promise<string | null> {
  await tx`
    update verify_runs set ended_at = reported_at, result = ${JSON.stringify(LOST)}::text::jsonb
    where ended_at is null and reported_at < now() - ${`${LOST_SECONDS} seconds`}::interval`
  const [begun] = await tx<{ id: string }[]>`
    insert into verify_runs (id, started_by) values (${uuidv7()}, ${startedBy}) on conflict do nothing returning id`
  if (begun === undefined) return null
  await tx`delete from verify_runs where id in (select id from verify_runs order by id desc offset ${MAX_KEPT})`
  return begun.id
}

/** Returns whether the run should continue: not when an operator stopped it, or it was considered lost. */
export async function reportRun(
  sql: Queryable,
  id: string,
  { contacts, totalContacts, activity }: VerifyProgress,
): Promise<boolean> {
  const [run] = await sql<{ isStopping: boolean }[]>`
    update verify_runs
    set reported_at = now(), contacts = ${contacts}, total_contacts = ${totalContacts}, activity = ${activity}
    where id = ${id} and ended_at is null returning is_stopping as "isStopping"`
  return run?.isStopping === false
}

export async function endRun(sql: Queryable, id: string, result: VerifySummary): Promise<void> {
  await sql`
    update verify_runs set ended_at = now(), result = ${JSON.stringify(result)}::text::jsonb
    where id = ${id} and ended_at is null`
}

/**
 * Stops the running comparison. Its front door sees this with its next report. Returns the id of the run, or null when
 * none runs.
 */
export async function stopRun(sql: Sql, actor: Actor): Promise<string | null> {
  return inTransaction(sql, async (tx) => {
    const [running] = await tx<{ id: string }[]>`select id from verify_runs where ended_at is null`
    if (running === undefined) return null
    const { id } = running
    const { count } = await tx`
      update verify_runs set is_stopping = true where id = ${id} and ended_at is null and not is_stopping`
    if (count > 0) await recordAudit(tx, { businessId: null, actor, action: 'stores.verify-stop', target: id })
    return id
  })
}

/** Returns the current run, and the latest one that has ended. */
export async function readRuns(sql: Queryable): Promise<{ running: VerifyRun | null; last: VerifyRun | null }> {
  const runs = await sql<(VerifyRun & { reportedAt: Date; isLost: boolean })[]>`
    select started_by as "startedBy", started_at as "startedAt", contacts, total_contacts as "totalContacts", activity,
      is_stopping as "isStopping", ended_at as "endedAt", result, reported_at as "reportedAt",
      ended_at is null and reported_at < now() - ${`${LOST_SECONDS} seconds`}::interval as "isLost"
    from verify_runs order by id desc limit 2`
  const [newest] = runs
  const running = newest !== undefined && newest.endedAt === null && !newest.isLost ? newest : null
  const last = runs.find((run) => run !== running)
  return {
    running,
    last: last === undefined ? null : last.isLost ? { ...last, endedAt: last.reportedAt, result: LOST } : last,
  }
}
