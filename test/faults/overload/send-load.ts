/** Sends by the clock, whatever the answers, over connections that are open already: what cannot be sent waits here as a number. */
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, connect } from '../../bench/generator/connection.ts'
import type { OverloadPlan, OverloadResult } from './plan.ts'
import { type OverloadTally, createOverloadTally } from './tally.ts'

const TICK_MS = 1
/** For the answers that are still out at the end. */
const PATIENCE_MS = 30_000
/** Without a rate: more than any machine does. */
const FASTEST = 100_000

interface Lane {
  connection: Connection
  /** The request under way, counted from 0, and when it was sent. */
  n: number | undefined
  sentAt: number
}

export async function prepareLoad(plan: OverloadPlan): Promise<{ run(): Promise<OverloadResult> }> {
  const most = Math.ceil((plan.rate ?? FASTEST) * plan.seconds)
  const tally = createOverloadTally(most)
  const crowd = createCrowd(plan, tally)
  for (let at = 0; at < plan.connections; at += 1) await crowd.connect()
  return {
    async run() {
      const started = performance.now()
      const elapsed = () => performance.now() - started
      const isOver = () => elapsed() >= plan.seconds * 1000
      crowd.begin(() => {
        if (isOver()) return 0
        return plan.rate === undefined ? most : Math.min(most, Math.ceil((plan.rate * elapsed()) / 1000))
      })
      while (!isOver()) {
        crowd.sendDue()
        await sleep(TICK_MS)
      }
      const ms = elapsed()
      while (crowd.open() > 0 && elapsed() < ms + PATIENCE_MS) await sleep(TICK_MS)
      const result = tally.result(ms / 1000, crowd.sent())
      await writeFile(plan.outcomesFile, tally.outcomes.subarray(0, result.sent))
      return result
    },
  }
}

function createCrowd(plan: OverloadPlan, tally: OverloadTally) {
  const url = new URL(plan.url)
  const heads = plan.keys.map((key) => headsOf(url, key))
  const idle: Lane[] = []
  let sent = 0
  let open = 0
  let due = (): number => 0

  const sendDue = (): void => {
    const most = due()
    while (sent < most) {
      const lane = idle.pop()
      if (!lane) return
      const body = bodyOf(plan.first + sent)
      Object.assign(lane, { n: sent, sentAt: performance.now() })
      lane.connection.send(`${headOf(heads, sent)}${body.length}\r\n\r\n${body}`)
      sent += 1
      open += 1
    }
  }
  const take = (lane: Lane): number | undefined => {
    const { n } = lane
    lane.n = undefined
    if (n !== undefined) open -= 1
    return n
  }
  const onAnswer = (lane: Lane, status: number, answer: Buffer): void => {
    const n = take(lane)
    if (n === undefined) throw new Error('An answer that nobody asked for')
    tally.answered(n, status, answer, performance.now() - lane.sentAt)
    idle.push(lane)
    sendDue()
  }
  const onEnd = (lane: Lane): void => {
    const n = take(lane)
    if (n !== undefined) tally.broken(n)
    const at = idle.indexOf(lane)
    if (at !== -1) idle.splice(at, 1)
    void connectLane().catch(() => undefined)
  }
  const connectLane = async (): Promise<void> => {
    const connection = await connect(url, {
      onAnswer: (status, answer) => onAnswer(lane, status, answer),
      onEnd: () => onEnd(lane),
    })
    const lane: Lane = { connection, n: undefined, sentAt: 0 }
    idle.push(lane)
  }
  return {
    connect: connectLane,
    /** `dueNow`: how many should have been sent by now. */
    begin: (dueNow: () => number) => void (due = dueNow),
    sendDue,
    sent: () => sent,
    open: () => open,
  }
}

/** For who waits for the answer, and for who does not: every fourth. */
function headsOf({ host }: URL, key: string): [waiting: string, async: string] {
  const head = (more: string) =>
    `POST /api/sdk/track HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${more}Content-Length: `
  return [head(''), head('Prefer: respond-async\r\n')]
}

const headOf = (heads: [string, string][], n: number): string => heads[n % heads.length]?.[n % 4 === 3 ? 1 : 0] ?? ''

const PEOPLE = 1000

/** Half of them with a key. All of it is ASCII: its length is its length in bytes. */
function bodyOf(n: number): string {
  const key = n % 2 === 0 ? `,"idempotencyKey":"overload-${n}"` : ''
  return `{"event":"overloaded","identity":{"email":"o${n % PEOPLE}@example.com"},"properties":{"n":${n},"page":"/catalogue/shoes","referrer":"https://www.example.com/search?q=running+shoes"}${key}}`
}
