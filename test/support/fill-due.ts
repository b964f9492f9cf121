/** Many enrolments that are due, written at once. */
import type { Sql } from '../../src/stores/postgres.ts'

export interface FilledCampaign {
  businessId: string
  campaignId: string
  /** The step that they are at; of the first version. */
  step: string
  many: number
  /** Epoch ms; those of the others follow each `everyMs`. */
  dueAt: number
  everyMs?: number
}

/** Of new contacts, who have an email address and have opted in to email. */
export async function fillDue(sql: Sql, { everyMs = 0, ...filled }: FilledCampaign): Promise<void> {
  const { businessId, campaignId, step, many, dueAt } = filled
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
