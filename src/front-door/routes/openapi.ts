import { describeApi } from '../openapi/describe-api.ts'
import type { Route } from '../app-context.ts'

/**
 * Serves the OpenAPI description of the given routes, which is made once. `/openapi` redirects to the page that shows
 * it to people.
 */
export function openApiRoutes(routes: readonly Route[]): readonly Route[] {
  const json = JSON.stringify(describeApi(routes))
  return [
    { method: 'GET', path: '/openapi.json', answer: () => sendJson(json), operation: null },
    {
      method: 'GET',
      path: '/openapi',
      answer: (_, context) => {
        context.headers['Location'] = '/dashboard/reference'
        return Promise.resolve(new Response(null, { status: 302 }))
      },
      operation: null,
    },
  ]
}

const sendJson = (json: string): Promise<Response> =>
  Promise.resolve(new Response(json, { headers: { 'Content-Type': 'application/json' } }))
