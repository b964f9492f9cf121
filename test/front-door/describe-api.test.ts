import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/errors.ts'
import { API_ROUTES } from '../../src/front-door/app.ts'
import { describeApi } from '../../src/front-door/openapi/describe-api.ts'
import { EventSchema } from '../../src/front-door/routes/sdk/read-event.ts'
import { expectShape } from './reply-shape.ts'

const described = API_ROUTES.flatMap(({ method, path, operation }) =>
  operation === null ? [] : [{ name: `${method} ${path}`, path, operation }],
)
const document = JSON.parse(JSON.stringify(describeApi(API_ROUTES))) as {
  'x-errors': object[]
  components: { schemas: Record<string, object> }
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string
        security: object[]
        requestBody?: { content: Record<string, { schema: object; example: object }> }
        responses: Record<string, { headers?: object; content: Record<string, { schema: object; example?: object }> }>
        parameters: { in: string; name: string; schema: object; example?: string }[]
      }
    >
  >
}

describe.each(described)('$name', ({ path, operation }) => {
  it('gives examples that are true', () => {
    if (operation.body) expectShape(operation.body.schema, operation.body.example)
    for (const { data, example } of Object.values(operation.replies)) expectShape(data, example)
  })

  it('names every status and every parameter', () => {
    const item = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]
    const found = Object.values(item ?? {}).find(({ responses }) => responses['200'] !== undefined)
    const statuses = [...Object.keys(operation.replies), ...operation.errors.map((code) => String(ERRORS[code].status))]
    for (const status of statuses) {
      const operations = Object.values(item ?? {})
      expect(operations.some(({ responses }) => status in responses)).toBe(true)
    }
    const names = found?.parameters.filter(({ in: place }) => place === 'path').map(({ name }) => name)
    expect(names).toEqual([...path.matchAll(/:(\w+)/g)].map(([, name]) => name))
  })
})

it.each([
  ['/api/sdk/track', 'post', 'Send it again: an event with the same idempotencyKey'],
  ['/api/contacts/{contactId}', 'patch', 'Read again what it changes'],
])('%s %s shows what to do when its outcome is unknown', (path, method, advice) => {
  expect(JSON.stringify(document.paths[path]?.[method]?.responses['503'])).toContain(advice)
})

/** Returns what the description promises about access: key schemes, preferences, and the headers with the limit. */
function promisesOf(path: string, method: string) {
  const { security, parameters, responses } = document.paths[path]?.[method] ?? {}
  const { headers = {} } = responses?.['200'] ?? {}
  return {
    keys: security?.map((scheme) => Object.keys(scheme).join()),
    prefers: parameters?.some(({ name }) => name === 'Prefer'),
    namesLimit: 'RateLimit' in headers || 'RateLimit-Policy' in headers,
  }
}

it.each([
  ['/api/sdk/track', 'post', { keys: ['key'], prefers: true, namesLimit: true }],
  ['/api/sdk/identify', 'post', { keys: ['key', 'publishableKey', ''], prefers: true, namesLimit: true }],
  ['/api/sdk/browser/track', 'post', { keys: ['publishableKey', ''], prefers: false, namesLimit: false }],
  ['/api/sdk/browser/capture', 'post', { keys: ['publishableKey', ''], prefers: false, namesLimit: false }],
  ['/api/sdk/browser/push', 'post', { keys: ['publishableKey', ''], prefers: false, namesLimit: false }],
  ['/api/contacts/{contactId}', 'get', { keys: ['key'], prefers: false, namesLimit: true }],
])('promises of %s what it does', (path, method, promised) => {
  expect(promisesOf(path, method)).toEqual(promised)
})

it.each([
  ['/api/sdk/track', ['respond-async', 'effects']],
  ['/api/sdk/identify', ['respond-async', 'effects']],
  ['/api/sdk/track/batch', ['respond-async']],
])('names what a call of %s can prefer', (path, preferences) => {
  const named = document.paths[path]?.['post']?.parameters.find(({ name }) => name === 'Prefer')
  expect(named?.schema).toEqual({ enum: preferences })
})

describe('what it says of schemas', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const { paths, components } = document
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  const bodies = operations.flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}))
  const answers = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content }) => Object.values(content)),
  )
  /** Schemas of the same text are compiled once: most errors share theirs. */
  const validators = new Map<string, (value: unknown) => unknown>()
  const isValid = (schema: object, value: unknown) => {
    const text = JSON.stringify(schema)
    const validate = validators.get(text) ?? ajv.compile({ ...schema, components })
    validators.set(text, validate)
    return validate(value)
  }
  /** Adds a field to each object, including those in arrays. */
  const grown = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(grown)
    if (typeof value !== 'object' || value === null) return value
    return { ...Object.fromEntries(Object.entries(value).map(([name, field]) => [name, grown(field)])), $new: 1 }
  }
  const bodyOf = (path: string) =>
    ajv.compile({ ...paths[path]!['post']!.requestBody!.content['application/json']!.schema, components })

  it('is true of every example', () => {
    const examples = [...bodies, ...answers.filter(({ example }) => example !== undefined)]
    for (const { schema, example } of examples) expect([example, isValid(schema, example)]).toEqual([example, true])
  })

  it('describes rules in full, once each', () => {
    const refer = (name: string) => JSON.stringify({ $ref: `#/components/schemas/${name}` })
    const create = JSON.stringify(paths['/api/segments']!['post'])
    expect(create).toContain(`"rule":${refer('SentRule')}`)
    expect(create).toContain(`"rule":${refer('Rule')}`)
    const explain = JSON.stringify(paths['/api/segments/{segmentId}/explain']!['get'])
    expect(explain).toContain(`"rule":${refer('ExplainedRule')}`)
    const isRule = ajv.compile({ $ref: '#/components/schemas/SentRule', components })
    expect(isRule({ not: { all: [{ tag: 'vip', operator: 'has' }] } })).toBe(true)
    expect(isRule({ not: { all: [{ tag: 'vip', operator: 'contains' }] } })).toBe(false)
    const city = { attribute: 'city', operator: 'equals', value: 'x', ignoreCase: null }
    const sum = { event: 'a', metric: 'sum', property: 'value', operator: 'exists', currency: null, withinDays: null }
    const where = [{ property: 'a', operator: 'exists' }]
    for (const sent of [city, { ...sum, where: null }, { ...sum, where }])
      expect([sent, isRule(sent)]).toEqual([sent, true])
  })

  it('lets answers have more fields one day', () => {
    for (const { schema, example } of answers) {
      if (example === undefined) continue
      expect([example, isValid(schema, grown(example))]).toEqual([example, true])
    }
    expect(JSON.stringify(answers)).not.toContain('"additionalProperties":false')
  })

  it('lets null stand for an optional field, in an identity and a profile too, and for no other', () => {
    const track = bodyOf('/api/sdk/track')
    const event = { event: 'e', identity: { email: 'ada@example.com' } }
    const optional = Object.keys(EventSchema.properties).filter((name) => !(name in event))
    for (const name of optional) expect([name, track({ ...event, [name]: null })]).toEqual([name, true])
    expect(track({ ...event, identity: { ...event.identity, phone: null, platformCustomerId: null } })).toBe(true)
    for (const wrong of [{ event: null }, { identity: null }, { tags: [null] }, { value: '5' }, { type: 'sale' }])
      expect([wrong, track({ ...event, ...wrong })]).toEqual([wrong, false])
    const identify = bodyOf('/api/sdk/identify')
    expect(identify({ identity: event.identity, profile: { name: null, timezone: null }, ageMs: null })).toBe(true)
    const batch = bodyOf('/api/sdk/track/batch')
    expect(batch({ events: [{ ...event, occurredAt: null, traits: { plan: null } }] })).toBe(true)
    expect([batch({ events: null }), batch({ events: [null] })]).toEqual([false, false])
  })

  it('says what makes a purchase and a refund, and in which currency an amount is', () => {
    const schema = JSON.stringify(paths['/api/sdk/track']!['post']!.requestBody!.content['application/json']!.schema)
    for (const words of [
      'above 0 means a purchase',
      'a name never makes a refund',
      'not in cents',
      'at the time of receipt',
    ])
      expect(schema).toContain(words)
  })

  it('says how times are written and how deep details may be', () => {
    const said = JSON.stringify(document)
    for (const words of [
      'ISO 8601 (a date, or a date and a time',
      '20260301T093000Z',
      '2026-03-01T09:30:00Z',
      '1772357400000',
    ])
      expect(said).toContain(words)
    expect(said.match(/nested at most 100 levels deep/g)?.length).toBeGreaterThanOrEqual(3)
  })
})

it('names each operation once', () => {
  const names = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  )
  expect(new Set(names).size).toBe(described.length)
})

it('has no reference to a missing part', () => {
  const text = JSON.stringify(document)
  for (const [, name = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    expect(document).toHaveProperty(name.split('/'))
  }
})

it('lists every error with its status and what it says', () => {
  expect(document['x-errors']).toEqual(
    Object.entries(ERRORS).map(([code, { status, message }]) => ({ code, status, message })),
  )
})
