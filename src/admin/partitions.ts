/** `admin partitions …`: shows and changes the number of partitions while everything is running. */
import { commandActor } from '../audit/command-actor.ts'
import { type Config, MAX_PARTITIONS } from '../config.ts'
import { resolveStores } from '../stores/data-dir.ts'
import { createLogger } from '../log.ts'
import type { Sql } from '../stores/postgres.ts'
import { connectRedis, whenReady } from '../stores/redis.ts'
import { type ChangeDeps, type ChangeResult, changePartitions } from '../stream/partitions/change-partitions.ts'
import { readHolders } from '../stream/leases/lease.ts'
import { readPartitionMap } from '../stream/partitions/partition-map.ts'
import { readInteger } from './read-option.ts'
import { type Command, CommandError, type Report } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { formatTable } from './format-help.ts'
import { createStopSignal } from './stop-signal.ts'

const NOTES = `First, batches get 503 until all waiting requests are applied. Nothing of them is recorded; Retry-After says when to retry.
Then live events pause, for --live-pause at most. A live request waits for a second, then it gets 503, too.
If your workers are always behind by more than a quarter of --live-pause, make the pause longer.
Workers must be running, unless nothing waits. If the command stops half-way for any reason, everything continues with the
old number. Run it again. If STREAM_PARTITIONS is set, change it to the new number, or unset it: a process with another
number refuses to start.`

const HEADS = ['PARTITION', 'POSITION', 'WORKER']

const show: Command = {
  name: 'partitions show',
  summary: 'Show the number of partitions of each kind, and the worker of each partition',
  async run(config) {
    const { partitionMap, holders } = await withPostgres(config, async (sql) => ({
      partitionMap: await readPartitionMap(sql),
      holders: await readHolders(sql),
    }))
    const { partitions, change } = partitionMap
    const assignments = holders.map(({ partition, owner }) => ({
      partition,
      position: partitionMap.positions.get(partition) ?? null,
      worker: owner,
    }))
    const changing = change ? `, changing to ${change.to} (closed: ${[...partitionMap.closed].join(', ')})` : ''
    const rows = assignments.map(({ partition, position, worker }) => [
      partition,
      position ?? '',
      worker ?? 'no worker',
    ])
    return {
      json: { partitions, change: change ? { to: change.to, closed: [...partitionMap.closed] } : null, assignments },
      text: `${partitions} of each kind${changing}\n${formatTable([HEADS, ...rows])}`,
    }
  },
}

const set: Command = {
  name: 'partitions set',
  summary: 'Change the number of partitions of each kind, while everything runs',
  positionals: ['N'],
  options: {
    timeout: { value: 'SECONDS', help: 'Give up after this time and keep the old number (600)' },
    'live-pause': { value: 'SECONDS', help: 'Pause live events for at most this long at a time (2)' },
  },
  notes: NOTES,
  async run(config, args) {
    const wanted = readInteger('N', args.positional(0), MAX_PARTITIONS)
    const seconds = readInteger('--timeout', args.text('timeout') ?? '600', 86_400)
    const livePauseMs = readInteger('--live-pause', args.text('live-pause') ?? '2', 3600) * 1000
    const startedAt = performance.now()
    const stop = createStopSignal(seconds)
    try {
      const options = { actor: commandActor('admin partitions set'), to: wanted, livePauseMs, signal: stop.signal }
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
      throw new CommandError('unavailable', 'Redis does not answer. Is Sluice running?')
    })
    return await withPostgres(config, (sql: Sql) =>
      use({ sql, redis, report: (text) => void process.stderr.write(`${text}\n`) }),
    )
  } finally {
    redis.disconnect()
  }
}

function report(changed: ChangeResult, wanted: number, seconds: number, config: Config, signal: AbortSignal): Report {
  switch (changed.kind) {
    case 'busy':
      throw new CommandError('change_under_way', `Another command is already changing the number to ${changed.to}`)
    case 'unattended':
      throw new CommandError(
        'no_workers',
        `Requests are waiting, but no worker is running (${changed.waiting}). Start workers first`,
      )
    case 'given_up': {
      const waiting = changed.waiting ? `; still waiting: ${changed.waiting}` : ''
      throw new CommandError('given_up', `The number was not changed: ${String(signal.reason)}${waiting}`)
    }
    case 'unchanged':
      return {
        json: { partitions: wanted, previous: wanted, seconds },
        text: `There are already ${wanted} partitions of each kind`,
      }
    case 'changed':
      return {
        json: { partitions: wanted, previous: changed.previous, seconds },
        text: `There are now ${wanted} partitions of each kind, instead of ${changed.previous}. ${remind(config, wanted)}`,
      }
  }
}

const remind = ({ streamPartitions }: Config, wanted: number): string =>
  streamPartitions === undefined
    ? `If STREAM_PARTITIONS is set anywhere, change it to ${wanted} before the next start`
    : `STREAM_PARTITIONS is ${streamPartitions} here. Change it to ${wanted} before the next start`
