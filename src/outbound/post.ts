import type { OutgoingRequest } from './send-result.ts'
import type { ResponseSummary } from './classify-response.ts'

/** The most bytes of a response that are read. */
const MAX_BYTES = 65_536
const MAX_RETRY_AFTER_MS = 24 * 3_600_000

/** Does not follow redirects. Rejects when there is no complete response before `signal` aborts. */
export async function post(request: OutgoingRequest, signal: AbortSignal): Promise<ResponseSummary> {
  const response = await sendRequest(request, signal)
  return summarize(response, await readStart(response))
}

/** Like `post`, but reads only the status: a body that breaks off or never ends does not matter. */
export async function postForStatus(request: OutgoingRequest, signal: AbortSignal): Promise<ResponseSummary> {
  const response = await sendRequest(request, signal)
  response.body?.cancel().catch(() => undefined)
  return summarize(response, '')
}

function sendRequest({ url, headers, body }: OutgoingRequest, signal: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'user-agent': 'Sluice', ...headers },
    body,
    redirect: 'manual',
    signal,
  })
}

function summarize({ status, headers }: Response, text: string): ResponseSummary {
  return { status, retryAfterMs: readRetryAfter(headers.get('retry-after')), text }
}

async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  const body = response.body as AsyncIterable<Uint8Array> | null
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    length += chunk.length
    // Leaving the loop cancels the rest.
    if (length >= MAX_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_BYTES).toString('utf8')
}

/** Reads Retry-After: seconds, or a date. Returns ms, a day at most; null when it is absent or invalid. */
export function readRetryAfter(text: string | null, now = Date.now()): number | null {
  if (text === null) return null
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS)
}

/** The reason why there was no response, without addresses and without data of the peer. */
export function describeNetworkError(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError' || name === 'AbortError') return 'no answer in time'
  const code = codeOf(error) ?? codeOf((error as { cause?: unknown } | null)?.cause) ?? name
  return /^\w{1,64}$/.test(code) ? `not reached: ${code}` : 'not reached'
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
