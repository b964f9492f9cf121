/** Reads a business's people from Postgres, in a form that does not depend on ids or on the order of arrival. */
import type { Sql } from '../../src/stores/postgres.ts'

export interface Person {
  identities: string[]
  stage: number
  orders: number
  tags: string[]
  traits: Record<string, [number, string | null]>
  events: Record<string, [firstAt: number, lastAt: number, count: number]>
  revenue: Record<string, string>
}

export async function readPeople(sql: Sql, businessId: string): Promise<Person[]> {
  const rows = await sql<{ person: Person }[]>`
    select json_build_object(
      'identities', (select coalesce(json_agg(i.kind || ':' || i.value order by i.kind, i.value), '[]') from identities i
        where i.business_id = c.business_id and i.contact_id = c.id),
      'stage', c.stage, 'orders', c.order_count,
      'tags', (select coalesce(json_agg(t order by t collate "C"), '[]') from unnest(c.tags) t),
      'traits', (select coalesce(json_object_agg(t.key, t.value order by t.key), '{}') from jsonb_each(c.traits) t),
      'events', (select coalesce(json_object_agg(s.event, json_build_array(s.first_at, s.last_at, s.count) order by s.event), '{}')
        from event_statistics s where s.business_id = c.business_id and s.contact_id = c.id),
      'revenue', (select coalesce(json_object_agg(r.currency, trim_scale(r.amount)::text order by r.currency), '{}')
        from revenue r where r.business_id = c.business_id and r.contact_id = c.id)
    ) as person
    from contacts c where c.business_id = ${businessId} and c.merged_into is null`
  return rows.map((row) => row.person).sort(byIdentities)
}

export const byIdentities = (a: Person, b: Person): number => (a.identities.join(' ') < b.identities.join(' ') ? -1 : 1)
