/** A worker in a process of its own that kills itself at a chosen point of its nth insert of web events. */
import { createLogger } from '../../src/log.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { PARTITION_KINDS } from '../../src/stream/partitions/partition-of.ts'
import { startIngestLoops } from '../../src/stream/consume/start-ingest-loops.ts'
import { applyWebBatch } from '../../src/web-events/apply-web-batch.ts'

interface Order {
  databaseUrl: string
  redisUrl: string
  clickhouseUrl: string
  owner: string
  leaseMs: number
  dieAt: 'before insert' | 'after insert' | 'after commit' | 'never'
  insert: number
}

const order = JSON.parse(process.argv[2] ?? '') as Order
const sql = connectPostgres(order.databaseUrl)
const redis = connectRedis(order.redisUrl, 'command')
let inserts = 0
const dieIf = (point: Order['dieAt']): void => {
  if (point === order.dieAt && inserts >= order.insert) process.kill(process.pid, 'SIGKILL')
}

const client = connectClickHouse(order.clickhouseUrl)
const clickhouse = new Proxy(client, {
  get: (target, name) => (name === 'command' ? insert : (Reflect.get(target, name) as unknown)),
})
async function insert(...args: Parameters<ClickHouseClient['command']>): Promise<unknown> {
  inserts += 1
  dieIf('before insert')
  const done = await client.command(...args)
  dieIf('after insert')
  return done
}

const log = createLogger({ level: 'warn', name: order.owner, to: 2 })
const loops = startIngestLoops(
  {
    sql,
    redis,
    connectReader: () => connectRedis(order.redisUrl, 'read'),
    log,
    async apply(...batch) {
      const outcome = await applyWebBatch({ sql, clickhouse, log }, ...batch)
      dieIf('after commit')
      return outcome
    },
  },
  { owner: order.owner, kinds: PARTITION_KINDS, leaseMs: order.leaseMs },
)
// Must not outlive the test, however the test ends.
process.stdin.resume().once('close', () => process.exit(1))
process.once('SIGTERM', () => void loops.stop().then(() => process.exit(0)))
