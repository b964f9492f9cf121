import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/errors.ts'
import { API_ROUTES } from '../../src/front-door/app.ts'
import { describeApi } from '../../src/front-door/describe-api.ts'
import { renderApi } from '../../src/front-door/render-api.ts'
import { expectShape } from './reply-shape.ts'

const described = API_ROUTES.flatMap(({ method, path, operation }) =>
  operation === null ? [] : [{ name: `${method} ${path}`, path, operation }],
)
const document = JSON.parse(JSON.stringify(describeApi(API_ROUTES))) as {
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string
        security: object[]
        responses: Record<string, { headers?: object }>
        parameters: { in: string; name: string }[]
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

/** What it promises of keys: schemes, what may be preferred, what tells the limit. */
function promisesOf(path: string, method: string) {
  const { security, parameters, responses } = document.paths[path]?.[method] ?? {}
  const { headers = {} } = responses?.['200'] ?? {}
  return {
    keys: security?.map((scheme) => Object.keys(scheme).join()),
    prefers: parameters?.some(({ name }) => name === 'Prefer'),
    tellsLimit: 'RateLimit' in headers || 'RateLimit-Policy' in headers,
  }
}

it.each([
  ['/api/sdk/track', 'post', { keys: ['key'], prefers: true, tellsLimit: true }],
  ['/api/sdk/identify', 'post', { keys: ['key', 'publishableKey', ''], prefers: true, tellsLimit: true }],
  ['/api/sdk/browser/track', 'post', { keys: ['publishableKey', ''], prefers: false, tellsLimit: false }],
  ['/api/sdk/browser/capture', 'post', { keys: ['publishableKey', ''], prefers: false, tellsLimit: false }],
  ['/api/contacts/{contactId}', 'get', { keys: ['key'], prefers: false, tellsLimit: true }],
])('promises of %s what it does', (path, method, promised) => {
  expect(promisesOf(path, method)).toEqual(promised)
})

it('names each operation once', () => {
  const names = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  )
  expect(new Set(names).size).toBe(described.length)
})

it('points to nothing that is not there', () => {
  const text = JSON.stringify(document)
  for (const [, name = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    expect(document).toHaveProperty(name.split('/'))
  }
})

it('makes a page that loads nothing from elsewhere', () => {
  const page = renderApi(document)
  expect(page).toContain('/api/sdk/track/batch')
  for (const said of ['Needs a secret key.', 'A key is optional.', 'A publishable key is optional.'])
    expect(page).toContain(said)
  expect(page).not.toMatch(/<script|<link|<img|\b(src|href|action)\s*=\s*"?https?:|url\(|@import/)
})
