/**
 * The traffic of clients: live events, batches and identifies of several businesses, from concurrent senders. Refused
 * requests are sent again; unknown ones when that is safe (with a key, or an identify). The ledger records everything.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Attempt,
  type AnswerData,
  type Ledger,
  type Outcome,
  type Sending,
  isAcknowledged,
  isKept,
} from './ledger.ts'
import { type Sender, type People, isRepeatable, makeBatch, makeLive } from './make-requests.ts'
import type { Chance } from './seeded.ts'
import type { Business } from './create-businesses.ts'

export interface Traffic {
  /** Sends no new requests; resolves when each open one is acknowledged or given up. */
  stop(): Promise<void>
}

export interface TrafficOptions {
  url: string
  businesses: Business[]
  ledger: Ledger
  chance: Chance
  /** Longest pause of a sender between two requests, in milliseconds. */
  pauseMs?: number
}

const LIVE_SENDERS = 2
const AGAIN_MS = 100
const GIVE_UP_MS = 30_000
const CLIENT_TIMEOUT_MS = 10_000
/** Some events are dated this many milliseconds before the traffic. */
const LONG_AGO_MS = 10_000_000_000

export function startTraffic({ url, businesses, ledger, chance, pauseMs = 30 }: TrafficOptions): Traffic {
  const stopping = new AbortController()
  const run = async (sender: Sender, next: () => Sending): Promise<void> => {
    while (!stopping.signal.aborted) {
      await deliver(url, next(), stopping.signal)
      await sleep(sender.chance.between(1, pauseMs))
    }
  }
  const senders = businesses.flatMap((business, at) => {
    const people: People = {
      name: `${at}-${chance.below(1e6)}`,
      counts: { all: 0, live: 0 },
      since: Date.now() - LONG_AGO_MS,
    }
    const sender = (): Sender => ({ business, ledger, chance: chance.fork(), people })
    const live = Array.from({ length: LIVE_SENDERS }, sender).map((one) => run(one, () => makeLive(one)))
    const past = sender()
    return [...live, run(past, () => makeBatch(past))]
  })
  return {
    async stop() {
      stopping.abort()
      await Promise.all(senders)
    },
  }
}

/** Sends until the request is acknowledged or must not be sent again. */
export async function deliver(url: string, sending: Sending, stopping?: AbortSignal): Promise<void> {
  const isOver = (made: Attempt) => isKept(made) || (made.outcome === 'unknown' && !isRepeatable(sending))
  await repeat(() => attempt(url, sending), isOver, stopping)
}

/** Repeats until it is over or rejected, and not for long once the traffic stops. */
export async function repeat(
  make: () => Promise<Attempt>,
  isOver: (made: Attempt) => boolean,
  stopping?: AbortSignal,
): Promise<void> {
  let stoppedAt = Infinity
  for (;;) {
    const made = await make()
    if (isOver(made) || made.outcome === 'rejected') return
    if (stopping?.aborted) stoppedAt = Math.min(stoppedAt, Date.now())
    if (Date.now() - stoppedAt > GIVE_UP_MS) return
    await sleep(AGAIN_MS)
  }
}

/**
 * After Redis has lost its data: sends again everything that was not acknowledged, as long as the service accepts it.
 */
export async function deliverAgain(url: string, ledger: Ledger): Promise<void> {
  const open = ledger.sendings.filter((sending) => !isAcknowledged(sending) && isRepeatable(sending))
  const deadline = Date.now() + GIVE_UP_MS
  for (const sending of open) if (Date.now() < deadline) await deliver(url, sending, AbortSignal.abort())
}

const PATHS: Record<Sending['kind'], string> = { track: 'track', batch: 'track/batch', identify: 'identify' }

export const attempt = (url: string, { business, kind, body, unkeyed, attempts }: Sending): Promise<Attempt> =>
  record(attempts, {
    method: 'POST',
    url: `${url}/api/sdk/${PATHS[kind]}`,
    headers: unkeyed ? fromAnywhere() : bearer(business),
    body,
  })

export interface ClientRequest {
  method: string
  url: string
  headers: Record<string, string>
  body: object | undefined
}

interface AnswerBody {
  data?: AnswerData
  error?: { code: string }
}

/** Sends a request once, and records the attempt. */
export async function record(attempts: Attempt[], request: ClientRequest): Promise<Attempt> {
  const made: Attempt = { sentAt: Date.now(), endedAt: Infinity, outcome: 'unknown', answer: 'under way', data: {} }
  attempts.push(made)
  return Object.assign(made, await send(request), { endedAt: Date.now() })
}

async function send({ method, url, headers, body }: ClientRequest): Promise<Omit<Attempt, 'sentAt' | 'endedAt'>> {
  try {
    const response = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(CLIENT_TIMEOUT_MS),
      // When an open connection breaks, some clients resend automatically, which the ledger would not notice.
      keepalive: false,
    })
    const { data = {}, error } = (await response.json()) as AnswerBody
    const code = error?.code ?? ''
    const detail = `${method} ${url}: ${JSON.stringify(error)}`
    const outcome = outcomeOf(response.status, code, data)
    return { outcome, answer: `${response.status} ${code || outcome}`, detail, data }
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException
    return { outcome: 'unknown', answer: code ?? name, detail: `${method} ${url}`, data: {} }
  }
}

export const bearer = ({ secretKey }: Business) => ({ authorization: `Bearer ${secretKey}` })

/** Callers without a key are limited by their address, as a proxy reports it. */
const fromAnywhere = () => ({
  'x-forwarded-for': `fd00:${randomInt(0xffff).toString(16)}:${randomInt(0xffff).toString(16)}::1`,
})

/** Answers to parts of imports and to lists of choices are 200 even if some of their rows are only queued. */
function outcomeOf(status: number, code: string, { queued }: AnswerData): Outcome {
  if (status === 200) return queued !== undefined && queued > 0 ? 'queued' : 'answered'
  if (status === 202) return 'queued'
  if (status === 503) return code === 'unavailable' ? 'refused' : 'unknown'
  return 'rejected'
}
