/**
 * The door's side of the road: requests of one event-loop tick travel together, one append per partition (one entry
 * per request costs six times as much). A group closes at 1,000 events or 1 MiB; a batch request is an entry by itself,
 * and so is an erasure.
 */
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { clearImmediate, setImmediate } from 'node:timers'
import type { Logger } from '../log.ts'
import type { Redis } from '../stores/redis.ts'
import { encodeEntry, eventsOf } from './decode-entry.ts'
import type { Request } from './entry.ts'
import { backlogKey, streamKey } from './keys.ts'
import { type Backlog, createBacklog } from './limit-backlog.ts'
import { APPEND } from './lua.ts'
import { partitionKind, partitionOf } from './partition-of.ts'
import { pause } from './pause.ts'
import { isRefusal, isUnknownScript } from './run-script.ts'
import { BEGINNING, compareIds } from './stream-id.ts'

const GROUP_EVENTS = 1000
const GROUP_BYTES = 1024 * 1024
/** What a refused caller is asked to wait, in seconds. */
const RETRY_AFTER_S = 1
const READ_FLOORS_AGAIN_MS = 200

export interface PublisherDeps {
  /** In the role `publish`: it never re-sends and has no offline queue. Used by nothing else. */
  redis: Redis
  /** The committed position of every partition, that no save from before this process of Redis can move any more. */
  readFloors: (redisRun: string) => Promise<Map<string, string>>
  log: Logger
}
export interface PublisherOptions {
  /** The channel that answers come back on. */
  frontDoor: string
  partitions: number
  /** Of waiting requests, per partition. */
  backlogLimitBytes: number
}

export type Published =
  /** `link` aborts once the connection that it went over is lost: the Redis that comes back may have forgotten it. */
  | { kind: 'appended'; partition: string; id: string; link: AbortSignal }
  /** Refused before the append; nothing was recorded. `retryAfter` is in seconds. */
  | { kind: 'unavailable'; retryAfter: number }
  /** The connection broke during the append, or Redis did not answer. */
  | { kind: 'outcome_unknown' }

export interface Publisher {
  /** Never rejects. A refusal is immediate: it costs no I/O. */
  publish(request: Request): Promise<Published>
  /** A committed position that was heard of: later entries get ids above it. */
  raiseFloor(partition: string, position: string): void
  /** False while Redis is away, or the floors are not known yet since it came back. */
  isOpen(): boolean
  /** Refuses from now on, and waits for the appends under way. The connection stays the caller's. */
  close(): Promise<void>
}

interface Waiting {
  businessId: string
  json: string
  bytes: number
  settle: (published: Published) => void
}
interface Group {
  waiting: Waiting[]
  events: number
  bytes: number
  open: boolean
}
interface Lane {
  partition: string
  floor: string
  backlog: Backlog
  groups: Group[]
}

const UNAVAILABLE: Published = { kind: 'unavailable', retryAfter: RETRY_AFTER_S }

export function createPublisher(deps: PublisherDeps, options: PublisherOptions): Publisher {
  const lanes = new Map<string, Lane>()
  const appending = new Set<Promise<void>>()
  const gate = openWhenFloorsAreKnown(deps, raiseFloor)
  let flush: ReturnType<typeof setImmediate> | undefined

  function laneOf(partition: string): Lane {
    let lane = lanes.get(partition)
    if (!lane) {
      const backlog = createBacklog(deps.redis, partition, options.backlogLimitBytes)
      lanes.set(partition, (lane = { partition, floor: BEGINNING, backlog, groups: [] }))
    }
    return lane
  }

  function raiseFloor(partition: string, position: string): void {
    const lane = laneOf(partition)
    if (compareIds(position, lane.floor) > 0) lane.floor = position
  }

  function publish(request: Request): Promise<Published> {
    const lane = laneOf(partitionOf(partitionKind(request.kind), request.businessId, options.partitions))
    const json = JSON.stringify(request)
    const bytes = Buffer.byteLength(json)
    if (!gate.isOpen() || lane.backlog.refuses(request.businessId, bytes)) return Promise.resolve(UNAVAILABLE)
    lane.backlog.startSending(request.businessId, bytes)
    flush ??= setImmediate(flushGroups)
    return new Promise((settle) => addToGroup(lane, request, { businessId: request.businessId, json, bytes, settle }))
  }

  function flushGroups(): void {
    flush = undefined
    for (const lane of lanes.values()) {
      for (const group of lane.groups.splice(0)) {
        const sent = appendGroup(lane, group).finally(() => appending.delete(sent))
        appending.add(sent)
      }
    }
  }

  async function appendGroup(lane: Lane, group: Group): Promise<void> {
    const published = gate.isOpen() ? await append(lane, group) : UNAVAILABLE
    for (const { businessId, bytes, settle } of group.waiting) {
      lane.backlog.endSending(businessId, bytes)
      settle(published)
    }
  }

  async function append(lane: Lane, { waiting }: Group): Promise<Published> {
    const requests = waiting.map(({ json }) => json)
    const args = [lane.floor, encodeEntry(options.frontDoor, requests), weigh(waiting)]
    const link = gate.link()
    try {
      const keys = [streamKey(lane.partition), backlogKey(lane.partition)]
      const answer = await deps.redis.evalsha(APPEND.sha, keys.length, ...keys, ...args)
      const [id, ...counters] = answer as (string | number)[]
      lane.backlog.hear(counters)
      return { kind: 'appended', partition: lane.partition, id: String(id), link }
    } catch (error) {
      // Not sent once more as text: what followed it on the connection could overtake it.
      if (isUnknownScript(error)) gate.reopen()
      const refused = isRefusal(error) || wasNeverSent(error)
      deps.log.warn({ err: error, partition: lane.partition, refused }, 'an append failed')
      return refused ? UNAVAILABLE : { kind: 'outcome_unknown' }
    }
  }

  async function close(): Promise<void> {
    if (flush) {
      clearImmediate(flush)
      flushGroups()
    }
    gate.close()
    await Promise.all(appending)
    for (const lane of lanes.values()) lane.backlog.close()
  }

  return { publish, raiseFloor, isOpen: gate.isOpen, close }
}

function addToGroup(lane: Lane, request: Request, waiting: Waiting): void {
  const events = eventsOf(request)
  const last = lane.groups.at(-1)
  const alone = request.kind === 'batch' || request.kind === 'erase'
  const fits = last?.open && last.events + events <= GROUP_EVENTS && last.bytes + waiting.bytes <= GROUP_BYTES
  if (fits && !alone) {
    last.waiting.push(waiting)
    last.events += events
    last.bytes += waiting.bytes
  } else {
    lane.groups.push({ waiting: [waiting], events, bytes: waiting.bytes, open: !alone })
  }
}

/** Bytes per business, as JSON. */
function weigh(waiting: Waiting[]): string {
  const bytes = new Map<string, number>()
  for (const one of waiting) bytes.set(one.businessId, (bytes.get(one.businessId) ?? 0) + one.bytes)
  return JSON.stringify(Object.fromEntries(bytes))
}

/** ioredis says so, without a code, when the socket ended before its `close` was told. */
function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && error.message.includes("isn't writeable")
}

/** Each process of Redis has its own. One that does not tell counts as new every time. */
async function readRunId(redis: Redis): Promise<string> {
  return /^run_id:(\w+)/m.exec(await redis.info('server'))?.[1] ?? randomUUID()
}

/**
 * After every (re)connect the floors are read before anything is appended: the Redis that came back may be older or
 * empty, and positions have moved on in Postgres meanwhile. It does not know the script either.
 */
function openWhenFloorsAreKnown(deps: PublisherDeps, raise: (partition: string, position: string) => void) {
  let connection = new AbortController()
  let isOpen = false

  const open = async (lost: AbortSignal): Promise<void> => {
    while (!lost.aborted) {
      try {
        await deps.redis.script('LOAD', APPEND.source)
        const floors = await deps.readFloors(await readRunId(deps.redis))
        for (const [partition, position] of floors) raise(partition, position)
        isOpen = !lost.aborted
        return
      } catch (error) {
        deps.log.warn({ err: error }, 'the road cannot be opened; requests are refused until it can')
        await pause(READ_FLOORS_AGAIN_MS, lost)
      }
    }
  }
  const reopen = (): void => {
    onClose()
    connection = new AbortController()
    void open(connection.signal)
  }
  const onClose = (): void => {
    isOpen = false
    connection.abort()
  }
  deps.redis.on('ready', reopen)
  deps.redis.on('close', onClose)
  if (deps.redis.status === 'ready') reopen()

  return {
    reopen,
    link: () => connection.signal,
    isOpen: () => isOpen && deps.redis.status === 'ready',
    close: () => {
      deps.redis.off('ready', reopen)
      deps.redis.off('close', onClose)
      onClose()
    },
  }
}
