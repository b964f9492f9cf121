/** The timeline thread: ships the outbox to ClickHouse. */
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { keepFilesClean } from '../../src/erasure/clean-files.ts'
import { runTimeline as ship } from '../../src/timeline/run-timeline.ts'
import type { ThreadBody } from './thread.ts'

export const runTimeline: ThreadBody = async (config, { log, metrics, reportDegraded }, signal) => {
  const sql = connectPostgres(config.databaseUrl, {
    // For shipping, its lease, and the background jobs (timeline/background-jobs.ts).
    max: 5,
    name: 'sluice-timeline',
    // The outbox is empty at first and large later: a plan cached early would always scan all of it. Without
    // statistics, Postgres takes large tables for small ones and would read them whole.
    settings: { plan_cache_mode: 'force_custom_plan', enable_seqscan: 'off' },
  })
  const clickhouse = connectClickHouse(config.clickhouseUrl)
  const ended = new AbortController()
  const cleaning = keepFilesClean({ sql, log, ...config }, AbortSignal.any([signal, ended.signal]))
  try {
    await ship({ sql, clickhouse, log, metrics, config, onTrouble: reportDegraded }, signal)
  } finally {
    ended.abort()
    await cleaning
    await Promise.all([clickhouse.close(), sql.end({ timeout: 1 })])
  }
}
