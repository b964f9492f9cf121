/** A sender in a process of its own, to be killed. */
import { runDeliveries } from '../../src/deliveries/run-deliveries.ts'
import { createLogger } from '../../src/log.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { LOOPBACK_GUARD, SECRETS_KEY } from './delivery-lab.ts'

const sql = connectPostgres(process.argv[2] ?? '')
const log = createLogger({ level: 'error', name: 'sender', to: 2 })
const config = { secretsKey: SECRETS_KEY, deliveryTries: 10, deliveriesKeepMs: 86_400_000 }
const stopping = new AbortController()
// Must not outlive the test, however the test ends.
process.stdin.resume().once('close', () => process.exit(1))
process.once('SIGTERM', () => stopping.abort())
const attemptMs = Number(process.argv[3] ?? 500)
await runDeliveries({ sql, log, config, guard: LOOPBACK_GUARD, attemptMs, leaseMs: 3 * attemptMs }, stopping.signal)
await sql.end({ timeout: 1 })
process.exit(0)
