/** Segments that are put in force at once, as the worker leaves them, and their members and changes. */
import { uuidv7 } from 'uuidv7'
import { resolveRule } from '../../src/rules/segments/resolve-rule.ts'
import type { Rule } from '../../src/rules/segments/rule.ts'
import type { Sql } from '../../src/stores/postgres.ts'

export interface TestSegment {
  segmentId: string
  no: number
}

/** Inserts a rule in force, or one that is being built. No contact should match it yet. */
export async function insertSegment(
  sql: Sql,
  businessId: string,
  rule: Rule,
  state: 'current' | 'building' = 'current',
  segmentId = uuidv7(),
): Promise<TestSegment> {
  const resolved = resolveRule(rule, { segments: new Map(), currency: 'USD', country: null })
  const [row] = await sql<[{ no: number }]>`
    with segment as (
      insert into segments (business_id, id, name, rule) values (${businessId}, ${segmentId}, 'A segment', ${JSON.stringify(rule)}::text::jsonb)
      on conflict do nothing
    ), seen as (
      update businesses set config_version = config_version + 1 where id = ${businessId}
    )
    insert into segment_rules (business_id, no, segment_id, version, rule, state)
    values (${businessId}, nextval('segment_rule_numbers'), ${segmentId}, 1, ${JSON.stringify(resolved)}::text::jsonb, ${state})
    returning no`
  return { segmentId, no: row.no }
}

export interface Member {
  contactId: string
  since: number
  cause: string
}

export const membersOf = (sql: Sql, businessId: string, { no }: TestSegment) => sql<Member[]>`
  select contact_id as "contactId", since, cause from segment_members
  where business_id = ${businessId} and segment_no = ${no} order by since, contact_id`

export async function sizeOf(sql: Sql, businessId: string, { no }: TestSegment): Promise<number> {
  const [row] = await sql<[{ size: number }]>`
    select coalesce(sum(members), 0)::int as size from segment_sizes where business_id = ${businessId} and segment_no = ${no}`
  return row.size
}

export interface Change {
  contactId: string
  entered: boolean
  at: number
  cause: string
}

/** Returns changes in the order in which they were saved. */
export async function changesOf(sql: Sql, businessId: string, { segmentId }: TestSegment): Promise<Change[]> {
  const rows = await sql<{ lines: string }[]>`
    select segment_changes as lines from outbox where segment_changes is not null order by id`
  return rows
    .flatMap(({ lines }) => lines.split('\n').map((line) => JSON.parse(line) as Record<string, string | number>))
    .filter((line) => line['business_id'] === businessId && line['segment_id'] === segmentId)
    .map((line) => ({
      contactId: String(line['contact_id']),
      entered: line['entered'] === 1,
      at: Number(line['at_ms']),
      cause: String(line['cause']),
    }))
}
