/** A process that moves campaigns and has their updates applied through the stream, to be killed. */
import { openEngine } from '../../src/campaigns/engine/open-engine.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { createLogger } from '../../src/log.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { type RedisRole, connectRedis } from '../../src/stores/redis.ts'
import { createSubmitter } from '../../src/stream/publish/submit.ts'
import { LOOPBACK_GUARD } from '../deliveries/delivery-lab.ts'

const [databaseUrl = '', redisUrl = ''] = process.argv.slice(2)
const sql = connectPostgres(databaseUrl)
const log = createLogger({ level: 'error', name: 'updater', to: 2 })
const config = { publicUrl: 'https://shop.example', port: 0, secretsKey: undefined, messageKeepMs: 86_400_000 }
// Must not outlive the test, however the test ends.
process.stdin.resume().once('close', () => process.exit(1))
const connect = (role: RedisRole) => connectRedis(redisUrl, role, log)
const redis = { publish: connect('publish'), subscribe: connect('subscribe'), command: connect('command') }
const { submit } = createSubmitter(
  { sql, redis, log },
  { answerTimeoutMs: 10_000, backlogLimitBytes: 64 * 1024 * 1024, maxInFlight: 1000 },
)
const engine = openEngine({ sql, log, guard: LOOPBACK_GUARD, config, now: Date.now, submit })
await runCampaigns(engine.deps, new AbortController().signal)
