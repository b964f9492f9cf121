import type { Outgoing } from './verdict.ts'
import type { Answer } from './classify-response.ts'

/** What is read of an answer; platforms say little. */
const MOST_BYTES = 65_536
const LONGEST_WAIT_MS = 24 * 3_600_000

/** Follows no redirect. Rejects when there is no whole answer before `signal` aborts. */
export async function post(outgoing: Outgoing, signal: AbortSignal): Promise<Answer> {
  const response = await request(outgoing, signal)
  return answerOf(response, await readStart(response))
}

/** As `post`, of a peer whose status says it all: a body that breaks off or never ends takes nothing back. */
export async function postForStatus(outgoing: Outgoing, signal: AbortSignal): Promise<Answer> {
  const response = await request(outgoing, signal)
  response.body?.cancel().catch(() => undefined)
  return answerOf(response, '')
}

function request({ url, headers, body }: Outgoing, signal: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'user-agent': 'Sluice', ...headers },
    body,
    redirect: 'manual',
    signal,
  })
}

function answerOf({ status, headers }: Response, text: string): Answer {
  return { status, retryAfterMs: readRetryAfter(headers.get('retry-after')), text }
}

async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  const body = response.body as AsyncIterable<Uint8Array> | null
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    length += chunk.length
    // The rest is not waited for: leaving the loop cancels it.
    if (length >= MOST_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MOST_BYTES).toString('utf8')
}

/** Seconds, or a date; a day at most. */
export function readRetryAfter(text: string | null, now = Date.now()): number | null {
  if (text === null) return null
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), LONGEST_WAIT_MS)
}

/** Why there was no answer; addresses and what a peer sent stay out. */
export function describeNetworkError(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError' || name === 'AbortError') return 'no answer in time'
  const told = codeOf(error) ?? codeOf((error as { cause?: unknown } | null)?.cause) ?? name
  return /^\w{1,64}$/.test(told) ? `not reached: ${told}` : 'not reached'
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
