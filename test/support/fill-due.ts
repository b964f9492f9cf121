/** Writes many due enrolments at once. */
import type { Sql } from '../../src/stores/postgres.ts'

export interface FilledCampaign {
  businessId: string
  campaignId: string
  /** The step of all enrolments, in version 1. */
  step: string
  many: number
  /** When the first enrolment is due, in epoch milliseconds. The others follow at intervals of `everyMs`. */
  dueAt: number
  everyMs?: number
}

/** Contacts in one statement: on a busy machine, Postgres needs seconds for them. */
const CHUNK = 10_000

/** Creates new contacts with an email address and an opt-in to email, and enrols them. */
export async function fillDue(sql: Sql, { everyMs = 0, ...filled }: FilledCampaign): Promise<void> {
  for (let done = 0; done < filled.many; done += CHUNK)
    await fillChunk(sql, {
      ...filled,
      everyMs,
      many: Math.min(CHUNK, filled.many - done),
      dueAt: filled.dueAt + done * everyMs,
    })
}

async function fillChunk(sql: Sql, filled: Required<FilledCampaign>): Promise<void> {
  const { businessId, campaignId, step, many, dueAt, everyMs } = filled
  await sql`
    with made as materialized (
      select gen_random_uuid() as id, gen_random_uuid() as enrolment_id, n from generate_series(1, ${many}::integer) n
    ), persons as (
      insert into contacts (business_id, id, created_at, keyed, first_name)
      select ${businessId}::uuid, id, ${dueAt}::bigint, true, 'Ann' from made
    ), identified as (
      insert into identities (business_id, kind, value, contact_id, proven, phone_read)
      select ${businessId}::uuid, 'email', id || '@x.io', id, true, false from made
    ), subscribed as (
      insert into subscriptions (business_id, contact_id, channel, subscribed, method, recorded_at)
      select ${businessId}::uuid, id, 'email', true, 'form', ${dueAt}::bigint from made
    ), enrolled as (
      insert into enrolments (business_id, id, campaign_id, contact_id, state, enrolled_at, received_at, version)
      select ${businessId}::uuid, enrolment_id, ${campaignId}::uuid, id, 'active', ${dueAt}::bigint, ${dueAt}::bigint, 1 from made
    )
    insert into due_steps (business_id, enrolment_id, contact_id, campaign_id, version, step, began_at, due_at)
    select ${businessId}::uuid, enrolment_id, id, ${campaignId}::uuid, 1, ${step}, ${dueAt}::bigint,
      ${dueAt}::bigint + (n - 1) * ${everyMs}::bigint
    from made`
}
