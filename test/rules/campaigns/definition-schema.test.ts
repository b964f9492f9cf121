/** The schemas of the OpenAPI document describe what `readDefinition` accepts and returns. */
import { Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { DefinitionReply, SentDefinition } from '../../../src/rules/campaigns/definition-schema.ts'
import { STEP_TYPES } from '../../../src/rules/campaigns/steps.ts'
import { runs } from '../../support/runs.ts'
import { stepsOf } from './definitions.ts'
import { SEND, definitionOf, faultsOf } from './read.ts'

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
const [isSent, isReply] = [ajv.compile(Type.Object(SentDefinition)), ajv.compile(Type.Object(DefinitionReply))]

const withoutNulls = (sent: unknown): unknown =>
  JSON.parse(JSON.stringify(sent, (_, value: unknown) => (value === null ? undefined : value)))

test('fit every definition that can be sent and be read', () => {
  const cap = { channel: 'email', atMost: 1, days: 0.5 }
  const body = fc.record(
    {
      steps: stepsOf(3),
      quietHours: fc.constantFrom({ from: '21:00', to: '09:00' }, 'default'),
      caps: fc.constantFrom([], [cap], [{ ...cap, whenReached: 'skip' }]),
      holdOut: fc.constantFrom(0, 0.01, 50),
      tracking: fc.constantFrom({}, { opens: false }, { opens: true, clicks: false }),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(body, (body) => {
      const definition = definitionOf(body)
      isSent(withoutNulls(body))
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
