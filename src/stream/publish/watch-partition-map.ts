/**
 * The front door's copy of the partition map: the number of partitions, the closed kinds, and the committed positions.
 * Postgres is the source. The map is read after every (re)connect, before any append: Redis may have come back empty or
 * with older data, without the fences, the entries and the script. While a connection lasts, Redis loses nothing, and a
 * fence reports every later change.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from '../../log.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { APPEND } from '../lua.ts'
import { type PartitionMap, initPartitionMap, readPartitionMap } from '../partitions/partition-map.ts'
import { sleep } from '../../async/sleep.ts'

const READ_AGAIN_MS = 200
/**
 * Intervals at which a front door checks whether a closed kind is open again. Live requests are buffered until then.
 */
const LIVE_CLOSED_MS = 50
const CLOSED_MS = 250
/** Interval while nothing is closed. */
const OPEN_MS = 60_000

export interface PartitionMapDeps {
  /** Connection in the role `publish`. */
  redis: Redis
  sql: Sql
  log: Logger
}
export interface PartitionMapListener {
  /**
   * Called when the partition map has changed or is unknown: requests that are not sent yet have to be routed again.
   */
  changed(): void
  /** Resolves once every append in flight has ended: no later request may overtake them. */
  settled(): Promise<unknown>
}

export interface WatchedPartitionMap {
  /** Returns undefined while Redis is away, and until Postgres has been read after it came back. */
  read(): PartitionMap | undefined
  /** Returns true from a refusal by a fence until Postgres has been read again. Nothing may be sent in this time. */
  isStale(): boolean
  markStale(fence: number): void
  /** Returns a signal that aborts when the current connection is lost. */
  link(): AbortSignal
  /** Starts again, as after a reconnect. */
  reopen(): void
  close(): void
}

export function watchPartitionMap(
  { redis, sql, log }: PartitionMapDeps,
  watcher: PartitionMapListener,
): WatchedPartitionMap {
  let connection = new AbortController()
  let stale = new AbortController()
  let fence = 0
  let partitionMap: PartitionMap | undefined

  const look = async (lost: AbortSignal): Promise<void> => {
    const read = await readPartitionMap(sql, fence)
    if (read.version === partitionMap?.version && !stale.signal.aborted) return
    if (!lost.aborted) stale.abort()
    await watcher.settled()
    if (lost.aborted) return
    const { version, partitions, closed } = read
    if (partitionMap) log.info({ version, partitions, closed: [...closed] }, 'the partitions changed')
    partitionMap = read
    stale = new AbortController()
    watcher.changed()
  }
  const untilNextLook = (lost: AbortSignal): Promise<void> => {
    const closed = partitionMap?.closed.has('live') ? LIVE_CLOSED_MS : CLOSED_MS
    return sleep(partitionMap?.closed.size ? closed : OPEN_MS, AbortSignal.any([lost, stale.signal]))
  }
  const follow = async (lost: AbortSignal): Promise<void> => {
    while (!lost.aborted) {
      try {
        if (!partitionMap) {
          await redis.script('LOAD', APPEND.source)
          await initPartitionMap(sql, await readRunId(redis))
        }
        await look(lost)
        await untilNextLook(lost)
      } catch (error) {
        log.warn({ err: error }, 'the partition map cannot be read; requests are rejected until it can')
        await sleep(READ_AGAIN_MS, lost)
      }
    }
  }
  const reopen = (): void => {
    onClose()
    connection = new AbortController()
    void follow(connection.signal)
  }
  const onClose = (): void => {
    const wasKnown = partitionMap !== undefined
    connection.abort()
    partitionMap = undefined
    stale = new AbortController()
    if (wasKnown) watcher.changed()
  }
  redis.on('ready', reopen)
  redis.on('close', onClose)
  if (redis.status === 'ready') reopen()

  return {
    read: () => (redis.status === 'ready' ? partitionMap : undefined),
    isStale: () => stale.signal.aborted,
    markStale(version) {
      fence = Math.max(fence, version)
      stale.abort()
    },
    link: () => connection.signal,
    reopen,
    close() {
      redis.off('ready', reopen)
      redis.off('close', onClose)
      onClose()
    },
  }
}

/** Each Redis process has its own run id. A process that does not report one always counts as new. */
async function readRunId(redis: Redis): Promise<string> {
  return /^run_id:(\w+)/m.exec(await redis.info('server'))?.[1] ?? randomUUID()
}
