import { expect, it } from 'vitest'
import type { AppContext, RequestContext } from '../../src/front-door/app-context.ts'
import { errorResponse } from '../../src/front-door/http/error-response.ts'
import { RendererBusy } from '../../src/messages/templates/renderer.ts'

it('says when to try again when too many templates wait', async () => {
  const app = { mayLogRejection: () => false } as unknown as AppContext
  const context = { request: new Request('http://sluice/api/templates'), headers: {} } as unknown as RequestContext
  const response = await errorResponse(app, context, new RendererBusy())
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await response.json()).toMatchObject({ success: false, error: { code: 'unavailable' } })
})
