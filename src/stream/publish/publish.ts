/**
 * Appends requests to the streams. The requests of one event-loop tick are grouped into one append per partition (one
 * entry per request costs six times as much). While Redis writes one append to disk, new requests are collected for the
 * next. A group is full at 1,000 events or 1 MiB. A batch request, an erasure and an edit each have an entry of their
 * own.
 */
import { Buffer } from 'node:buffer'
import { clearImmediate, setImmediate } from 'node:timers'
import { createLogThrottle } from '../../process/log-throttle.ts'
import type { Logger } from '../../log.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { encodeEntry, eventsOf } from '../decode-entry.ts'
import { TRAVEL_ALONE, type IngestRequest, isBatch } from '../entry.ts'
import { fenceOf } from '../partitions/fence.ts'
import { watchPartitionMap } from './watch-partition-map.ts'
import { createResizeBuffer } from './resize-buffer.ts'
import { backlogKey, fenceKey, streamKey } from '../keys.ts'
import { type Backlog, createBacklog } from './limit-backlog.ts'
import { APPEND } from '../lua.ts'
import { packText } from '../pack-text.ts'
import { type PartitionKind, partitionKey, partitionKind, partitionOf } from '../partitions/partition-of.ts'
import { isRefusal, isUnknownScript } from '../run-script.ts'
import { FIRST_ID, compareIds } from '../stream-id.ts'

const GROUP_EVENTS = 1000
const GROUP_BYTES = 1024 * 1024
/** Retry-After of a rejected request, in seconds. */
const RETRY_AFTER_S = 1
/**
 * Retry-After of a rejected capture, in seconds. Web partitions stay full, or closed, for as long as ClickHouse is
 * away. Browsers keep their events, and must not all retry at the same time. The wait is not longer, because explicit
 * calls of the script have to wait, too.
 */
const WEB_RETRY_AFTER_S = { min: 5, max: 10 }

export interface PublisherDeps {
  /** Connection in the role `publish`: it never re-sends and has no offline queue. Nothing else may use it. */
  redis: Redis
  sql: Sql
  log: Logger
}
export interface PublisherOptions {
  /** The channel that answers arrive on. */
  frontDoor: string
  /** Limits the waiting requests of each partition, and the requests buffered while partitions are closed. */
  backlogLimitBytes: number
}

export type PublishResult =
  /** `link` aborts when the connection that carried the append is lost: Redis may come back without the entry. */
  | { kind: 'appended'; partition: string; id: string; link: AbortSignal }
  /** Refused before the append, so nothing was recorded. `retryAfter` is in seconds. */
  | { kind: 'unavailable'; retryAfter: number }
  /** The connection broke during the append, or Redis did not answer. */
  | { kind: 'outcome_unknown' }

export interface Publisher {
  /**
   * Never throws. A refusal is immediate and costs no I/O. While the number of partitions changes, batches and captures
   * are refused, and other requests wait up to a second, in order. `settle` is called once.
   */
  publish(request: IngestRequest, settle: (published: PublishResult) => void): void
  /** Records a committed position: later entries get ids above it. */
  raiseFloor(partition: string, position: string): void
  /** False while Redis is away, and until the partition map has been read after it came back. */
  isOpen(): boolean
  /**
   * Refuses new requests, and waits for the appends in flight. Does not close the connection, which belongs to the
   * caller.
   */
  close(): Promise<void>
}

interface QueuedRequest {
  request: IngestRequest
  json: string
  bytes: number
  settle: (published: PublishResult) => void
  bufferedUntil?: number
}
interface Group {
  waiting: QueuedRequest[]
  events: number
  bytes: number
  open: boolean
}
interface PartitionQueue {
  partition: string
  floor: string
  backlog: Backlog
  groups: Group[]
  /** Appends that Redis has not answered yet. */
  inFlight: number
}

const UNAVAILABLE: PublishResult = { kind: 'unavailable', retryAfter: RETRY_AFTER_S }

export function createPublisher(deps: PublisherDeps, options: PublisherOptions): Publisher {
  const queues = new Map<string, PartitionQueue>()
  const appending = new Set<Promise<void>>()
  const buffer = createResizeBuffer<QueuedRequest>(options.backlogLimitBytes, ({ settle }) => settle(UNAVAILABLE))
  const partitionMap = watchPartitionMap(deps, { changed: rerouteQueued, settled: () => Promise.all(appending) })
  // While Redis refuses appends, errors can occur hundreds of times a second.
  const mayLog = createLogThrottle(deps.log, () => performance.now())
  let flush: ReturnType<typeof setImmediate> | undefined

  function queueOf(partition: string): PartitionQueue {
    let queue = queues.get(partition)
    if (!queue) {
      const backlog = createBacklog(deps.redis, partition, options.backlogLimitBytes)
      queues.set(partition, (queue = { partition, floor: FIRST_ID, backlog, groups: [], inFlight: 0 }))
    }
    return queue
  }

  function raiseFloor(partition: string, position: string): void {
    const queue = queueOf(partition)
    if (compareIds(position, queue.floor) > 0) queue.floor = position
  }

  function publish(request: IngestRequest, settle: (published: PublishResult) => void): void {
    const json = JSON.stringify(request)
    send({ request, json, bytes: Buffer.byteLength(json), settle })
  }

  function send(waiting: QueuedRequest): void {
    const { request, bytes, settle } = waiting
    const known = partitionMap.read()
    if (!known) return settle(UNAVAILABLE)
    const kind = partitionKind(request.kind)
    const isClosed = known.closed.has(kind)
    if (isClosed || partitionMap.isStale()) {
      const opensSoon = kind === 'live' || !isClosed
      if (!opensSoon || !buffer.add(waiting)) settle(refusalOf(kind))
      return
    }
    const queue = queueOf(partitionOf(kind, partitionKey(request), known.partitions))
    if (queue.backlog.refuses(request.businessId, bytes)) return settle(refusalOf(kind))
    queue.backlog.startSending(request.businessId, bytes)
    addToGroup(queue, waiting)
    flushSoon(queue)
  }

  /** Routes all queued and buffered requests again, in order of arrival. */
  function rerouteQueued(): void {
    for (const [partition, position] of partitionMap.read()?.positions ?? []) raiseFloor(partition, position)
    const grouped = [...queues.values()].flatMap((queue) =>
      queue.groups.splice(0).flatMap(({ waiting }) => takeOff(queue, waiting)),
    )
    for (const waiting of [...grouped, ...buffer.takeAll()].toSorted((a, b) => a.request.n - b.request.n)) send(waiting)
  }

  function flushSoon({ inFlight, groups }: PartitionQueue): void {
    if (inFlight === 0 && groups.length > 0) flush ??= setImmediate(flushGroups)
  }

  function flushGroups(): void {
    flush = undefined
    if (partitionMap.isStale()) return rerouteQueued()
    for (const queue of queues.values())
      if (queue.inFlight === 0) for (const group of queue.groups.splice(0)) start(queue, group)
  }

  function start(queue: PartitionQueue, group: Group): void {
    queue.inFlight += 1
    const sent = appendGroup(queue, group).finally(() => {
      appending.delete(sent)
      queue.inFlight -= 1
      flushSoon(queue)
    })
    appending.add(sent)
  }

  async function appendGroup(queue: PartitionQueue, group: Group): Promise<void> {
    const version = partitionMap.read()?.version
    const published = version === undefined ? UNAVAILABLE : await append(queue, group, version)
    const done = takeOff(queue, group.waiting)
    for (const waiting of done) {
      if (published === 'fenced') send(waiting)
      else waiting.settle(published)
    }
  }

  async function append(queue: PartitionQueue, { waiting }: Group, version: number): Promise<PublishResult | 'fenced'> {
    const requests = waiting.map(({ json }) => json)
    const entry = encodeEntry(options.frontDoor, requests)
    const args = [queue.floor, packText(entry) ?? entry, weigh(waiting), version]
    const link = partitionMap.link()
    try {
      const keys = [streamKey(queue.partition), backlogKey(queue.partition), fenceKey(queue.partition)]
      const answer = await deps.redis.evalsha(APPEND.sha, keys.length, ...keys, ...args)
      const [id, ...counters] = answer as (string | number)[]
      queue.backlog.update(counters)
      return { kind: 'appended', partition: queue.partition, id: String(id), link }
    } catch (error) {
      const fence = fenceOf(error)
      if (fence !== undefined) {
        if (!link.aborted) partitionMap.markStale(fence)
        return 'fenced'
      }
      // The script is not sent as text instead: later commands on the connection could overtake it.
      if (isUnknownScript(error)) partitionMap.reopen()
      const refused = isRefusal(error) || wasNeverSent(error)
      if (mayLog()) deps.log.warn({ err: error, partition: queue.partition, refused }, 'an append failed')
      return refused ? UNAVAILABLE : { kind: 'outcome_unknown' }
    }
  }

  async function close(): Promise<void> {
    while (flush || appending.size > 0) {
      clearImmediate(flush)
      flushGroups()
      await Promise.all(appending)
    }
    partitionMap.close()
    buffer.close()
    for (const queue of queues.values()) queue.backlog.close()
  }

  const isOpen = (): boolean => partitionMap.read() !== undefined
  return { publish, raiseFloor, isOpen, close }
}

function refusalOf(kind: PartitionKind): PublishResult {
  if (kind !== 'web') return UNAVAILABLE
  const { min, max } = WEB_RETRY_AFTER_S
  return { kind: 'unavailable', retryAfter: min + Math.floor(Math.random() * (max - min + 1)) }
}

function takeOff({ backlog }: PartitionQueue, waiting: QueuedRequest[]): QueuedRequest[] {
  for (const { request, bytes } of waiting) backlog.endSending(request.businessId, bytes)
  return waiting
}

function addToGroup(queue: PartitionQueue, waiting: QueuedRequest): void {
  const { request } = waiting
  const events = eventsOf(request)
  const last = queue.groups.at(-1)
  const alone = isBatch(request) || TRAVEL_ALONE.has(request.kind)
  const fits = last?.open && last.events + events <= GROUP_EVENTS && last.bytes + waiting.bytes <= GROUP_BYTES
  if (fits && !alone) {
    last.waiting.push(waiting)
    last.events += events
    last.bytes += waiting.bytes
  } else {
    queue.groups.push({ waiting: [waiting], events, bytes: waiting.bytes, open: !alone })
  }
}

/** Returns the bytes per business, as JSON. */
function weigh(waiting: QueuedRequest[]): string {
  const bytes = new Map<string, number>()
  for (const one of waiting) bytes.set(one.request.businessId, (bytes.get(one.request.businessId) ?? 0) + one.bytes)
  return JSON.stringify(Object.fromEntries(bytes))
}

/**
 * Returns true when the socket ended before its `close` event. This error of ioredis has no code, so its message is
 * compared.
 */
function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && error.message.includes("isn't writeable")
}
