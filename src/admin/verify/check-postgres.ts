import type { Sql } from '../../stores/postgres.ts'
import { type Difference, differenceOf, type Slice } from './kind.ts'

/**
 * Tables whose rows must belong to an existing, unmerged contact, because a merge moves all of them to the survivor.
 */
const CONTACT_TABLES = [
  'identities',
  'event_statistics',
  'revenue',
  'subscriptions',
  'consent_history',
  'topic_choices',
  'topic_history',
  'visitors',
  'contact_visitors',
  'visitor_links',
  'identifications',
  'enrolments',
  'goal_times',
  'due_steps',
  'chain_refusals',
  'confirmations',
  'messages',
  'deliveries',
  'removed_tags',
  'segment_members',
]

const RULES: Record<string, string> = {
  stray: 'belongs to a contact that does not exist or was merged',
  survivor: 'was merged into a contact that does not exist or was merged itself',
  emptied: 'was merged, but still has data',
  unlogged: 'was merged, but is not in the merge log',
  erased: 'was erased, but still exists',
  statistic: 'has a count below one, or a first time after the last time',
}

/** Maximum number of violations to list per rule in a slice. */
const MAX_PER_RULE = 100

interface Broken {
  rule: string
  contact_id: string
  name: string
}

/**
 * Checks the rules within Postgres for the contacts of a slice. One statement sees one instant, so no change is half
 * done. `not in` always uses a hash; a join could become a nested loop while the statistics show few rows.
 */
export async function checkPostgres(sql: Sql, { businessId, after, upTo }: Slice): Promise<Difference[]> {
  const inSlice = (column: string) =>
    sql`business_id = ${businessId} and ${sql(column)} > ${after} and ${sql(column)} <= ${upTo}`
  const strays = CONTACT_TABLES.map(
    (table) => sql`
      (select 'stray' as rule, b.contact_id, ${table}::text as name from ${sql(table)} b
      where ${inSlice('contact_id')} and b.contact_id not in (select id from lives) limit ${MAX_PER_RULE})
      union all`,
  )
  const broken = await sql<Broken[]>`
    with theirs as materialized (
      select id, merged_into, order_count <> 0 or tags <> '{}' or traits <> '{}' as holds
      from contacts where ${inSlice('id')}
    ),
    lives as materialized (select id from theirs where merged_into is null),
    merged as materialized (select id, merged_into, holds from theirs where merged_into is not null)
    ${strays}
    (select 'survivor', m.id, m.merged_into::text from merged m where not exists (
      select from contacts s where s.business_id = ${businessId} and s.id = m.merged_into and s.merged_into is null
    ) limit ${MAX_PER_RULE})
    union all
    (select 'emptied', m.id, '' from merged m where m.holds limit ${MAX_PER_RULE})
    union all
    (select 'unlogged', m.id, '' from merged m where not exists (
      select from merge_log l where l.business_id = ${businessId} and l.losing_id = m.id and l.action = 'merged'
    ) limit ${MAX_PER_RULE})
    union all
    (select 'erased', t.id, '' from theirs t where exists (
      select from erasures where ${inSlice('contact_id')} and contact_id = t.id
    ) limit ${MAX_PER_RULE})
    union all
    (select 'statistic', contact_id, event from event_statistics
    where ${inSlice('contact_id')} and (count < 1 or first_at > last_at) limit ${MAX_PER_RULE})`
  return broken.map(({ rule, contact_id, name }) =>
    differenceOf('postgres', { businessId, contactId: contact_id, name: name || rule, postgres: RULES[rule] ?? rule }),
  )
}
