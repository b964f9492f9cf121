/** Sends one request to an address that `resolveTarget` allows, over a connection of its own. */
import type { LookupAddress } from 'node:dns'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { OutgoingRequest } from './send-result.ts'
import type { ResponseSummary } from './classify-response.ts'
import { resolveTarget } from './resolve-target.ts'
import type { TargetGuard } from './target-guard.ts'

/** A request whose body may be bytes. */
interface PostedRequest extends Omit<OutgoingRequest, 'body'> {
  body: string | Uint8Array
}

/** Limit on the bytes read of a response. */
const MAX_BYTES = 65_536
const MAX_RETRY_AFTER_MS = 24 * 3_600_000

/**
 * Posts a request. Does not follow redirects. Rejects when no complete response has arrived before `signal` aborts, and
 * with RefusedTargetError when the address is not allowed.
 */
export async function post(request: PostedRequest, guard: TargetGuard, signal: AbortSignal): Promise<ResponseSummary> {
  const response = await sendRequest(request, guard, signal)
  return summarize(response, await readStart(response, signal))
}

/** Like `post`, but reads only the status, so a body that breaks off or never ends does not matter. */
export async function postForStatus(
  request: PostedRequest,
  guard: TargetGuard,
  signal: AbortSignal,
): Promise<ResponseSummary> {
  const response = await sendRequest(request, guard, signal)
  response.on('error', () => undefined).destroy()
  return summarize(response, '')
}

/**
 * Like `post`. On success reads only the status; otherwise also the part of the body that arrives before `signal`
 * aborts.
 */
export async function postForReason(
  request: PostedRequest,
  guard: TargetGuard,
  signal: AbortSignal,
): Promise<ResponseSummary> {
  const response = await sendRequest(request, guard, signal)
  if (!isSuccess(response.statusCode ?? 0)) return summarize(response, await readWhatComes(response))
  response.on('error', () => undefined).destroy()
  return summarize(response, '')
}

/** Like `post`, but accepts an incomplete body: reads what arrives before `signal` aborts. */
export async function postForAnswer(
  request: PostedRequest,
  guard: TargetGuard,
  signal: AbortSignal,
): Promise<ResponseSummary> {
  const response = await sendRequest(request, guard, signal)
  return summarize(response, await readWhatComes(response))
}

/** Returns the text at an address. Rejects unless the status is a success. */
export async function getText(url: string, guard: TargetGuard, signal: AbortSignal): Promise<string> {
  const response = await sendRequest({ url, headers: {}, body: '' }, guard, signal, 'GET')
  const text = await readStart(response, signal)
  if (!isSuccess(response.statusCode ?? 0)) throw new Error(`HTTP ${response.statusCode}`)
  return text
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

async function sendRequest(
  { url, headers, body }: PostedRequest,
  guard: TargetGuard,
  signal: AbortSignal,
  method = 'POST',
): Promise<IncomingMessage> {
  const target = new URL(url)
  const addresses = await resolveTarget(target, guard, signal)
  const options = {
    method,
    headers: { 'user-agent': 'Sluice', ...headers, ...lengthOf(method, body) },
    // Connects to the addresses that were checked, not to those of a second lookup.
    lookup: lookupOf(addresses),
    // No connection reuse: an open connection could lead to an address that was checked for another request.
    agent: false as const,
    signal,
  }
  return new Promise((resolve, reject) => {
    const send = target.protocol === 'https:' ? requestHttps : requestHttp
    send(target, options, resolve).on('error', reject).end(body)
  })
}

const lengthOf = (method: string, body: PostedRequest['body']) =>
  method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) }

/** A lookup that returns known addresses. */
function lookupOf(addresses: LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = addresses
    if (all === true || first === undefined) done(null, addresses)
    else done(null, first.address, first.family)
  }
}

function summarize({ statusCode = 0, headers }: IncomingMessage, text: string): ResponseSummary {
  return { status: statusCode, retryAfterMs: readRetryAfter(headers['retry-after'] ?? null), text }
}

async function readStart(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  try {
    await readInto(chunks, response)
  } catch (error) {
    // Runtimes report an abort here as a broken connection.
    signal.throwIfAborted()
    throw error
  }
  return textOf(chunks)
}

async function readWhatComes(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  await readInto(chunks, response).catch(() => undefined)
  return textOf(chunks)
}

async function readInto(chunks: Buffer[], response: IncomingMessage): Promise<void> {
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    // Leaving the loop cancels the rest of the response.
    if (length >= MAX_BYTES) break
  }
}

const textOf = (chunks: Buffer[]): string => Buffer.concat(chunks).subarray(0, MAX_BYTES).toString('utf8')

/** Reads Retry-After (seconds or a date). Returns milliseconds, at most one day; null when it is absent or invalid. */
export function readRetryAfter(text: string | null, now = Date.now()): number | null {
  if (text === null) return null
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS)
}

/** Describes why there was no response. Contains no addresses and no data from the peer. */
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
