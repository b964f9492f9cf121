/** docs/campaigns.md: the rules accept each of its examples. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { checkDefinition } from '../../../src/rules/campaigns/check-definition.ts'
import type { EventTrigger } from '../../../src/rules/campaigns/event-trigger.ts'
import { readWebTrigger } from '../../../src/rules/campaigns/read-web-trigger.ts'
import type { WebTrigger } from '../../../src/rules/campaigns/web-trigger.ts'
import { readEventTrigger } from '../../../src/rules/campaigns/read-event-trigger.ts'
import { STEP_TYPES } from '../../../src/rules/campaigns/steps.ts'
import { walkSteps } from '../../../src/rules/campaigns/walk-steps.ts'
import { definitionOf } from './read.ts'

const page = readFileSync(new URL('../../../docs/campaigns.md', import.meta.url), 'utf8')

/** A block holds one example, or one on each line. */
const examples = [...page.matchAll(/^```json\n(.*?)^```/gms)].flatMap(([, block = '']) =>
  /^\{.*\}\n\{/s.test(block) ? block.trim().split('\n') : [block],
)
const bodies = examples.map((text) => JSON.parse(text) as object)
const definitions = bodies.map((example) => {
  return definitionOf('type' in example ? { steps: [example] } : example)
})

it('has examples that can be published', () => {
  const context = { goal: { event: 'invoice_paid' }, rules: { fields: new Map(), segments: new Map() } }
  for (const definition of definitions) expect(checkDefinition(definition, context)).toEqual([])
})

it('has triggers that can be sent', () => {
  const triggers = bodies.flatMap((body) =>
    'trigger' in body ? [body.trigger as Partial<EventTrigger & WebTrigger>] : [],
  )
  const read = triggers.flatMap(({ event, ...more }) => (event ? [readEventTrigger(event, { event, ...more })] : []))
  for (const one of read) expect(one).not.toHaveProperty('faults')
  expect(read.length).toBeGreaterThan(1)
  const web = triggers.flatMap(({ web: name, ...more }) => (name ? [readWebTrigger(name, { web: name, ...more })] : []))
  for (const one of web) expect(one).not.toHaveProperty('faults')
  expect(web.length).toBeGreaterThan(1)
})

it('has an example of every type of step, quiet hours, caps and a hold-out', () => {
  const types = definitions.flatMap(({ steps }) => walkSteps(steps).map(({ step }) => step.type))
  expect(new Set(types)).toEqual(new Set(STEP_TYPES))
  expect(definitions.some(({ quietHours }) => quietHours)).toBe(true)
  expect(definitions.some(({ caps }) => caps.length > 1)).toBe(true)
  expect(definitions.some(({ holdOut }) => holdOut > 0)).toBe(true)
})
