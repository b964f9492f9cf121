/**
 * A worker in a process of its own that kills itself at a chosen point of its nth save: before the commit, or after it
 * and before anything is answered or trimmed.
 */
import { createLogger } from '../../src/log.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { PARTITION_KINDS } from '../../src/stream/partitions/partition-of.ts'
import { startIngestLoops } from '../../src/stream/consume/start-ingest-loops.ts'
import { applyOnce } from './ingest-lab.ts'

interface Order {
  databaseUrl: string
  redisUrl: string
  owner: string
  leaseMs: number
  dieAt: 'before commit' | 'after commit' | 'never'
  save: number
}

const order = JSON.parse(process.argv[2] ?? '') as Order
const sql = connectPostgres(order.databaseUrl)
const redis = connectRedis(order.redisUrl, 'command')
let saves = 0
const dieIf = (point: Order['dieAt']): void => {
  if (point === order.dieAt && saves >= order.save) process.kill(process.pid, 'SIGKILL')
}

const loops = startIngestLoops(
  {
    sql,
    redis,
    connectReader: () => connectRedis(order.redisUrl, 'read'),
    log: createLogger({ level: 'warn', name: order.owner, to: 2 }),
    async apply(batch) {
      saves += 1
      dieIf('before commit')
      const outcome = await applyOnce(sql, batch, order.owner)
      dieIf('after commit')
      return outcome
    },
  },
  { owner: order.owner, kinds: PARTITION_KINDS, leaseMs: order.leaseMs },
)
// Must not outlive the test, however the test ends.
process.stdin.resume().once('close', () => process.exit(1))
process.once('SIGTERM', () => void loops.stop().then(() => process.exit(0)))
