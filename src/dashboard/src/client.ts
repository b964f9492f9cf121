/** The only way to the server: typed by its own description (`npm run build:dashboard` writes api.d.ts). */
import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'
import { listWhileSlow } from './slow-charts.ts'

export interface Issue {
  path: string
  message: string
}

/** What the server refused, or `offline` when there was no answer. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly issues: readonly Issue[]

  constructor(code: string, message: string, { status = 0, issues = [] as readonly Issue[] } = {}) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.issues = issues
  }
}

/** Set by the shell: what happens when the session has ended, and when the server wants the person to confirm. */
export const hooks: { signedOut: () => void; confirm: () => Promise<boolean> } = {
  signedOut: () => undefined,
  confirm: () => Promise.resolve(false),
}

export const api = createClient<paths>({ baseUrl: '', fetch: (request) => listWhileSlow(request, () => send(request)) })

async function send(request: Request): Promise<Response> {
  const again = request.clone()
  const response = await fetch(request)
  if (response.status !== 401 && response.status !== 403) return response
  const code = await readCode(response.clone())
  if (code === 'not_signed_in') hooks.signedOut()
  if (code === 'confirmation_required' && (await hooks.confirm())) return fetch(again)
  return response
}

async function readCode(response: Response): Promise<string | undefined> {
  const body = (await response.json().catch(() => ({}))) as { error?: { code?: string } }
  return body.error?.code
}

interface Reply<T> {
  data?: { data: T } | undefined
  error?: unknown
  response: Response
}

/** The data of a success. Throws ApiError. */
export async function take<T>(asked: Promise<Reply<T>>): Promise<T> {
  const answer = await asked.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError('offline', 'The server did not answer.')
  })
  if (answer.data !== undefined) return answer.data.data
  const { message = answer.response.statusText, error } = (answer.error ?? {}) as Failure
  throw new ApiError(error?.code ?? 'internal', message, {
    status: answer.response.status,
    issues: error?.issues ?? [],
  })
}

/** For changes that the server may also store and apply later. Throws ApiError. */
export async function apply(
  asked: Promise<Pick<Reply<unknown>, 'error' | 'response'> & { data?: unknown }>,
): Promise<void> {
  await take(asked as Promise<Reply<unknown>>)
}

interface Failure {
  message?: string
  error?: { code: string; issues?: Issue[] }
}
