/** The campaigns thread: moves enrolments through their steps, and sends their messages. */
import { openEngine } from '../../src/campaigns/engine/open-engine.ts'
import { runCampaigns as run } from '../../src/campaigns/engine/run-campaigns.ts'
import { guardOf } from '../../src/outbound/target-guard.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import type { ThreadBody } from './thread.ts'

export const runCampaigns: ThreadBody = async (config, { log }, signal) => {
  const sql = connectPostgres(config.databaseUrl, {
    // The claim, and messages that are settled.
    max: 4,
    name: 'sluice-campaigns',
    // The tables are empty at first and large later: a plan cached early would always scan all of them.
    settings: { plan_cache_mode: 'force_custom_plan', enable_seqscan: 'off' },
  })
  const engine = openEngine({ sql, log, guard: guardOf(config), config, now: Date.now })
  try {
    await run(engine.deps, signal)
  } finally {
    await engine.close()
    await sql.end({ timeout: 1 })
  }
}
