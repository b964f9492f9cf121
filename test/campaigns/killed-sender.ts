/** A process that moves campaigns and sends their messages, to be killed. */
import { openEngine } from '../../src/campaigns/engine/open-engine.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { createLogger } from '../../src/log.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { refuseUpdates } from './engine-lab.ts'
import { LOOPBACK_GUARD } from '../deliveries/delivery-lab.ts'

const ATTEMPT_MS = 20_000
const sql = connectPostgres(process.argv[2] ?? '')
const log = createLogger({ level: 'error', name: 'sender', to: 2 })
const config = { publicUrl: 'https://shop.example', port: 0, secretsKey: undefined, messageKeepMs: 86_400_000 }
const stopping = new AbortController()
// Must not outlive the test, however the test ends.
process.stdin.resume().once('close', () => process.exit(1))
process.once('SIGTERM', () => stopping.abort())
const engine = openEngine({ sql, log, guard: LOOPBACK_GUARD, config, now: Date.now, submit: refuseUpdates })
const leaseMs = Number(process.argv[3])
const deps = { ...engine.deps, leaseMs, attemptMs: Math.min(ATTEMPT_MS, leaseMs / 3) }
await runCampaigns(deps, stopping.signal)
await engine.close()
await sql.end({ timeout: 1 })
process.exit(0)
