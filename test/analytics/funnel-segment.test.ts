/**
 * The rule for a segment of the contacts who dropped out of a funnel: it is well-formed. A rule that is marked as exact
 * finds exactly these contacts.
 */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { droppedRule } from '../../src/analytics/funnel-segment.ts'
import type { FunnelQuery } from '../../src/analytics/funnel-sql.ts'
import { readFunnelContacts } from '../../src/analytics/funnel.ts'
import { readRule } from '../../src/rules/segments/reading/read-rule.ts'
import { resolveRule } from '../../src/rules/segments/resolve-rule.ts'
import type { Rule } from '../../src/rules/segments/rule.ts'
import { previewRule } from '../../src/segments/preview-rule.ts'
import { runs } from '../support/runs.ts'
import { openLab } from '../timeline/lab.ts'
import { BEGAN, NAMES, SPAN_DAYS, readerOf, assertHistories } from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const NOW = BEGAN + (SPAN_DAYS + 5) * DAY
const FIELDS = new Map()
const CONTEXT = { segments: new Map<string, Rule>(), currency: 'USD', country: null }
const lab = useOpened(openLab)

const did = (event: string) => ({ event, where: [] })
const query = (more: Partial<FunnelQuery> = {}): FunnelQuery => ({
  steps: [did('signup'), did('purchase')],
  order: 'any',
  windowMs: 365 * DAY,
  period: { from: BEGAN, to: NOW },
  ...more,
})

it('in any order, within the whole period, it is exact', { timeout: 300_000 }, async () => {
  await assertHistories(
    lab,
    runs(8),
    fc.tuple(fc.subarray([...NAMES], { minLength: 2 }), fc.integer({ min: 0, max: 30 }), fc.boolean()),
    async ({ businessId }, [names, days, isConditional]) => {
      const where = isConditional ? [{ property: 'plan', operator: 'equals' as const, value: 'pro' }] : []
      const steps = names.map((event, place) => ({ event, where: place === 0 ? where : [] }))
      // Half an hour more, so that the span is not a whole number of days.
      const asked = query({ steps, period: { from: BEGAN + days * DAY + 1_800_000, to: NOW } })
      for (let step = 1; step < steps.length; step += 1) {
        const { rule, isExact } = droppedRule(asked, step, NOW)!
        expect(isExact).toBe(true)
        const read = readRule(rule, { fields: FIELDS, segments: CONTEXT.segments })
        expect(read).toEqual({ rule })
        const preview = await previewRule(lab, {
          businessId,
          rule: resolveRule(rule, CONTEXT),
          fields: FIELDS,
          sample: 100,
          now: NOW,
        })
        const listed = await readFunnelContacts(readerOf(lab), businessId, asked, {
          step,
          outcome: 'dropped',
          limit: 100,
        })
        if (preview === 'unavailable') throw new Error(preview)
        expect(preview.sample.toSorted()).toEqual(listed.map(({ id }) => id).toSorted())
      }
    },
  )
})

it('in order, it leaves the order out and says so', () => {
  const asked = query({ order: 'in_order', steps: [did('a'), did('b'), did('a'), did('a')], windowMs: DAY })
  const many = (event: string, value: number) => ({
    event,
    metric: 'count',
    operator: 'greater_than_or_equal',
    value,
    withinDays: SPAN_DAYS + 5,
  })
  expect(droppedRule(asked, 1, NOW)).toEqual({ rule: { all: [many('a', 1), { not: many('b', 1) }] }, isExact: false })
  expect(droppedRule(asked, 3, NOW)).toEqual({
    rule: { all: [many('a', 2), many('b', 1), { not: many('a', 3) }] },
    isExact: false,
  })
  expect(droppedRule(query({ windowMs: DAY }), 1, NOW)?.isExact).toBe(false)
})

it('is none of a period that is over, that is too long, or of too many combinations', () => {
  const at = (from: number, to = NOW) => droppedRule(query({ period: { from, to } }), 1, NOW)
  expect(at(BEGAN, NOW - 1)).toBeNull()
  expect(at(NOW - 36_500 * DAY)).not.toBeNull()
  expect(at(NOW - 36_500 * DAY - 1)).toBeNull()
  const steps = (count: number) => Array.from({ length: count }, (_, n) => did(`event ${n}`))
  expect(droppedRule(query({ steps: steps(5) }), 2, NOW)).not.toBeNull()
  expect(droppedRule(query({ steps: steps(6) }), 2, NOW)).toBeNull()
  expect(droppedRule(query({ steps: steps(10) }), 1, NOW)).not.toBeNull()
})
