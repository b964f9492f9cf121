import { describeApi } from '../openapi/describe-api.ts'
import type { Route } from '../app-context.ts'
import { renderPage } from '../openapi/render-page.ts'

/** The OpenAPI description of the given routes, for programs and for people. Made once. */
export function openApiRoutes(routes: readonly Route[]): readonly Route[] {
  const document = describeApi(routes)
  const json = JSON.stringify(document)
  const page = renderPage(document)
  return [
    { method: 'GET', path: '/openapi.json', answer: () => send(json, 'application/json'), operation: null },
    { method: 'GET', path: '/openapi', answer: () => send(page, 'text/html; charset=utf-8'), operation: null },
  ]
}

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page is complete by itself: it loads nothing, and may not. */
function send(text: string, type: string): Promise<Response> {
  const headers = { 'Content-Type': type, 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' }
  return Promise.resolve(new Response(text, { headers }))
}
