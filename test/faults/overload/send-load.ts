/**
 * Sends at a fixed rate over open connections, regardless of answers. Requests that cannot be sent yet wait only as a
 * number.
 */
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCrowd } from '../../bench/generator/crowd.ts'
import type { OverloadPlan, OverloadResult } from './plan.ts'
import { createOverloadTally } from './tally.ts'

const TICK_MS = 1
/** Milliseconds to wait for answers at the end. */
const PATIENCE_MS = 30_000
/** For a load without a rate: more than any machine can do. */
const FASTEST = 100_000

/** Number of a request, counted from 0, and when it was sent. */
interface Ticket {
  n: number
  sentAt: number
}

export async function prepareLoad(plan: OverloadPlan): Promise<{ run(): Promise<OverloadResult> }> {
  const most = Math.ceil((plan.rate ?? FASTEST) * plan.seconds)
  const tally = createOverloadTally(most)
  const url = new URL(plan.url)
  const heads = plan.keys.map((key) => headsOf(url, key))
  let started = Infinity
  let sent = 0

  const elapsed = () => performance.now() - started
  const isOver = () => elapsed() >= plan.seconds * 1000
  const due = (): number => {
    if (isOver()) return 0
    return plan.rate === undefined ? most : Math.min(most, Math.ceil((plan.rate * elapsed()) / 1000))
  }
  const crowd = await openCrowd<Ticket>(url, plan.connections, {
    answered({ n, sentAt }, status, answer) {
      tally.answered(n, status, answer, performance.now() - sentAt)
      sendDue()
    },
    broken: ({ n }) => tally.broken(n),
  })
  function sendDue(): void {
    for (const dueNow = due(); sent < dueNow && crowd.free() > 0; sent += 1) {
      const body = bodyOf(plan.first + sent)
      const request = `${headOf(heads, sent)}${body.length}\r\n\r\n${body}`
      crowd.send(request, { n: sent, sentAt: performance.now() })
    }
  }

  return {
    async run() {
      started = performance.now()
      while (!isOver()) {
        sendDue()
        await sleep(TICK_MS)
      }
      const ms = elapsed()
      while (crowd.underWay() > 0 && elapsed() < ms + PATIENCE_MS) await sleep(TICK_MS)
      const result = tally.result(ms / 1000, sent)
      await writeFile(plan.outcomesFile, tally.outcomes.subarray(0, result.sent))
      return result
    },
  }
}

/** Headers for callers that wait for the answer and, in every fourth request, for those that do not. */
function headsOf({ host }: URL, key: string): [waiting: string, async: string] {
  const head = (more: string) =>
    `POST /api/sdk/track HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${more}Content-Length: `
  return [head(''), head('Prefer: respond-async\r\n')]
}

const headOf = (heads: [string, string][], n: number): string => heads[n % heads.length]?.[n % 4 === 3 ? 1 : 0] ?? ''

const PEOPLE = 1000

/** Half of the events have a key. All text is ASCII, so that its length is its size in bytes. */
function bodyOf(n: number): string {
  const key = n % 2 === 0 ? `,"idempotencyKey":"overload-${n}"` : ''
  return `{"event":"overloaded","identity":{"email":"o${n % PEOPLE}@example.com"},"properties":{"n":${n},"page":"/catalogue/shoes","referrer":"https://www.example.com/search?q=running+shoes"}${key}}`
}
