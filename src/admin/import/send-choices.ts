/** Sends the opt-ins of rows to `subscriptions/batch` of a running service. */
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../../async/backoff.ts'
import type { MappedChoice } from '../../imports/take-choices.ts'
import { CommandError } from '../command.ts'

/** Maximum number of choices that the API accepts in one request. */
const MAX_CHOICES = 500
const RETRY = { firstMs: 500, maxMs: 20_000 }

export interface ChoiceTarget {
  url: string
  key: string
  /** Throws when there is no response. */
  fetch: (url: string, request: RequestInit) => Promise<Response>
  patienceMs: number
  signal: AbortSignal
}

/**
 * Returns the error of each refused choice, by its index. Throws CommandError when the service refuses all of them, or
 * does not respond.
 */
export async function sendChoices(
  target: ChoiceTarget,
  choices: readonly MappedChoice[],
): Promise<Map<number, string>> {
  const errors = new Map<number, string>()
  for (let from = 0; from < choices.length; from += MAX_CHOICES) {
    const failures = await sendSome(target, choices.slice(from, from + MAX_CHOICES))
    for (const { index, error } of failures) errors.set(from + index, error)
  }
  return errors
}

interface Failure {
  index: number
  error: string
}

/** Resending changes nothing that was recorded. */
async function sendSome(target: ChoiceTarget, subscriptions: readonly MappedChoice[]): Promise<Failure[]> {
  const { url, key, patienceMs, signal } = target
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: JSON.stringify({ subscriptions }), signal }
  const deadline = performance.now() + patienceMs
  for (let attempts = 1; ; attempts += 1) {
    let reason = 'there was no answer'
    try {
      const response = await target.fetch(`${url}/api/subscriptions/batch`, request)
      const body = (await response.json()) as { message: string; data?: { failures: Failure[] } }
      if (response.ok) return body.data?.failures ?? []
      reason = body.message
      if (response.status < 500 && response.status !== 429)
        throw new CommandError('refused', `The service at ${url} rejected opt-ins with ${response.status}: ${reason}`)
    } catch (error) {
      if (error instanceof CommandError) throw error
      if (signal.aborted) throw new CommandError('stopped', 'Stopped. To continue, run the same command again')
    }
    if (performance.now() > deadline)
      throw new CommandError(
        'gave_up',
        `${url} accepted no opt-ins for ${patienceMs / 1000} s (${reason}). To continue, run the same command again`,
      )
    await sleep(backoffMs(attempts, RETRY), undefined, { signal }).catch(() => undefined)
  }
}
