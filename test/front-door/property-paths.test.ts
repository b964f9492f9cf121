/** Paths of properties have a limit of parts wherever conditions are read: without one, ClickHouse takes too long. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { MAX_PARTS } from '../../src/rules/segments/grammar/limits.ts'
import { type Stack, type TestBusiness, createBusiness, openStack } from '../support/stack.ts'
import { type Speak, speakTo } from './http-client.ts'

let stack: Stack
let frontDoor: FrontDoor
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  stack = await openStack()
  frontDoor = await runFrontDoor(stack.config)
  speak = speakTo(frontDoor.url)
  tenant = await createBusiness(stack.sql)
})
afterAll(async () => {
  await frontDoor.close()
  await stack.close()
})

const pathOf = (parts: number) => Array.from({ length: parts }, () => 'p').join('.')
const whereOf = (property: string) => [{ property, operator: 'equals', value: 'x' }]
const query = (values: Record<string, string>) => new URLSearchParams(values).toString()

type Ask = (property: string) => ReturnType<Speak>
const PLACES: [name: string, where: string, ask: Ask][] = [
  [
    'a count of a segment',
    'rule.where[0].property',
    (property) =>
      speak('POST', '/api/segments/preview', {
        key: tenant.secretKey,
        json: { rule: { event: 'e', metric: 'count', where: whereOf(property), operator: 'greater_than', value: 0 } },
      }),
  ],
  [
    'a sum of a segment',
    'rule.property',
    (property) =>
      speak('POST', '/api/segments/preview', {
        key: tenant.secretKey,
        json: { rule: { event: 'e', metric: 'sum', property, operator: 'greater_than', value: 0 } },
      }),
  ],
  [
    'the trigger of a campaign',
    'trigger.where[0].property',
    (property) =>
      speak('POST', '/api/campaigns', {
        key: tenant.secretKey,
        json: { name: property.slice(0, 100), trigger: { event: 'e', where: whereOf(property) } },
      }),
  ],
  [
    'a filter of a chart',
    'series[0].where[0].property',
    (property) =>
      speak(
        'GET',
        `/api/analytics/series?${query({ series: JSON.stringify([{ measure: 'count', where: whereOf(property) }]) })}`,
        {
          key: tenant.secretKey,
        },
      ),
  ],
  [
    'a breakdown of a chart',
    'breakdown',
    (property) =>
      speak('GET', `/api/analytics/series?${query({ breakdown: `property:${property}` })}`, {
        key: tenant.secretKey,
      }),
  ],
]

describe.each(PLACES)('the path in %s', (_, where, ask) => {
  it('may have as many parts as the limit', async () => {
    expect(MAX_PARTS).toBe(20)
    const { status } = await ask(pathOf(MAX_PARTS))
    expect(status).toBe(200)
  })

  it('may have dots in its names beyond that', async () => {
    expect((await ask(`${pathOf(MAX_PARTS)}\\.a\\.b`)).status).toBe(200)
  })

  it.each([MAX_PARTS + 1, 60])('is refused by its place when it has %i', async (parts) => {
    const { status, body } = await ask(pathOf(parts))
    expect([status, body.error.code]).toEqual([400, 'invalid_request'])
    const issue = body.error.issues?.find(({ path }: { path: string }) => path.endsWith(where))
    expect(issue?.message).toContain('must have at most 20 parts')
  })
})
