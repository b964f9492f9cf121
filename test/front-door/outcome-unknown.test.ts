/** The advice to a caller who cannot know whether a call took effect. */
import { expect, it } from 'vitest'
import type { AppContext, RequestContext } from '../../src/front-door/app-context.ts'
import { describeStoreFailure } from '../../src/front-door/health/describe-store-failure.ts'
import { submitRequest } from '../../src/front-door/routes/submit-request.ts'
import { createMetrics } from '../../src/metrics.ts'
import type { NewIngestRequest } from '../../src/stream/publish/submit.ts'

const EVENT = 'Send it again: an event with the same idempotencyKey is recorded only once.'
const PERSON = 'Send it again: identifying a person a second time creates no second contact.'
const CHANGE = 'Read again what it changes before you repeat it.'

const app = {
  metrics: createMetrics(),
  submitter: { submit: () => Promise.resolve({ kind: 'outcome_unknown' }) },
} as unknown as AppContext

it.each([
  ['POST', '/api/sdk/track', 'track', EVENT],
  ['POST', '/api/sdk/track/batch', 'batch', EVENT],
  ['POST', '/api/sdk/browser/track', 'browser', EVENT],
  ['POST', '/api/sdk/identify', 'identify', PERSON],
  ['POST', '/api/sdk/identify/batch', 'identify_batch', PERSON],
  ['PATCH', '/api/contacts/0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11', 'edit', CHANGE],
  ['DELETE', '/api/contacts/0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11', 'erase', CHANGE],
  ['PUT', '/api/contacts/0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11/subscriptions', 'subscribe', CHANGE],
])('%s %s is advised on, whether Redis or Postgres is lost', async (method, path, kind, advice) => {
  const request = new Request(`http://sluice.example${path}?a=1`, { method })
  const error = { code: 'outcome_unknown', status: 503, message: expect.stringContaining(advice) as string }
  const lost = Object.assign(new Error('lost'), { code: 'ECONNRESET' })
  expect(describeStoreFailure(lost, request)).toMatchObject({ ...error, cause: lost })
  const submitted = submitRequest(app, { request } as RequestContext, { kind } as NewIngestRequest, { keyed: false })
  await expect(submitted).rejects.toMatchObject(error)
})
