/** Sends one request and reads its whole response, within a time limit. */
import { type Answer, ENDED, failure, readAnswer, reasonOf, TIMED_OUT } from './answer.ts'
import type { Service } from './read-options.ts'
import { within } from './timers.ts'

export interface PostRequest {
  /** Path below `/api/sdk`. */
  path: string
  /** JSON. */
  body: string
  /** Time limit of one attempt, in milliseconds. */
  timeoutMs: number
  /** Deadline of all attempts, on the clock of `now`. */
  deadline: number
  signal: AbortSignal
  /** Number of attempts so far. */
  tries: number
}

/** The response to a batch in which every item failed is far smaller. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** Never rejects, and never takes longer than `timeoutMs`, whatever the server does. */
export async function post(service: Service, request: PostRequest, timeoutMs: number): Promise<Answer> {
  const answer = await within(timeoutMs, (signal) => exchange(service, request, signal), request.signal)
  return answer ?? (request.signal.aborted ? ENDED : TIMED_OUT)
}

async function exchange(
  service: Service,
  { path, body }: PostRequest,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const { url, apiKey, fetch } = service
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  try {
    const response = await fetch(`${url}/api/sdk/${path}`, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal,
    })
    return readAnswer(response, await readText(response).catch(() => ''))
  } catch (error) {
    return signal.aborted ? undefined : failure('unreachable', `No answer: ${causeOf(error)}`)
  }
}

/** Cuts a response that does not end or is too long. It is then not valid JSON. */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let left = MAX_ANSWER_BYTES
  for await (const bytes of (body ?? []) as AsyncIterable<Uint8Array>) {
    if ((left -= bytes.byteLength) < 0) break
    text += decoder.decode(bytes, { stream: true })
  }
  return text
}

/** Node's message is only "fetch failed". The reason is in its cause. */
const causeOf = (error: unknown): string => reasonOf((Object(error) as Error).cause ?? error)
