/** One request to `track/batch`, until it has been answered: sending it again is safe, since every row carries its key. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { CommandError } from '../command.ts'

export interface Sender {
  url: string
  key: string
  signal: AbortSignal
  /** How long nothing may come back before it gives up, in ms. */
  patienceMs: number
  /** Told whenever a request waits, why, and for how long (ms). */
  onWait(reason: string, waitMs: number): void
  /** Shared by the requests in flight. Epoch ms. */
  state: { pausedUntil: number; lastSign: number }
}

const Answer = Type.Object({
  data: Type.Object({
    recorded: Type.Integer(),
    deduped: Type.Integer(),
    failures: Type.Array(Type.Object({ index: Type.Integer(), error: Type.String() })),
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
})
export type BatchResult = Static<typeof Answer>['data']

const Refusal = Type.Object({ message: Type.String() })

/** What one attempt came to: an answer, or a reason to wait and to send again. */
type Attempt = BatchResult | { wait: string; retryAfterMs?: number; sign: boolean }

const TIMEOUT_MS = 120_000

/** Sends the events (JSON texts). Throws CommandError when the service refuses for good or stays silent. */
export async function sendBatch(sender: Sender, events: string[]): Promise<BatchResult> {
  const body = `{"events":[${events.join(',')}]}`
  for (let attempt = 1; ; attempt++) {
    await waitForPause(sender)
    const outcome = await attemptOnce(sender, body)
    if (!('wait' in outcome)) {
      sender.state.lastSign = Date.now()
      return outcome
    }
    await pause(sender, outcome, attempt)
  }
}

async function attemptOnce(sender: Sender, body: string): Promise<Attempt> {
  try {
    const response = await fetch(`${sender.url}/api/sdk/track/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sender.key}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.any([sender.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    return judge(response.status, response.headers.get('retry-after'), await response.text())
  } catch (error) {
    if (error instanceof CommandError || sender.signal.aborted) throw error
    return { wait: `${sender.url} cannot be reached (${(error as Error).message})`, sign: false }
  }
}

/** Too many, too busy or broken: wait. 202 is kept but says nothing of each row, so it is sent once more for the outcome. */
function judge(status: number, retryAfter: string | null, text: string): Attempt {
  const answer = parse(text)
  if (status === 200 && Value.Check(Answer, answer)) return answer.data
  const retryAfterMs = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined
  const waiting = { ...(retryAfterMs !== undefined && { retryAfterMs }), sign: status === 429 || status === 202 }
  if (status === 429) return { ...waiting, wait: 'the rate limit is reached' }
  if (status === 202) return { ...waiting, wait: 'the service is behind' }
  // Cut short on its way, perhaps.
  if (status === 200) return { ...waiting, wait: 'the answer of the service cannot be read' }
  if (status === 408 || status >= 500) return { ...waiting, wait: `the service answers ${status}` }
  const message = Value.Check(Refusal, answer) ? answer.message : text.slice(0, 200)
  throw new CommandError('refused', `The service refuses the import with ${status}: ${message}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Holds every request back as long as the service asks, or longer from attempt to attempt. */
async function pause(
  { state, patienceMs, onWait, signal }: Sender,
  { wait, retryAfterMs, sign }: Exclude<Attempt, BatchResult>,
  attempt: number,
): Promise<void> {
  const now = Date.now()
  if (sign) state.lastSign = now
  if (now - state.lastSign > patienceMs) {
    const seconds = Math.round((now - state.lastSign) / 1000)
    throw new CommandError(
      'gave_up',
      `No batch was taken for ${seconds} s (${wait}). Run the same command again to go on`,
    )
  }
  const waitMs = retryAfterMs ?? Math.min(250 * 2 ** (attempt - 1), 15_000) * (0.5 + Math.random() / 2)
  onWait(wait, waitMs)
  if (retryAfterMs !== undefined) state.pausedUntil = Math.max(state.pausedUntil, now + retryAfterMs)
  await sleep(waitMs, undefined, { signal })
}

async function waitForPause({ state, signal }: Sender): Promise<void> {
  for (let left = state.pausedUntil - Date.now(); left > 0; left = state.pausedUntil - Date.now())
    await sleep(left, undefined, { signal })
}
