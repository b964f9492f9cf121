import type { Sql } from '../../stores/postgres.ts'
import type { Difference } from './difference.ts'
import type { Slice } from './facts.ts'

/** Whatever belongs to a contact belongs to one that lives: a merge hands all of it to the survivor. */
const BELONGINGS = [
  'identities',
  'event_statistics',
  'revenue',
  'subscriptions',
  'visitors',
  'contact_visitors',
  'visitor_links',
  'identifications',
  'enrolments',
  'deliveries',
  'removed_tags',
]

const RULES: Record<string, string> = {
  stray: 'belongs to a contact that is not there, or was merged',
  survivor: 'was merged into a contact that is not there, or was merged itself',
  emptied: 'was merged and still holds something',
  unlogged: 'was merged, and the merge log does not say so',
  erased: 'was erased and is there',
  statistic: 'counts less than one, or its first is after its last',
}

/** Of each rule, in a slice. */
const MOST = 100

interface Broken {
  rule: string
  contact_id: string
  name: string
}

/**
 * What must hold within Postgres, of the contacts of a slice. One statement is one instant: nothing is half-way in it.
 * \`not in\` is answered from a hash whatever the statistics say; a join would compare each with each while they say few.
 */
export async function checkPostgres(sql: Sql, { businessId, after, upTo }: Slice): Promise<Difference[]> {
  const inSlice = (column: string) =>
    sql`business_id = ${businessId} and ${sql(column)} > ${after} and ${sql(column)} <= ${upTo}`
  const strays = BELONGINGS.map(
    (table) => sql`
      (select 'stray' as rule, b.contact_id, ${table}::text as name from ${sql(table)} b
      where ${inSlice('contact_id')} and b.contact_id not in (select id from lives) limit ${MOST})
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
    ) limit ${MOST})
    union all
    (select 'emptied', m.id, '' from merged m where m.holds limit ${MOST})
    union all
    (select 'unlogged', m.id, '' from merged m where not exists (
      select from merge_log l where l.business_id = ${businessId} and l.losing_id = m.id and l.action = 'merged'
    ) limit ${MOST})
    union all
    (select 'erased', t.id, '' from theirs t where exists (
      select from erasures where ${inSlice('contact_id')} and contact_id = t.id
    ) limit ${MOST})
    union all
    (select 'statistic', contact_id, event from event_statistics
    where ${inSlice('contact_id')} and (count < 1 or first_at > last_at) limit ${MOST})`
  return broken.map(({ rule, contact_id, name }) => ({
    kind: 'postgres',
    businessId,
    contactId: contact_id,
    name: name || rule,
    postgres: RULES[rule] ?? rule,
    clickhouse: null,
    note: '',
  }))
}
