import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { backlogKey } from '../../../src/stream/keys.ts'
import { allPartitions } from '../../../src/stream/partitions/partition-of.ts'
import { startTask } from '../../bench/task.ts'
import { readFigure } from '../look-as-operator.ts'
import { compareMarks } from '../overload/compare-marks.ts'
import type { OverloadPlan, OverloadResult } from '../overload/plan.ts'
import { readMarks } from '../overload/read-marks.ts'
import { type Memory, describePeaks, findGrowth, watchMemory } from '../overload/watch-memory.ts'
import type { Scenario, Stage } from '../run-scenario.ts'
import { ANSWER_TIMEOUT_MS, PARTITIONS, type World, createBusinesses } from '../world.ts'

const GENERATOR = new URL('../overload/generator.ts', import.meta.url)
const TIMES_TOO_MUCH = 10
const BUSINESSES = 4
/** Small, so that they are reached quickly. */
const LIMITS = { inFlight: 200, backlogBytes: 512 * 1024 }
const CALM_CONNECTIONS = 64
/** More than the front door accepts at a time, and enough for the rate if a refusal takes 200 ms. */
const crowdConnections = (rate: number) => Math.min(2000, Math.max(LIMITS.inFlight * 1.5, Math.ceil(rate / 5)))
/** An accepted request waits for its answer, and the machine may be busy. */
const MOST_LATENCY_MS = 5 * ANSWER_TIMEOUT_MS
/** Memory of Redis besides waiting requests: the limiter's windows, connections, scripts. */
const REDIS_SPARE_BYTES = 16 * 1024 * 1024
const SERVED_MS = 30_000

/** Sends ten times the sustainable rate: the excess is refused at once, and nothing grows during the load. */
export const overload: Scenario = {
  name: 'ten times the sustainable rate',
  // The front door is restarted with small limits, and again at the end.
  frontDoorStays: false,
  whyNot: () => Promise.resolve('bun' in process.versions ? undefined : 'the generator needs Bun'),
  async run(stage) {
    const { world, times } = stage
    await world.restartFrontDoor({
      MAX_IN_FLIGHT: String(LIMITS.inFlight),
      BACKLOG_LIMIT_BYTES: String(LIMITS.backlogBytes),
    })
    const crowd = await gatherCrowd(world)
    const calm = await crowd.send({ connections: CALM_CONNECTIONS, seconds: times(1.5, 10) })
    const sustainable = (calm.counts.answered + calm.counts.queued) / calm.seconds
    const watch = await watchMemory(world)
    const rate = sustainable * TIMES_TOO_MUCH
    const from = Date.now()
    const load = await crowd.send({ connections: crowdConnections(rate), seconds: times(4, 60), rate })
    const memory = await watch.stop()
    await untilDrained(stage, crowd.businessIds)
    await stage.untilServed(SERVED_MS)
    await expectCalm(stage)
    expectHttp(stage, from)
    checkAnswers(stage, load)
    checkMemory(stage, memory)
    noteRates(stage, sustainable, load)
    stage.note(`by the front door’s own clock ${await shareAtOnce(world.url)} of its 503s took less than 10 ms`)
    await world.restartFrontDoor({})
    stage.alsoAudit(async () => {
      const outcomes = await crowd.outcomes()
      return compareMarks(outcomes, await readMarks(world, crowd.businessIds, outcomes.length))
    })
  },
}

/** Callers of several businesses. Their requests are numbered across all loads. */
async function gatherCrowd(world: World) {
  const businesses = await createBusinesses(world, BUSINESSES)
  const keys = businesses.map(({ secretKey }) => secretKey)
  const files: string[] = []
  let first = 0
  return {
    businessIds: businesses.map(({ businessId }) => businessId),
    async send(load: Pick<OverloadPlan, 'connections' | 'seconds' | 'rate'>): Promise<OverloadResult> {
      const outcomesFile = join(world.folder, `outcomes-${files.length}`)
      files.push(outcomesFile)
      const task = await startTask<OverloadResult>(GENERATOR, { ...load, url: world.url, keys, first, outcomesFile })
      const result = await task.go()
      await task.end()
      first += result.sent
      return result
    },
    outcomes: async () => Buffer.concat(await Promise.all(files.map((file) => readFile(file)))),
  }
}

/** Waits until nothing of the crowd is in Redis. */
async function untilDrained({ world, check }: Stage, businessIds: string[]): Promise<void> {
  const deadline = Date.now() + SERVED_MS
  const waiting = (partition: string) => world.own.redis.hmget(backlogKey(partition), ...businessIds)
  while (Date.now() < deadline) {
    const bytes = (await Promise.all(allPartitions(PARTITIONS).map(waiting))).flat()
    if (bytes.every((one) => one === null)) return
    await sleep(20)
  }
  check(false, `the backlog is not worked off ${SERVED_MS} ms after the crowd has left`)
}

/** Checks that callers are accepted at once again. */
async function expectCalm({ ledger, times, check }: Stage): Promise<void> {
  const from = Date.now()
  await sleep(times(300, 5000))
  const refused = ledger.attempts().filter(({ sentAt, answer }) => sentAt >= from && answer.startsWith('503'))
  check(refused.length === 0, `${refused.length} callers were refused after the crowd had left`)
}

/** Checks that the front door answered every caller. */
function expectHttp({ ledger, check }: Stage, from: number): void {
  const silent = ledger.attempts().filter(({ sentAt, answer }) => sentAt >= from && !/^(\d|under way)/.test(answer))
  check(silent.length === 0, `${silent.length} callers got no HTTP answer: ${silent[0]?.answer}`)
}

function checkAnswers({ check }: Stage, { sent, counts, withoutRetryAfter, accepted, refused }: OverloadResult): void {
  check(counts.answered > 0, 'nobody was answered any more')
  check(counts.refused > 0, 'nobody was refused')
  check(withoutRetryAfter === 0, `${withoutRetryAfter} of the 503s had no Retry-After`)
  check(counts.rejected === 0, `${counts.rejected} got another answer than 200, 202 or 503`)
  check(counts.unknown < sent / 100, `${counts.unknown} of ${sent} were left in doubt`)
  check(accepted.p99 < MOST_LATENCY_MS, `p99 of what was taken was ${accepted.p99} ms`)
  check(refused.p50 < accepted.p50, `a refusal took ${refused.p50} ms, what was taken ${accepted.p50} ms (p50)`)
}

function checkMemory({ check, note }: Stage, memory: Memory[]): void {
  const growing = findGrowth(memory)
  check(growing.length === 0, `memory went on growing: ${growing.join(', ')}`)
  const [before = 0, ...data] = memory.map(({ redisData }) => redisData)
  const most = allPartitions(PARTITIONS).length * LIMITS.backlogBytes * 2 + REDIS_SPARE_BYTES
  check(Math.max(...data) - before < most, `Redis holds ${Math.max(...data)} bytes, ${before} before`)
  note(`memory at most: ${describePeaks(memory)}`)
}

function noteRates({ note }: Stage, sustainable: number, { sent, seconds, counts, accepted, refused }: OverloadResult) {
  const perSecond = (count: number) => `${Math.round(count / seconds).toLocaleString('en')}/s`
  const ms = ({ p50, p99 }: OverloadResult['accepted']) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  note(
    `sustainable ${Math.round(sustainable).toLocaleString('en')}/s; offered ${perSecond(sent)}` +
      `, taken ${perSecond(counts.answered + counts.queued)} (${ms(accepted)})` +
      `, refused ${perSecond(counts.refused)} (${ms(refused)})`,
  )
}

/** The design promises this. A caller also waits for the machine, and for earlier callers. */
async function shareAtOnce(url: string): Promise<string> {
  const metrics = await (await fetch(`${url}/metrics`, { keepalive: false })).text()
  const labels = 'route="/api/sdk/track",method="POST",status="503"'
  const quick = readFigure(metrics, `http_request_duration_seconds_bucket{le="0.01",${labels}}`)
  const all = readFigure(metrics, `http_request_duration_seconds_count{${labels}}`)
  return `${((100 * quick) / all).toFixed(1)} %`
}
