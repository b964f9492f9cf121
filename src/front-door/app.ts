/** All routes, as one `fetch`. Elysia finds the route; everything else is plain functions. */
import { Elysia, NotFoundError } from 'elysia'
import { RequestError } from '../errors.ts'
import { answerRequest, type Framed } from './answer-request.ts'
import type { Door, Route } from './door.ts'
import { campaignRoutes } from './routes/campaigns.ts'
import { contactRoutes } from './routes/contacts.ts'
import { customFieldsRoute } from './routes/custom-fields.ts'
import { describeRoutes } from './routes/describe.ts'
import { identifyPreflightRoute, identifyRoute } from './routes/identify.ts'
import { manageContactRoutes } from './routes/manage-contact.ts'
import { operationRoutes } from './routes/operation.ts'
import { trackBatchRoute } from './routes/track-batch.ts'
import { trackRoute } from './routes/track.ts'

export const API_ROUTES: readonly Route[] = [
  trackRoute,
  trackBatchRoute,
  identifyRoute,
  identifyPreflightRoute,
  ...contactRoutes,
  ...manageContactRoutes,
  customFieldsRoute,
  ...campaignRoutes,
]

export interface App {
  fetch(request: Request): Promise<Response>
}

export function buildApp(door: Door): App {
  const routes = [...API_ROUTES, ...describeRoutes(API_ROUTES), ...operationRoutes]
  // A host of one short label is a host too.
  const elysia = new Elysia({ handler: { standardHostname: false } })
  // A handler that names nothing but `request` and `params` keeps Elysia from reading the body before we know the caller.
  for (const { method, path, answer } of routes) {
    const framed: Framed = { route: path, answer }
    elysia.route(method, path, ({ request, params }) => answerRequest(door, framed, request, params))
  }
  for (const [path, methods] of groupMethods(routes)) {
    const framed: Framed = { route: path, answer: () => Promise.reject(methodNotAllowed(methods)) }
    elysia.all(path, ({ request, params }) => answerRequest(door, framed, request, params))
  }
  elysia.onError(({ request, error }) => {
    const fault = error instanceof NotFoundError ? new RequestError('not_found') : error
    return answerRequest(door, { route: 'unmatched', answer: () => Promise.reject(fault) }, request, {})
  })
  return { fetch: async (request) => await elysia.fetch(request) }
}

function groupMethods(routes: readonly Route[]): Map<string, string[]> {
  const byPath = Map.groupBy(routes, ({ path }) => path)
  return new Map([...byPath].map(([path, those]) => [path, those.map(({ method }) => method)]))
}

function methodNotAllowed(methods: string[]): RequestError {
  const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods
  return new RequestError('method_not_allowed', { headers: { Allow: allowed.join(', ') } })
}
