/** Sends one load over open connections, and measures the responses. */
import { setTimeout as sleep } from 'node:timers/promises'
import { openCrowd } from './crowd.ts'
import { createPace } from './pace.ts'
import type { LoadPlan, LoadResult } from './plan.ts'
import { type Tally, createTally } from './tally.ts'
import { makeBody } from './traffic.ts'

const TICK_MS = 1
/** Milliseconds to wait for responses after the last request. */
const PATIENCE_MS = 30_000

/** Number of a request, and when it was due in milliseconds since the start. */
interface Ticket {
  n: number
  dueAt: number
}

/** Opens all connections. `run` begins the load itself. */
export async function prepareLoad(plan: LoadPlan): Promise<{ run(): Promise<LoadResult> }> {
  const url = new URL(plan.url)
  const pace = createPace(plan)
  const makeRequest = createRequests(plan, url)
  let tally: Tally
  let start = Infinity
  let sent = 0

  const elapsed = () => performance.now() - start
  const crowd = await openCrowd<Ticket>(url, plan.connections, {
    answered({ n, dueAt }, status) {
      tally.answered(n, status, dueAt, elapsed())
      sendDue()
    },
    broken: () => tally.lost('broken', 1),
  })
  function sendDue(): void {
    const now = elapsed()
    const due = pace.due(now)
    for (; sent < due && crowd.free() > 0; sent += 1) {
      const ticket = { n: plan.first + sent, dueAt: pace.dueAt(sent, now) }
      tally.sent(now - ticket.dueAt)
      crowd.send(makeRequest(ticket.n), ticket)
    }
  }
  async function send(): Promise<number> {
    while (elapsed() < plan.seconds * 1000 && sent < (plan.requests ?? Infinity)) {
      sendDue()
      await sleep(TICK_MS)
    }
    sendDue()
    return elapsed() / 1000
  }

  return {
    async run() {
      const cpu = process.cpuUsage()
      start = performance.now()
      tally = createTally(performance.timeOrigin + start, { sendsMs: plan.seconds * 1000, trace: plan.trace ?? false })
      const seconds = await send()
      while (crowd.underWay() > 0 && elapsed() < seconds * 1000 + PATIENCE_MS) await sleep(TICK_MS)
      if (crowd.underWay() > 0) tally.lost('unanswered', crowd.underWay())
      const { user, system } = process.cpuUsage(cpu)
      return { ...tally.result(seconds), cpuUs: user + system }
    },
  }
}

/** Returns the text of a request by its number. The requests of each business are numbered separately. */
function createRequests({ traffic, keys }: LoadPlan, { host }: URL): (n: number) => string {
  const path = traffic.kind === 'batch' ? '/api/sdk/track/batch' : '/api/sdk/track'
  const heads = keys.map((key) => {
    const lines = [`POST ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${key}`]
    return [...lines, 'Content-Type: application/json', 'Content-Length: '].join('\r\n')
  })
  return (n) => {
    const body = makeBody(traffic, Math.floor(n / heads.length))
    return `${heads[n % heads.length]}${body.length}\r\n\r\n${body}`
  }
}
