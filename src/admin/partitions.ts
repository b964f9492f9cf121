/** The number of partitions: shown, and changed while everything runs. */
import { type Config, MAX_PARTITIONS, resolveStores } from '../config.ts'
import { createLogger } from '../log.ts'
import type { Sql } from '../stores/postgres.ts'
import { connectRedis, whenReady } from '../stores/redis.ts'
import { type ChangeDeps, type Changed, changePartitions } from '../stream/change-partitions.ts'
import { readHolders } from '../stream/lease.ts'
import { readPartitionMap } from '../stream/partition-map.ts'
import { checkWhole } from './check-option.ts'
import { type Command, CommandError, type Report } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { table } from './show-help.ts'
import { runUntilStopped } from './run-until-stopped.ts'

const NOTES = `While it runs, batches are answered with 503 (nothing was recorded; Retry-After tells when to try again) until
the requests that wait are applied. Then live is closed for a moment, --live-pause at most: a live request is held for a second, then answered so, too.
Where workers are always behind by more than a quarter of --live-pause, make it longer.
Workers have to be running unless nothing waits. Stopped half-way, by whatever, everything goes on with the number there
was; run it again. Processes that are started with STREAM_PARTITIONS refuse another number: set the new one, or unset it.`

const HEADS = ['PARTITION', 'POSITION', 'WORKER']

const show: Command = {
  name: 'partitions show',
  summary: 'Show how many partitions of each kind there are, and who works on them',
  async run(config) {
    const { partitionMap, holders } = await withPostgres(config, async (sql) => ({
      partitionMap: await readPartitionMap(sql),
      holders: await readHolders(sql),
    }))
    const { partitions, change } = partitionMap
    const lanes = holders.map(({ partition, owner }) => ({
      partition,
      position: partitionMap.positions.get(partition) ?? null,
      worker: owner,
    }))
    const changing = change ? `, on the way to ${change.to} (closed: ${[...partitionMap.closed].join(', ')})` : ''
    const rows = lanes.map(({ partition, position, worker }) => [partition, position ?? '', worker ?? 'no worker'])
    return {
      json: { partitions, change: change ? { to: change.to, closed: [...partitionMap.closed] } : null, lanes },
      text: `${partitions} of each kind${changing}\n${table([HEADS, ...rows])}`,
    }
  },
}

const set: Command = {
  name: 'partitions set',
  summary: 'Change how many partitions of each kind there are, while everything runs',
  positionals: ['N'],
  options: {
    timeout: { value: 'SECONDS', help: 'Give up after this long and keep the old number (600)' },
    'live-pause': { value: 'SECONDS', help: 'Close live events for at most this long at a time (2)' },
  },
  notes: NOTES,
  async run(config, words) {
    const wanted = checkWhole('N', words.positional(0), MAX_PARTITIONS)
    const seconds = checkWhole('--timeout', words.text('timeout') ?? '600', 86_400)
    const livePauseMs = checkWhole('--live-pause', words.text('live-pause') ?? '2', 3600) * 1000
    const startedAt = performance.now()
    const stop = runUntilStopped(seconds)
    try {
      const options = { to: wanted, livePauseMs, signal: stop.signal }
      const changed = await withStores(config, (deps) => changePartitions(deps, options))
      const took = Math.round((performance.now() - startedAt) / 100) / 10
      return report(changed, wanted, took, config, stop.signal)
    } finally {
      stop.end()
    }
  },
}

export const PARTITION_COMMANDS: Command[] = [show, set]

async function withStores<Result>(config: Config, use: (deps: ChangeDeps) => Promise<Result>): Promise<Result> {
  const { redisUrl } = await resolveStores(config)
  const redis = connectRedis(redisUrl, 'command', createLogger({ level: config.logLevel, name: 'admin', to: 2 }))
  try {
    await whenReady(redis).catch(() => {
      throw new CommandError('unavailable', 'Redis does not answer: is Sluice running?')
    })
    return await withPostgres(config, (sql: Sql) =>
      use({ sql, redis, report: (text) => void process.stderr.write(`${text}\n`) }),
    )
  } finally {
    redis.disconnect()
  }
}

function report(changed: Changed, wanted: number, seconds: number, config: Config, signal: AbortSignal): Report {
  switch (changed.kind) {
    case 'busy':
      throw new CommandError('change_under_way', `Another command is changing the number to ${changed.to} now`)
    case 'unattended':
      throw new CommandError(
        'no_workers',
        `Requests wait that nobody works on (${changed.waiting}): start workers first`,
      )
    case 'given_up': {
      const waiting = changed.waiting ? `; still waiting: ${changed.waiting}` : ''
      throw new CommandError('given_up', `The number is as it was, since ${String(signal.reason)}${waiting}`)
    }
    case 'unchanged':
      return {
        json: { partitions: wanted, previous: wanted, seconds },
        text: `There are ${wanted} partitions of each kind already`,
      }
    case 'changed':
      return {
        json: { partitions: wanted, previous: changed.previous, seconds },
        text: `There are ${wanted} partitions of each kind now, not ${changed.previous}. ${remind(config, wanted)}`,
      }
  }
}

const remind = ({ streamPartitions }: Config, wanted: number): string =>
  streamPartitions === undefined
    ? `Where STREAM_PARTITIONS is set, it has to say ${wanted} at the next start`
    : `STREAM_PARTITIONS is ${streamPartitions} here: it has to say ${wanted} at the next start`
