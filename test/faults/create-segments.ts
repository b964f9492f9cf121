/** Segments over the events of the traffic: by tag, by count, by time in seconds, nested, and from the timeline. */
import { createSegment } from '../../src/segments/create-segment.ts'
import type { Rule } from '../../src/rules/segments/rule.ts'
import { type Sql, faultKind } from '../../src/stores/postgres.ts'

/** One second, in days. */
const SECOND = 1 / 86_400
const ACTOR = { kind: 'command', id: 'faults', name: 'faults' } as const

/**
 * For a business without contacts. All segments are in force except the nested one, which the segment worker builds
 * under traffic.
 */
export async function createSegments(sql: Sql, businessId: string): Promise<void> {
  const create = async (name: string, rule: Rule): Promise<string> => {
    const created = await createSegment(sql, { businessId, actor: ACTOR }, { name, description: null, rule })
    if (created.kind !== 'created') throw new Error(`the segment was not created: ${JSON.stringify(created)}`)
    return created.segment.segmentId
  }
  const tagged = await create('tagged', { tag: 'tag 3 ✓', operator: 'has' })
  const counted = await create('counted', { event: 'purchase', metric: 'count', operator: 'between', value: [1, 3] })
  await create('recent', RECENT)
  await create('settled', SETTLED)
  await create('windowed', WINDOWED)
  await putInForce(sql, businessId)
  await create('nested', nest(tagged, counted))
}

/** Does the same as the segment worker, which may do it first. */
async function putInForce(sql: Sql, businessId: string): Promise<void> {
  const [build] = await sql<{ epoch: number }[]>`select epoch from segment_builds where business_id = ${businessId}`
  if (!build) return
  await sql`select switch_segment_rules(${businessId}, ${build.epoch}, ${Date.now()})`.catch((error: unknown) => {
    if (faultKind(error) !== 'conflict') throw error
  })
}

const RECENT: Rule = {
  any: [
    { event: 'lesson_done', metric: 'last', operator: 'within_days', value: 2 * SECOND },
    { event: 'purchase', metric: 'last', operator: 'within_days', value: 3 * SECOND },
  ],
}

const SETTLED: Rule = {
  all: [
    { attribute: 'createdAt', operator: 'older_than_days', value: 2 * SECOND },
    { event: 'money_back', metric: 'count', operator: 'exists' },
  ],
}

const nest = (tagged: string, counted: string): Rule => ({
  all: [
    { segment: tagged, operator: 'is_not_member' },
    {
      any: [
        { segment: counted, operator: 'is_member' },
        { customField: 'is_vip', operator: 'is_true' },
      ],
    },
    { not: { attribute: 'revenue', operator: 'less_than', value: '500' } },
  ],
})

const WINDOWED: Rule = {
  all: [
    {
      event: 'purchase',
      metric: 'count',
      where: [{ property: 'currency', operator: 'equals', value: 'USD' }],
      operator: 'greater_than_or_equal',
      value: 2,
    },
    { not: { event: 'purchase', metric: 'count', withinDays: 4 * SECOND, operator: 'exists' } },
  ],
}
