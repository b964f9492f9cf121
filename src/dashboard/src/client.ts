/** The only way to the server. Types come from the API description (`npm run build:dashboard` writes api.d.ts). */
import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'
import { type Failure, type Issue, translateError } from './translate-error.ts'
import { listWhileSlow } from './slow-charts.ts'

export type { Issue }

/** An error that the server returned, or `offline` when it did not answer. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly issues: readonly Issue[]
  /** Code of a more precise message; undefined when the code of the error says everything. */
  readonly reason: string | undefined

  constructor(
    code: string,
    message: string,
    { status = 0, issues = [] as readonly Issue[], reason = undefined as string | undefined } = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.issues = issues
    this.reason = reason
  }
}

/** Set by the shell: what to do when the session has ended, and when the server requires a confirmation. */
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

/** Returns the data of a successful reply. Throws ApiError. */
export async function take<T>(request: Promise<Reply<T>>): Promise<T> {
  const answer = await request.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError('offline', 'The server did not answer.')
  })
  if (answer.data !== undefined) return answer.data.data
  const { message = answer.response.statusText, error } = await translateError((answer.error ?? {}) as Failure)
  throw new ApiError(error?.code ?? 'internal', message, {
    status: answer.response.status,
    issues: error?.issues ?? [],
    reason: error?.reason?.code,
  })
}

/** For changes that the server may also store now and apply later. Throws ApiError. */
export async function apply(
  request: Promise<Pick<Reply<unknown>, 'error' | 'response'> & { data?: unknown }>,
): Promise<void> {
  await take(request as Promise<Reply<unknown>>)
}
