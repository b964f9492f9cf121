/** How the API reference shows the description: shell commands, values in words, fields of bodies. */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { curlExample } from '../../src/dashboard/src/features/reference/curl-example.ts'
import { fieldsOf, formsOf, namesIn, type Schema } from '../../src/dashboard/src/features/reference/description.ts'
import { schemaText } from '../../src/dashboard/src/features/reference/schema-text.ts'
import { STEP_TYPES } from '../../src/rules/campaigns/steps.ts'
import { API_ROUTES } from '../../src/front-door/app.ts'
import { describeApi } from '../../src/front-door/openapi/describe-api.ts'

const document = JSON.parse(JSON.stringify(describeApi(API_ROUTES))) as {
  paths: Record<
    string,
    Record<
      string,
      { security: object[]; requestBody?: { content: Record<string, { example: object; schema: Schema }> } }
    >
  >
  components: { schemas: Record<string, Schema> }
}

describe('a curl command', () => {
  /** The arguments that the shell passes to curl. */
  const argumentsOf = (command: string): string[] => {
    const script = `curl() { printf '%s\\0' "$@"; }; BASE=http://here KEY=sk_live_1; ${command}`
    return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
  }

  it.each(
    Object.entries(document.paths).flatMap(([path, item]) => Object.keys(item).map((method) => ({ method, path }))),
  )('for $method $path says what the example does', ({ method, path }) => {
    const operation = document.paths[path]![method]!
    const command = curlExample({ method, path, ...operation } as Parameters<typeof curlExample>[0])
    const given = argumentsOf(command)
    const verb = method === 'get' ? [] : ['-X', method.toUpperCase()]
    expect(given.slice(0, verb.length)).toEqual(verb)
    const [address, ...rest] = given.slice(verb.length)
    expect(address).toMatch(/^http:\/\/here\/api\/[^{}\s]+$/)
    const keyed = operation.security.some((scheme) => 'key' in scheme)
    expect(rest.slice(0, 2)).toEqual(
      keyed ? ['-H', 'Authorization: Bearer sk_live_1'] : ['-A', expect.stringMatching(/^Mozilla.*Chrome/) as string],
    )
    const body = operation.requestBody?.content['application/json']
    expect(rest.slice(2, 5)).toEqual(body ? ['-H', 'Content-Type: application/json', '-d'] : [])
    if (body) expect(JSON.parse(rest[5] ?? '')).toEqual(body.example)
  })

  it('keeps quotes, dollars and spaces as they are', () => {
    const example = { a: `it's "$HOME" \`ls\` \\` }
    const command = curlExample({
      method: 'post',
      path: '/{id}',
      security: [{ key: [] }],
      parameters: [
        { name: 'id', in: 'path', example: 'a"$b' },
        { name: 'email', in: 'query', example: 'ada+x@example.com' },
        { name: 'cursor', in: 'query' },
      ],
      requestBody: { content: { 'application/json': { example } } },
    })
    const given = argumentsOf(command)
    expect(given[2]).toBe('http://here/a%22%24b?email=ada%2Bx%40example.com')
    expect(JSON.parse(given.at(-1) ?? '')).toEqual(example)
  })
})

it.each([
  [{ type: 'string' }, 'string'],
  [{ type: 'string', format: 'uuid' }, 'uuid'],
  [{ const: 'respond-async' }, '`respond-async`'],
  [{ enum: ['first', 'last'], default: 'last' }, '`first` or `last`, default `last`'],
  [{ type: 'integer', minimum: 1, maximum: 500, default: 50 }, 'integer, 1 to 500, default `50`'],
  [{ type: 'integer', minimum: 0 }, 'integer, 0 or more'],
  [{ type: 'integer', maximum: 9, default: 0 }, 'integer, 9 at most, default `0`'],
  [{ type: ['integer', 'null'], minimum: 0 }, 'integer, 0 or more'],
  [{ anyOf: [{ const: 'a' }, { type: 'number' }, { type: 'null' }] }, '`a` or number'],
  [{ type: 'array', items: { type: 'string' }, maxItems: 50 }, 'array of string, 50 items at most'],
  [{ type: 'string', minLength: 1, maxLength: 256 }, 'string, 1 to 256 characters'],
  [{ type: 'array', items: { $ref: '#/components/schemas/Step' } }, 'array of `Step`'],
  [{ anyOf: [{ type: 'object' }, { type: 'object' }, { type: 'null' }] }, 'object'],
  [{}, 'any'],
])('says of %j what may be sent', (schema, said) => {
  expect(schemaText(schema)).toBe(said)
})

it('names every schema that the body of a campaign refers to, with the forms of each', () => {
  const { paths, components } = document
  const { schema } = paths['/api/campaigns']!['post']!.requestBody!.content['application/json']!
  const names = [...namesIn(schema, components.schemas)]
  expect(names).toEqual(expect.arrayContaining(['SentStep', 'SentRule']))
  const types = formsOf(components.schemas['SentStep']!).map(({ properties }) => properties?.['type']?.const)
  expect(types).toEqual([...STEP_TYPES])
  expect(names.filter((name) => !(name in components.schemas))).toEqual([])
})

it('names the fields of every form of a body, and requires what each form requires', () => {
  const form = (name: string) => ({ properties: { on: {}, [name]: {} }, required: ['on', name] })
  const trigger = { anyOf: [form('event'), form('segment'), { type: 'null' }] }
  expect(fieldsOf({ properties: { trigger } }).map(({ path, isRequired }) => [path, isRequired])).toEqual([
    ['trigger', false],
    ['trigger.on', true],
    ['trigger.event', false],
    ['trigger.segment', false],
  ])
})

it('names all fields of a body, those of arrays and of their objects too', () => {
  const email = { type: 'string' }
  const schema = {
    required: ['events'],
    properties: { events: { type: 'array', items: { required: ['email'], properties: { email, tags: {} } } } },
  }
  expect(fieldsOf(schema).map(({ path, isRequired }) => [path, isRequired])).toEqual([
    ['events', true],
    ['events[].email', true],
    ['events[].tags', false],
  ])
})
