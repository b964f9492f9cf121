/** What is needed to read and resolve rules. */
import type { FieldType } from '../rules/events/facts.ts'
import type { Rule } from '../rules/segments/rule.ts'
import type { TopicRules } from '../rules/topics/topic.ts'
import type { Queryable } from '../stores/postgres.ts'

export interface Definitions {
  /** Default currency of the business, upper-cased. */
  currency: string
  country: string | null
  /** Custom fields. */
  fields: ReadonlyMap<string, FieldType>
  segments: readonly Definition[]
  /** By key, with archived ones. */
  topics: ReadonlyMap<string, TopicRules>
}

export interface Definition {
  id: string
  name: string
  version: number
  /** The rule as it was last written. */
  rule: Rule
}

/**
 * Waits until all saves and segment changes under way have ended, and blocks later ones until the transaction ends.
 * Call it before anything is read or locked.
 */
export async function lockBusiness(tx: Queryable, businessId: string): Promise<void> {
  await tx`select from businesses where id = ${businessId} for no key update`
}

interface StoredDefinitions {
  fields: { key: string; type: FieldType }[]
  topics: Record<string, TopicRules> | null
}

/** Loads the definitions as of one instant. */
export async function loadDefinitions(sql: Queryable, businessId: string): Promise<Definitions> {
  const [row] = await sql<(Omit<Definitions, 'fields' | 'topics'> & StoredDefinitions)[]>`
    select upper(b.currency) as currency, b.country,
      (select coalesce(json_agg(json_build_object('key', f.key, 'type', f.type)), '[]')
        from custom_fields f where f.business_id = b.id) as fields,
      (select coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'version', s.version, 'rule', s.rule)
          order by s.created_at, s.id), '[]')
        from segments s where s.business_id = b.id) as segments,
      case when b.has_topics then (
        select json_object_agg(t.key, json_build_object('channels', t.channels, 'defaultOn', t.default_on,
          'isActive', not t.archived))
        from topics t where t.business_id = b.id
      ) end as topics
    from businesses b where b.id = ${businessId}`
  if (row === undefined) throw new Error(`there is no business ${businessId}`)
  return { ...row, fields: toMap(row.fields), topics: new Map(Object.entries(row.topics ?? {})) }
}

export async function listFieldTypes(sql: Queryable, businessId: string): Promise<ReadonlyMap<string, FieldType>> {
  return toMap(
    await sql<{ key: string; type: FieldType }[]>`
      select key, type from custom_fields where business_id = ${businessId}`,
  )
}

const toMap = (fields: { key: string; type: FieldType }[]) => new Map(fields.map(({ key, type }) => [key, type]))

/** Returns the rules by segment id. */
export const rulesOf = ({ segments }: Pick<Definitions, 'segments'>): ReadonlyMap<string, Rule> =>
  new Map(segments.map(({ id, rule }) => [id, rule]))
