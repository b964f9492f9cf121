/** Serves all routes as one `fetch`. Elysia finds the route; everything else is plain functions. */
import { Elysia, NotFoundError } from 'elysia'
import { RequestError } from '../errors.ts'
import { faultOf } from '../rules/faults.ts'
import { handleRequest, type FramedRoute } from './http/handle-request.ts'
import { invalidRequest } from './http/check-body.ts'
import type { AppContext, Route } from './app-context.ts'
import { isTargetTooLong, urlOf } from './http/url-of.ts'
import { preflightRoute } from './access/authenticate-browser.ts'
import { analyticsEndpoints } from './routes/analytics/endpoints.ts'
import { browserCaptureRoute } from './routes/browser/capture.ts'
import { browserPushRoute } from './routes/browser/push.ts'
import { browserScriptRoutes } from './routes/browser/script.ts'
import { browserTrackRoute } from './routes/browser/track.ts'
import { campaignEndpoints } from './routes/campaigns/endpoints.ts'
import { channelEndpoints } from './routes/channels/endpoints.ts'
import { senderEndpoints } from './routes/senders/endpoints.ts'
import { contactRoutes } from './routes/contacts/read.ts'
import { customFieldsRoute } from './routes/custom-fields.ts'
import { dashboardFileRoutes, missingPage } from './routes/dashboard-files.ts'
import { openApiRoutes } from './routes/openapi.ts'
import { hookRoutes } from './routes/hooks.ts'
import { identifyRoute } from './routes/sdk/identify.ts'
import { manageContactRoutes } from './routes/contacts/manage.ts'
import { confirmationEndpoints } from './routes/contacts/request-confirmation.ts'
import { subscriptionsBatchRoute } from './routes/contacts/subscriptions-batch.ts'
import { DASHBOARD_ROUTES } from './routes/dashboard/index.ts'
import { healthRoutes } from './routes/health.ts'
import { segmentRoutes } from './routes/segments/routes.ts'
import { trackingRoutes } from './routes/tracking/routes.ts'
import { confirmRoutes } from './routes/unsubscribe/confirm.ts'
import { unsubscribeRoutes } from './routes/unsubscribe/routes.ts'
import { toKeyRoute } from './routes/business-endpoint.ts'
import { spendEndpoints } from './routes/spend/endpoints.ts'
import { suppressionEndpoints } from './routes/suppressions/endpoints.ts'
import { contactTopicEndpoints } from './routes/contacts/topics.ts'
import { topicEndpoints } from './routes/topics/endpoints.ts'
import { messageEndpoints } from './routes/messages/endpoints.ts'
import { sendCallRoute } from './routes/messages/send-call.ts'
import { messagingEndpoints } from './routes/messaging/endpoints.ts'
import { templateEndpoints } from './routes/templates/endpoints.ts'
import { identifyBatchRoute } from './routes/sdk/identify-batch.ts'
import { trackBatchRoute } from './routes/sdk/track-batch.ts'
import { trackRoute } from './routes/sdk/track.ts'
import type { ServedApp } from './http/serve.ts'

export const API_ROUTES: readonly Route[] = [
  trackRoute,
  trackBatchRoute,
  identifyRoute,
  preflightRoute(identifyRoute.path),
  identifyBatchRoute,
  browserTrackRoute,
  preflightRoute(browserTrackRoute.path),
  browserCaptureRoute,
  preflightRoute(browserCaptureRoute.path),
  browserPushRoute,
  preflightRoute(browserPushRoute.path),
  ...contactRoutes,
  ...manageContactRoutes,
  subscriptionsBatchRoute,
  ...contactTopicEndpoints.map(toKeyRoute),
  ...confirmationEndpoints.map(toKeyRoute),
  customFieldsRoute,
  ...segmentRoutes,
  ...campaignEndpoints.map(toKeyRoute),
  ...messagingEndpoints.map(toKeyRoute),
  sendCallRoute,
  ...messageEndpoints.map(toKeyRoute),
  ...templateEndpoints.map(toKeyRoute),
  ...channelEndpoints.map(toKeyRoute),
  ...senderEndpoints.map(toKeyRoute),
  ...suppressionEndpoints.map(toKeyRoute),
  ...topicEndpoints.map(toKeyRoute),
  ...analyticsEndpoints.map(toKeyRoute),
  ...spendEndpoints.map(toKeyRoute),
]

/** Every route of the front door. */
export function listRoutes(): Route[] {
  return [
    ...API_ROUTES,
    ...DASHBOARD_ROUTES,
    ...openApiRoutes(API_ROUTES),
    ...healthRoutes,
    ...browserScriptRoutes(),
    ...unsubscribeRoutes,
    ...trackingRoutes,
    ...hookRoutes,
    ...confirmRoutes,
    ...dashboardFileRoutes(),
  ]
}

export function buildApp(app: AppContext): ServedApp {
  const routes = listRoutes()
  // `standardHostname: false` also accepts host names of one short label.
  const elysia = new Elysia({ strictPath: true, handler: { standardHostname: false } })
  const probes = new Map<string, FramedRoute>()
  // Elysia reads the body before it calls the handler, unless the handler uses only `request` and `params`. The caller
  // must be checked before the body is read.
  for (const { method, path, answer, crossOrigin, isCompressed, isProbe } of routes) {
    const framed: FramedRoute = {
      route: path,
      answer,
      ...(crossOrigin && { crossOrigin }),
      ...(isCompressed && { isCompressed }),
    }
    elysia.route(method, path, ({ request, params }) => handleRequest(app, framed, request, params))
    if (isProbe) probes.set(`${method} ${path}`, framed)
  }
  for (const [path, methods] of groupMethods(routes)) {
    const framed: FramedRoute = { route: path, answer: () => Promise.reject(methodNotAllowed(methods)) }
    elysia.all(path, ({ request, params }) => handleRequest(app, framed, request, params))
  }
  const refuse = (request: Request, fault: unknown) =>
    handleRequest(app, { route: 'unmatched', answer: () => Promise.reject(fault) }, request, {})
  const pageFor = missingPage()
  const refusePath = (request: Request) => {
    const answer = pageFor(request)
    if (answer === null) return refuse(request, unknownPath())
    return handleRequest(app, { route: 'unmatched', answer }, request, {})
  }
  elysia.onError(({ request, error }) =>
    error instanceof NotFoundError ? refusePath(request) : refuse(request, error),
  )
  const hasValidHost = createHostCheck()
  return {
    paths: [...new Set(routes.map(({ path }) => path))],
    slowPaths: new Set(routes.filter(({ isSlow }) => isSlow).map(({ path }) => path)),
    fetch(request, isPlain) {
      if (isTargetTooLong(request)) return refuse(request, new RequestError('uri_too_long'))
      if (!hasValidHost(request)) {
        const probe = isPlain ? probes.get(probeOf(request)) : undefined
        return probe ? handleRequest(app, probe, request, {}) : refuse(request, invalidRequest([BAD_HOST]))
      }
      return isPlain ? elysia.fetch(request) : refusePath(request)
    },
  }
}

const BAD_HOST = { path: 'Host', message: 'Host must be a host name, with or without a port' }

/**
 * Returns a check of the Host header. Routes are matched by a URL that contains the Host: with a slash in the Host, the
 * URL would name another path.
 */
function createHostCheck(): (request: Request) => boolean {
  // Most requests have the same Host as the request before, so the last valid Host is remembered. The slash at the end
  // of `origin` ends the Host: any path may follow it.
  let known: { host: string; origin: string } | undefined
  return ({ headers, url }) => {
    const host = headers.get('host')
    if (known !== undefined && host === known.host && url.startsWith(known.origin)) return true
    const isValid = URL.canParse(url) && (host === null || /^[^\s/?#@\\]+$/.test(host))
    const origin = `${url.slice(0, url.indexOf(':'))}://${host}/`
    if (isValid && host !== null && url.startsWith(origin)) known = { host, origin }
    return isValid
  }
}

/**
 * Returns the method and the path of a request without a Host; empty when there is one. Load balancers check front doors
 * with such requests, mostly in HTTP/1.0.
 */
function probeOf(request: Request): string {
  const { headers, method } = request
  if (headers.get('host')) return ''
  return `${method === 'HEAD' ? 'GET' : method} ${urlOf(request).pathname}`
}

const unknownPath = () => new RequestError('not_found', { reason: faultOf('', 'no_path') })

function groupMethods(routes: readonly Route[]): Map<string, string[]> {
  const byPath = Map.groupBy(routes, ({ path }) => path)
  return new Map([...byPath].map(([path, group]) => [path, group.map(({ method }) => method)]))
}

function methodNotAllowed(methods: string[]): RequestError {
  const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods
  return new RequestError('method_not_allowed', { headers: { Allow: allowed.join(', ') } })
}
