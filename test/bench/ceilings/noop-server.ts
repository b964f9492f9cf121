/**
 * The minimum work of any front door: read the body, validate it against the same schema, respond. `noop-server.ts
 * PORT`
 */
import type { TSchema } from '@sinclair/typebox'
import { type AnySchema, Elysia } from 'elysia'
import { BatchSchema, EventSchema } from '../../../src/front-door/routes/sdk/read-event.ts'
import { serve } from '../../../src/front-door/http/serve.ts'

const answer = {
  success: true,
  message: 'The event is recorded.',
  data: {
    contactId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
    event: 'purchase',
    isNew: false,
    deduped: false,
    interpreted: { type: 'purchase', countedRevenue: 49.9 },
  },
}

/** Elysia uses the types of TypeBox's other module format. */
const checked = (schema: TSchema) => ({ body: schema as unknown as AnySchema })

const app = new Elysia()
  .post('/api/sdk/track', () => answer, checked(EventSchema))
  .post('/api/sdk/track/batch', () => answer, checked(BatchSchema))
  .get('/healthz', () => 'ok')

const paths = app.routes.map(({ path }) => path)
const options = { port: Number(process.argv[2]), host: '127.0.0.1', reusePort: false, idleSeconds: 60 }
await serve({ paths, fetch: async (request) => await app.fetch(request) }, options)
process.on('SIGTERM', () => process.exit(0))
