/** The schemas of the OpenAPI document describe what `readDefinition` accepts and returns. */
import { Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeBody, nameSchemas } from '../../../src/front-door/openapi/describe-schema.ts'
import { DefinitionReply, SentDefinition } from '../../../src/rules/campaigns/definition-schema.ts'
import { readDefinition } from '../../../src/rules/campaigns/read-definition.ts'
import { STEP_TYPES, type StepType, fieldsOf } from '../../../src/rules/campaigns/steps.ts'
import { sentListsIn } from '../../../src/rules/campaigns/walk-steps.ts'
import type { Fault } from '../../../src/rules/faults.ts'
import { runs } from '../../support/runs.ts'
import { stepsOf } from './definitions.ts'
import { SEND, contextOf, definitionOf, faultsOf } from './read.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ajv = new Ajv({ strict: false, allErrors: true, formats: { uuid: UUID } })
function compile(schema: object) {
  const schemas = {}
  return ajv.compile({ ...(nameSchemas(schema, schemas) as object), components: { schemas } })
}
const isSent = compile(describeBody(Type.Object(SentDefinition)))
const isReply = compile(Type.Object(DefinitionReply))

test('fit every definition that can be sent and be read', () => {
  const cap = { channel: 'email', atMost: 1, days: 0.5 }
  const body = fc.record(
    {
      steps: stepsOf(3),
      quietHours: fc.constantFrom({ from: '21:00', to: '09:00' }, 'default'),
      caps: fc.constantFrom([], [cap], [{ ...cap, whenReached: 'skip' }]),
      holdOut: fc.constantFrom(0, 0.01, 50),
      topic: fc.constantFrom('news', 'a_b'),
      tracking: fc.constantFrom({}, { opens: false }, { opens: true, clicks: false }),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(body, (body) => {
      const definition = definitionOf(body)
      isSent(body)
      expect(isSent.errors).toBeNull()
      isReply(definition)
      expect(isReply.errors).toBeNull()
      expect(definitionOf(definition)).toEqual(definition)
    }),
    { numRuns: runs(1000) },
  )
  expect(isReply({ steps: [], quietHours: null, caps: [], holdOut: 0, tracking: { opens: true, clicks: true } })).toBe(
    true,
  )
})

/** What no schema can say. */
const UNSAID: readonly unknown[] = [
  'hundred_percent',
  'an_update',
  'in_both_tags',
  'step_id_twice',
  'topic_of_marketing',
]
const isSaid = ({ code }: Fault) => !UNSAID.includes(code)

const WRONG: readonly unknown[] = [undefined, null, 7, true, '', 'text', 'x'.repeat(65), [], [7], [null], {}]

const allIn = (steps: unknown): Record<string, unknown>[] =>
  (Array.isArray(steps) ? (steps as Record<string, unknown>[]) : []).flatMap((step) => [
    step,
    ...sentListsIn(step).flatMap((list) => allIn(list.steps)),
  ])

/** Steps with one field that has another value, or that the type does not have. */
const mutated = fc
  .tuple(stepsOf(3), fc.nat(), fc.nat(), fc.constantFrom(...WRONG))
  .map(([steps, at, choice, value]) => {
    const sent = structuredClone(steps)
    const all = allIn(sent)
    const step = all[at % Math.max(1, all.length)]
    if (step === undefined) return sent
    const fields = ['id', 'type', 'more', ...fieldsOf(step['type'] as StepType).map(([name]) => name)]
    const field = fields[choice % fields.length] ?? ''
    // The reader ignores an unknown field that is null. The schema does not say so.
    step[field] = field === 'more' ? (value ?? 1) : value
    return sent
  })

test('refuse and accept what the reader refuses and accepts', () => {
  const seen = { refused: 0, accepted: 0 }
  fc.assert(
    fc.property(mutated, (steps) => {
      const read = readDefinition({ steps }, contextOf())
      const faults = 'faults' in read ? read.faults.filter(isSaid) : []
      const sent: unknown = JSON.parse(JSON.stringify({ steps }))
      expect([steps, faults, isSent(sent)]).toEqual([steps, faults, faults.length === 0])
      seen[faults.length === 0 ? 'accepted' : 'refused'] += 1
    }),
    { numRuns: runs(3000) },
  )
  expect(Math.min(seen.refused, seen.accepted)).toBeGreaterThan(10)
})

test('no answer says `default`', () => {
  expect(definitionOf({ quietHours: 'default' })).toEqual(definitionOf({}))
  expect(isReply({ ...definitionOf({}), quietHours: 'default' })).toBe(false)
})

test.each([
  { steps: [{ type: 'update', addTags: [''] }] },
  { steps: [{ type: 'update', tags: ['vip'] }] },
  { steps: [{ ...SEND, channel: 'fax' }] },
  { steps: [{ ...SEND, for: 'P1D' }] },
  { steps: [{ type: 'wait_until', time: '9:00' }] },
  { steps: [{ type: 'wait_until', time: '09:00', weekdays: [8] }] },
  { steps: [{ type: 'wait_for', timeout: 'P1D' }] },
  { steps: [{ type: 'split', parts: [] }] },
  { quietHours: { from: '21:00' } },
  { quietHours: 'none' },
  { caps: [{ channel: 'email', atMost: 0, days: 1 }] },
  { caps: [{ channel: 'email', atMost: 1, days: 0 }] },
  { holdOut: 51 },
  { tracking: { opens: 'yes' } },
  { tracking: { links: true } },
])('%j fits neither the schema nor the rules', (body) => {
  expect(isSent(body)).toBe(false)
  expect(faultsOf(body)).not.toEqual([])
})

test('describe every type of step', () => {
  const described = JSON.stringify(SentDefinition.steps)
  for (const type of STEP_TYPES) expect(described).toContain(`"const":"${type}"`)
})
