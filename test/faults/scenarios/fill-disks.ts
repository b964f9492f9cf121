import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { superuserUrl } from '../../../src/embedded/postgres/prepare-postgres.ts'
import { connectPostgres } from '../../../src/stores/postgres.ts'
import { type Seen, readFigure, untilSeen } from '../look-as-operator.ts'
import type { Attempt } from '../ledger.ts'
import type { Scenario, Stage } from '../run-scenario.ts'
import { type SmallDisk, moveToSmallDisk, whyNoSmallDisk } from '../small-disk.ts'
import { type Supervision, supervise } from '../supervise.ts'

const MEBIBYTE = 1024 * 1024
const LITTLE_BYTES = MEBIBYTE
/** Time for automatic recovery on a busy machine. The report shows the actual time. */
const SERVED_MS = 30_000
const PATIENCE_MS = 60_000
/** There may be many preallocated or recycled WAL files, each of which must be filled. */
const WAL_MS = 180_000

/**
 * The disks of the engines are full for a while, one after the other: callers are refused or delayed and never get a
 * wrong answer, operators see the cause, and with free space everything recovers automatically.
 */
export const fillDisks: Scenario = {
  name: 'disks full, of ClickHouse, Redis and Postgres',
  frontDoorStays: true,
  whyNot: whyNoSmallDisk,
  async run(stage) {
    for (let round = 0; round < stage.times(1, 3); round += 1) {
      await onSmallDisks(stage, async ({ clickhouse, redis, postgres }) => {
        await stage.world.own.redis.config('SET', 'auto-aof-rewrite-percentage', '0')
        await delayAnalytics(stage, clickhouse)
        await refuseWrites(stage, redis)
        await endRedis(stage, redis)
        await endPostgres(stage, postgres)
      })
    }
  },
}

/** ClickHouse: the timeline waits in the outbox, which is reported. Callers do not notice. */
async function delayAnalytics(stage: Stage, { disk }: Engine): Promise<void> {
  const from = Date.now()
  await disk.fill()
  await expectSeen(stage, 'while ClickHouse has no room', ({ frontDoor, workers }) => {
    const isCounted = workers.some(
      ({ isReady, text, metrics }) =>
        isReady && isNotShipped(text) && readFigure(metrics, 'timeline_failures_total{cause="disk_full"}') > 0,
    )
    return (
      isCounted &&
      frontDoor.isReady &&
      isNotShipped(frontDoor.text) &&
      readFigure(frontDoor.metrics, 'store_disk_free_bytes{store="clickhouse"}') < LITTLE_BYTES &&
      readFigure(frontDoor.metrics, 'outbox_rows') > 0 &&
      readFigure(frontDoor.metrics, 'outbox_lag_seconds') > 0
    )
  })
  await sleep(stage.times(0, 30_000))
  await disk.makeRoom()
  await expectSeen(stage, 'as well after ClickHouse had no room', isWell)
  const refused = stage.ledger.attempts().filter(({ sentAt, answer }) => sentAt >= from && answer.startsWith('503'))
  stage.check(refused.length === 0, `${refused.length} callers noticed that the disk of ClickHouse was full`)
}

const isNotShipped = (text: string) => /timeline: not shipped since \d{4}-[^"]*its disk is full/.test(text)

/**
 * An operator's own Redis may be configured to stay up and refuse writes. It has rewritten no file since its start:
 * after a rewrite has opened a file, Redis 7.0 would continue to write behind a gap, and could not read the file again
 * (docs/operations.md).
 */
async function refuseWrites(stage: Stage, { disk }: Engine): Promise<void> {
  const { redis } = stage.world.own
  await redis.config('SET', 'appendfsync', 'everysec')
  await disk.fill()
  await expectSeen(
    stage,
    'while Redis refuses',
    ({ frontDoor }) =>
      !frontDoor.isReady &&
      frontDoor.text.includes('redis: it cannot write its append-only file') &&
      readFigure(frontDoor.metrics, 'redis_persistence_ok{part="aof_write"}') === 0,
  )
  await sleep(stage.times(0, 10_000))
  await disk.makeRoom()
  await stage.untilServed(SERVED_MS)
  // From now on, everything it acknowledges is on the disk.
  await redis.config('SET', 'appendfsync', 'always', 'auto-aof-rewrite-percentage', '100')
}

/** The embedded Redis is configured to end. Its supervisor restarts it again and again. */
async function endRedis(stage: Stage, { disk, supervision }: Engine): Promise<void> {
  const ends = supervision.ends()
  await disk.fill()
  await expectSeen(
    stage,
    'while Redis ends',
    ({ frontDoor }) =>
      supervision.ends() > ends &&
      !frontDoor.isReady &&
      /redis: (not reachable|no answer|requests cannot)/.test(frontDoor.text) &&
      frontDoor.text.includes('redis: 0 MiB are left on its disk') &&
      readFigure(frontDoor.metrics, 'store_disk_free_bytes{store="redis"}') < LITTLE_BYTES,
  )
  await sleep(stage.times(300, 10_000))
  await disk.makeRoom()
  await stage.untilServed(SERVED_MS)
  await expectSeen(stage, 'as well after Redis had ended', isWell)
}

/** First no table can grow, and requests wait in Redis. Then there is no space for the WAL, and Postgres ends. */
async function endPostgres(stage: Stage, { disk, supervision }: Engine): Promise<void> {
  const [from, ends] = [Date.now(), supervision.ends()]
  // When its disk is full, Postgres may refuse every new session: "could not write init file".
  const url = await superuserUrl(stage.world.folder, stage.world.stores.databaseUrl)
  const sql = connectPostgres(url, { max: 1, name: 'faults-fill' })
  try {
    await sql`select 1`
    await disk.fill()
    const isDelayed = ({ sentAt, answer }: Attempt) => sentAt > from && /^(202|503)/.test(answer)
    await until(() => stage.ledger.attempts().some(isDelayed))
    await until(async () => {
      // Uses up the preallocated files, until a new one must be created.
      await sql`select pg_logical_emit_message(true, 'fill', 'x'), pg_switch_wal()`.catch(() => undefined)
      return supervision.ends() > ends
    }, WAL_MS)
  } finally {
    await sql.end({ timeout: 0 })
  }
  await expectSeen(
    stage,
    'while Postgres ends',
    ({ frontDoor }) => !frontDoor.isReady && frontDoor.text.includes('postgres: 0 MiB are left on its disk'),
  )
  await sleep(stage.times(0, 10_000))
  await disk.makeRoom()
  await stage.untilServed(SERVED_MS)
  await expectSeen(stage, 'as well after Postgres had ended', isWell)
}

interface Engine {
  disk: SmallDisk
  supervision: Supervision
  moveBack(): Promise<void>
}

async function onSmallDisks(
  stage: Stage,
  act: (engines: Record<'clickhouse' | 'redis' | 'postgres', Engine>) => Promise<void>,
): Promise<void> {
  const [clickhouse, redis, postgres] = await Promise.all([
    move(stage, 'clickhouse', 'SIGTERM'),
    move(stage, 'redis', 'SIGTERM'),
    move(stage, 'postgres', 'SIGINT'),
  ])
  try {
    await stage.untilServed(SERVED_MS)
    await act({ clickhouse, redis, postgres })
  } finally {
    await Promise.all([clickhouse, redis, postgres].map((engine) => engine.moveBack()))
  }
}

/** `signal` ends it cleanly, even while clients are connected. */
async function move(
  { world, times }: Stage,
  name: 'clickhouse' | 'redis' | 'postgres',
  signal: NodeJS.Signals,
): Promise<Engine> {
  const engine = world[name]
  await engine.stop(signal)
  const disk = await moveToSmallDisk(join(world.folder, name), times(64, 512) * MEBIBYTE)
  await engine.start()
  const supervision = supervise(engine)
  return {
    disk,
    supervision,
    async moveBack() {
      await supervision.stop(signal)
      await disk.remove()
      await engine.start()
    },
  }
}

const isWell = ({ frontDoor, workers }: Seen): boolean =>
  frontDoor.isReady &&
  frontDoor.text.includes('"degraded":[]') &&
  workers.every(({ isReady, text }) => isReady && text === 'ok\n')

async function expectSeen(stage: Stage, when: string, isSeen: (seen: Seen) => boolean): Promise<void> {
  const last = await untilSeen(stage.world, isSeen)
  stage.check(last === undefined, `operators did not see it ${when}: ${JSON.stringify(last)}`)
}

async function until(holds: () => boolean | Promise<boolean>, withinMs = PATIENCE_MS): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`It did not come to this in time: ${holds.toString()}`)
    await sleep(20)
  }
}
