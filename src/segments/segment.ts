import type { FieldType } from '../rules/events/facts.ts'
import type { Fault } from '../rules/faults.ts'
import type { Rule } from '../rules/segments/rule.ts'
import { ruleWarnings } from '../rules/segments/reading/rule-warnings.ts'
import type { Queryable } from '../stores/postgres.ts'
import { orderWords } from './order-words.ts'

/** A segment as callers see it (segments, "Endpoints"). Instants are ISO 8601 UTC. */
export interface Segment {
  segmentId: string
  name: string
  description: string | null
  rule: Rule
  status: 'computing' | 'ready'
  /** From 0 to 1; 1 when `ready`. */
  progress: number
  memberCount: number
  /** Increases with each change of the rule. */
  version: number
  warnings: Fault[]
  createdAt: string
  updatedAt: string
}

export type ListedSegment = Omit<Segment, 'rule'>

export interface SegmentRow {
  segmentId: string
  name: string
  description: string | null
  rule: Rule
  version: number
  isComputing: boolean
  progress: number
  memberCount: number
  createdAt: Date
  updatedAt: Date
}

/** Columns of a SegmentRow, from `segments s`. */
export function segmentColumns(sql: Queryable) {
  return sql`
    s.id as "segmentId", s.name, s.description, s.rule, s.version, s.created_at as "createdAt", s.updated_at as "updatedAt",
    exists (
      select from segment_rules r
      where r.business_id = s.business_id and r.segment_id = s.id and r.state = 'building'
    ) as "isComputing",
    coalesce((
      select b.done / greatest(b.total, 1)::float8 from segment_builds b where b.business_id = s.business_id
    ), 0) as progress,
    coalesce((
      select sum(z.members)::bigint from segment_rules r
      join segment_sizes z on z.business_id = r.business_id and z.segment_no = r.no
      where r.business_id = s.business_id and r.segment_id = s.id and r.state = 'current'
    ), 0) as "memberCount"`
}

/** Highest progress of a pass that turns out to have more contacts than estimated. */
const MOST_PROGRESS = 0.99

export function toSegment(row: SegmentRow, fields: ReadonlyMap<string, FieldType>): Segment {
  const { segmentId, name, description, rule, version, isComputing, memberCount } = row
  return {
    segmentId,
    name,
    description,
    rule: orderWords(rule),
    status: isComputing ? 'computing' : 'ready',
    progress: isComputing ? Math.min(MOST_PROGRESS, Math.round(row.progress * 1000) / 1000) : 1,
    memberCount,
    version,
    warnings: ruleWarnings(rule, fields),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
