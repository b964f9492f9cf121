import { compileSegments } from '../../../src/rules/segments/compile/compile-segments.ts'
import { CHANNELS, type FieldType } from '../../../src/rules/events/facts.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import { readRule } from '../../../src/rules/segments/reading/read-rule.ts'
import { resolveRule } from '../../../src/rules/segments/resolve-rule.ts'
import type { TopicRules } from '../../../src/rules/topics/topic.ts'
import type { ResolvedRule, Rule } from '../../../src/rules/segments/rule.ts'

export interface World {
  fields?: Record<string, FieldType>
  segments?: Record<string, Rule>
  currency?: string
  country?: string | null
  topics?: Record<string, TopicRules>
}

const TOPICS: Record<string, TopicRules> = { news: { channels: CHANNELS, defaultOn: true, isActive: true } }

/** Checks a rule as a caller sends it, and resolves it. */
export function resolved(
  raw: unknown,
  { segments = {}, currency = 'EUR', country = 'DE', topics = TOPICS }: World = {},
): ResolvedRule {
  const context = {
    fields: new Map<string, FieldType>(),
    segments: new Map(Object.entries(segments)),
    topics: new Map(Object.entries(topics)),
  }
  const read = readRule(raw, context)
  if ('faults' in read) throw new Error(JSON.stringify(read.faults))
  return resolveRule(read.rule, { ...context, currency, country })
}

export function compiled(raw: unknown, world: World = {}) {
  const rules = [{ no: 1, segmentId: 'one', isBuilding: false, rule: resolved(raw, world) }]
  const [segment] = compileSegments(rules, new Map(Object.entries(world.fields ?? {}))).all
  if (!segment) throw new Error('no rule was compiled')
  return segment
}

/** Evaluates a rule as a caller sends it. */
export const holds = (raw: unknown, facts: SegmentFacts, now = 0, world: World = {}): boolean =>
  compiled(raw, world).test(facts, now)
