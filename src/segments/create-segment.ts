import { uuidv7 } from 'uuidv7'
import { type Change, recordAudit } from '../audit/audit.ts'
import type { Fault } from '../rules/faults.ts'
import { readRule } from '../rules/segments/reading/read-rule.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { MAX_CONDITIONS, MAX_SEGMENTS, countConditions } from './limits.ts'
import { readSegment } from './list-segments.ts'
import { loadDefinitions, lockBusiness, rulesOf } from './load-definitions.ts'
import { rebuildRules } from './rebuild-rules.ts'
import type { Segment } from './segment.ts'

export interface NewSegment {
  name: string
  description: string | null
  /** The rule as it was sent. */
  rule: unknown
}

export type SaveRefusal = { kind: 'faults'; faults: Fault[] } | { kind: 'too_many_segments' | 'too_many_conditions' }

type CreateOutcome = { kind: 'created'; segment: Segment } | SaveRefusal

/** Creates a segment. It has no members until its rule has been evaluated for every contact. */
export const createSegment = (sql: Sql, change: Change, segment: NewSegment): Promise<CreateOutcome> =>
  inTransaction(sql, (tx) => insertSegment(tx, change, segment))

/** As `createSegment`, in a transaction with other changes. */
export async function insertSegment(
  tx: Queryable,
  { businessId, actor }: Change,
  { name, description, rule: sent }: NewSegment,
): Promise<CreateOutcome> {
  await lockBusiness(tx, businessId)
  const definitions = await loadDefinitions(tx, businessId)
  const { segments: held, fields } = definitions
  if (held.length >= MAX_SEGMENTS) return { kind: 'too_many_segments' }
  const read = readRule(sent, { fields, segments: rulesOf(definitions), topics: definitions.topics })
  if ('faults' in read) return { kind: 'faults', faults: read.faults }
  if (countConditions([...held.map(({ rule }) => rule), read.rule]) > MAX_CONDITIONS)
    return { kind: 'too_many_conditions' }
  const id = uuidv7()
  await tx`
    insert into segments (business_id, id, name, description, rule)
    values (${businessId}, ${id}, ${name}, ${description}, ${JSON.stringify(read.rule)}::text::jsonb)`
  await rebuildRules(tx, businessId)
  await recordAudit(tx, { businessId, actor, action: 'segment.create', target: id })
  return { kind: 'created', segment: await requireSegment(tx, businessId, id) }
}

export async function requireSegment(
  tx: Parameters<typeof readSegment>[0],
  businessId: string,
  segmentId: string,
): Promise<Segment> {
  const segment = await readSegment(tx, businessId, segmentId)
  if (segment === null) throw new Error(`the segment ${segmentId} is gone, although its business is locked`)
  return segment
}
