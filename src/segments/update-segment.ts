import { isDeepStrictEqual } from 'node:util'
import { type Change, recordAudit } from '../audit/audit.ts'
import { readRule } from '../rules/segments/reading/read-rule.ts'
import type { Rule } from '../rules/segments/rule.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { type SaveRefusal, requireSegment } from './create-segment.ts'
import { MAX_CONDITIONS, countConditions } from './limits.ts'
import { readSegment } from './list-segments.ts'
import { type Definitions, loadDefinitions, lockBusiness, rulesOf } from './load-definitions.ts'
import { rebuildRules } from './rebuild-rules.ts'
import type { Segment } from './segment.ts'

/** Absent fields stay unchanged. */
export interface SegmentChange {
  name?: string
  /** Null: no description. */
  description?: string | null
  /** The rule as it was sent. */
  rule?: unknown
}

type UpdateOutcome = { kind: 'updated'; segment: Segment } | { kind: 'not_found' } | SaveRefusal

/**
 * Changes a segment. Of two changes at the same time, the later one wins. After a rule change, the members stay those
 * of the former rule until the new one has been evaluated for every contact. Rules that name the segment follow. Values
 * that equal the present ones change nothing.
 */
export async function updateSegment(
  sql: Sql,
  { businessId, actor }: Change,
  { segmentId, ...wanted }: SegmentChange & { segmentId: string },
): Promise<UpdateOutcome> {
  return await inTransaction(sql, async (tx) => {
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

/**
 * An equal rule is not checked again: a custom field may meanwhile have been created with a type that the rule does not
 * expect.
 */
const isEqual = (rule: Rule, sent: unknown): boolean => isDeepStrictEqual(rule, sent)

async function readNewRule(
  tx: Queryable,
  businessId: string,
  segmentId: string,
  sent: unknown,
): Promise<{ rule: Rule } | SaveRefusal> {
  const definitions = await loadDefinitions(tx, businessId)
  const read = readRule(sent, {
    fields: definitions.fields,
    segments: rulesOf(definitions),
    topics: definitions.topics,
    self: segmentId,
  })
  if ('faults' in read) return { kind: 'faults', faults: read.faults }
  const total = countConditions([...rulesOfOthers(definitions, segmentId), read.rule])
  return total > MAX_CONDITIONS ? { kind: 'too_many_conditions' } : read
}

const rulesOfOthers = ({ segments }: Definitions, segmentId: string): Rule[] =>
  segments.filter(({ id }) => id !== segmentId).map(({ rule }) => rule)

type Stored = Pick<Segment, 'name' | 'description' | 'rule'>

/** Returns the names of the changed fields. Postgres compares rules without regard to the order of keys. */
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
