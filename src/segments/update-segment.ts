import { isDeepStrictEqual } from 'node:util'
import { recordAudit } from '../accounts/audit.ts'
import { readRule } from '../rules/segments/read-rule.ts'
import type { Rule } from '../rules/segments/rule.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { type Change, type SaveRefusal, requireSegment } from './create-segment.ts'
import { MAX_CONDITIONS, countConditions } from './limits.ts'
import { readSegment } from './list-segments.ts'
import { type Definitions, loadDefinitions, lockBusiness, rulesOf } from './load-definitions.ts'
import { rebuildRules } from './rebuild-rules.ts'
import type { Segment } from './segment.ts'

/** What is absent stays. */
export interface SegmentChange {
  name?: string
  /** Null: none. */
  description?: string | null
  /** As it was sent. */
  rule?: unknown
}

type UpdateOutcome = { kind: 'updated'; segment: Segment } | { kind: 'not_found' } | SaveRefusal

/**
 * Of two changes at the same time, the later one holds. With another rule, the members stay those of the former until the new one
 * was computed for every contact; rules that name the segment follow. What equals the present value is not changed.
 */
export async function updateSegment(
  sql: Sql,
  { businessId, actor }: Change,
  { segmentId, ...wanted }: SegmentChange & { segmentId: string },
): Promise<UpdateOutcome> {
  return await sql.begin(async (tx) => {
    await lockBusiness(tx, businessId)
    const before = await readSegment(tx, businessId, segmentId)
    if (before === null) return { kind: 'not_found' }
    const isSame = wanted.rule === undefined || isEqual(before.rule, wanted.rule)
    const read = isSame ? null : await readNewRule(tx, businessId, segmentId, wanted.rule)
    if (read !== null && 'kind' in read) return read
    const { name = before.name, description = before.description } = wanted
    const next = { name, description, rule: read?.rule ?? before.rule }
    const fields = await store(tx, { businessId, segmentId }, before, next)
    if (fields.includes('rule')) await rebuildRules(tx, businessId)
    const entry = { businessId, actor, action: 'segment.update', target: segmentId }
    if (fields.length > 0) await recordAudit(tx, { ...entry, details: { fields } })
    return { kind: 'updated', segment: await requireSegment(tx, businessId, segmentId) }
  })
}

/** An equal rule is not checked again: since then, a custom field may have come with a type that it was not written for. */
const isEqual = (rule: Rule, sent: unknown): boolean => isDeepStrictEqual(rule, sent)

async function readNewRule(
  tx: Queryable,
  businessId: string,
  segmentId: string,
  sent: unknown,
): Promise<{ rule: Rule } | SaveRefusal> {
  const definitions = await loadDefinitions(tx, businessId)
  const read = readRule(sent, { fields: definitions.fields, segments: rulesOf(definitions), self: segmentId })
  if ('faults' in read) return { kind: 'faults', faults: read.faults }
  const total = countConditions([...rulesOfOthers(definitions, segmentId), read.rule])
  return total > MAX_CONDITIONS ? { kind: 'too_many_conditions' } : read
}

const rulesOfOthers = ({ segments }: Definitions, segmentId: string): Rule[] =>
  segments.filter(({ id }) => id !== segmentId).map(({ rule }) => rule)

type Stored = Pick<Segment, 'name' | 'description' | 'rule'>

/** Returns the names of the fields that have changed. Postgres compares rules whatever the order of their words. */
async function store(
  tx: Queryable,
  { businessId, segmentId }: { businessId: string; segmentId: string },
  before: Stored,
  next: Stored,
): Promise<string[]> {
  const rule = JSON.stringify(next.rule)
  const [{ isOther }] = await tx<[{ isOther: boolean }]>`
    select rule <> ${rule}::text::jsonb as "isOther" from segments where business_id = ${businessId} and id = ${segmentId}`
  const plain = (['name', 'description'] as const).filter((field) => next[field] !== before[field])
  const fields = [...plain, ...(isOther ? ['rule'] : [])]
  if (fields.length === 0) return fields
  await tx`
    update segments set name = ${next.name}, description = ${next.description}, rule = ${rule}::text::jsonb,
      version = version + ${isOther ? 1 : 0}::integer, updated_at = clock_timestamp()
    where business_id = ${businessId} and id = ${segmentId}`
  return fields
}
