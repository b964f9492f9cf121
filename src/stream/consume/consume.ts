/** The loop of one partition: read, apply, answer, trim. At most one save is in flight. */
import type { Logger } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import type { PoisonedRequest, ReadEntry } from '../decode-entry.ts'
import { TRAVEL_ALONE } from '../entry.ts'
import type { Lease } from '../leases/lease.ts'
import type { AddressedAnswer, AppliedOutcome, ApplyMicroBatch, MicroBatch } from '../micro-batch.ts'
import { OLDER_THAN_REDIS, readKept } from './kept.ts'
import { kindOf } from '../partitions/partition-of.ts'
import { sleep } from '../../async/sleep.ts'
import { clearPending } from '../partitions/positions.ts'
import { groupAnswers, sendAnswers } from '../publish/reply.ts'
import { FIRST_ID, compareIds } from '../stream-id.ts'
import type { StreamReader } from './stream-reader.ts'
import { type Keep, type Trimmer, createTrimmer, raiseLastId, trim } from './trim.ts'
import { wake } from '../../stores/wake-ups.ts'

/** A micro-batch is limited by events, not by entries: one entry can hold a thousand events. */
const BATCH_EVENTS = 1000
const READ_BYTES = 8 * 1024 * 1024
const FIRST_READ = 8
const MAX_READ = 256
const RETRY_MS = 200
const FINISH_MS = 1000
/**
 * Time that web events are collected once the stream is empty. An insert of a few costs nearly as much as an insert of
 * thousands.
 */
const GATHER_MS = 500

export interface ConsumeDeps {
  sql: Sql
  reader: StreamReader
  /** Connection in the role `command`. */
  redis: Redis
  apply: ApplyMicroBatch
  log: Logger
  metrics?: Pick<Metrics, 'batchEvents' | 'batchSeconds'>
  /** How long applied entries stay in the stream. Default: not at all. */
  keep?: Keep
  /** Called once per iteration, and by `apply` when it makes progress. It shows that the loop is alive. */
  beat: () => void
}

/**
 * Runs until the signal aborts (`stopped`; `apply` finishes or stops a save in progress) or until the partition has
 * another owner (`fenced`). Rejects only with errors that `apply` throws: errors of Redis are retried.
 */
export async function consumePartition(
  deps: ConsumeDeps,
  lease: Lease,
  signal: AbortSignal,
): Promise<'stopped' | 'fenced'> {
  const { reader, log } = deps
  const { partition, epoch } = lease
  let position = lease.position
  let checked = -1
  let count = FIRST_READ
  let entries: ReadEntry[] = []
  let isFull = false
  let ahead: Promise<ReadEntry[]> | undefined
  let pending = lease.pending ?? undefined
  let sent = Promise.resolve()
  /** Up to this id, entries may have been applied before. */
  let repeatedUpTo = FIRST_ID
  const trimmer = createTrimmer(
    deps.redis,
    partition,
    (error) => log.warn({ err: error, partition }, 'the stream was not trimmed'),
    deps.keep,
  )

  /** Reads ahead while a batch is saved. If this fails, the next read reports the reason. */
  const readPrefetched = (last: string): Promise<ReadEntry[]> => reader.readAtOnce(last, count).catch(() => [])
  /** Fills `entries`, which must be empty. */
  const readNext = async (): Promise<void> => {
    entries = (await ahead) ?? []
    ahead = undefined
    const last = entries.at(-1)?.streamId
    // Add the entries that have arrived since the prefetch.
    if (last !== undefined && entries.length < count)
      entries.push(...(await reader.readAtOnce(last, count - entries.length)))
    if (last === undefined) entries = await reader.read(position, count)
    isFull = entries.length >= count
    count = nextCount(entries) ?? count
  }
  const readPending = async (last: string): Promise<void> => {
    entries = await readUpTo(reader, position, last)
    isFull = false
    if (entriesUpTo(entries, last) > 0) return
    log.warn({ partition, pending: last }, 'the stream has lost a pending batch')
    await clearPending(deps.sql, lease, position)
    pending = undefined
  }

  while (!signal.aborted) {
    deps.beat()
    try {
      if (checked !== reader.connections()) {
        const connections = reader.connections()
        const applied = await recover(deps, partition, position)
        if (applied !== undefined) repeatedUpTo = applied
        if (deps.keep) trimmer.trimSoon(position)
        checked = connections
      }
      if (entries.length === 0) await (pending === undefined ? readNext() : readPending(pending))
    } catch (error) {
      if (signal.aborted) break
      log.warn({ err: error, partition }, 'the stream cannot be read, trying again')
      await sleep(RETRY_MS, signal)
      continue
    }
    if (entries.length === 0) continue
    const taken = entries.splice(0, entriesUpTo(entries, pending) || wholeEntries(entries))
    pending = undefined
    const batch = batchOf(taken, partition, epoch, position)
    if (compareIds(batch.from, repeatedUpTo) < 0) batch.repeated = true
    const isFollowed = isFull || entries.length > 0
    const events = sum(taken, (entry) => entry.events)
    // More entries are probably waiting: read them while this batch is saved.
    if (isFull && entries.length === 0) ahead = readPrefetched(batch.to)
    const started = performance.now()
    const outcome = await deps.apply(batch, signal, deps.beat)
    if (outcome.kind !== 'applied') return finish(outcome.kind, sent, trimmer)
    position = batch.to
    deps.metrics?.batchEvents.observe({ partition }, events)
    deps.metrics?.batchSeconds.observe({ partition }, (performance.now() - started) / 1000)
    await sent
    sent = publishOutcome(deps, partition, position, {
      ...outcome,
      answers: [...outcome.answers, ...answerPoisoned(taken)],
    })
    trimmer.trimSoon(position)
    if (kindOf(partition) === 'web' && !isFollowed) await sleep(GATHER_MS, signal)
  }
  return finish('stopped', sent, trimmer)
}

/** Does not wait for a Redis that hangs. The next owner can start, callers get 202, and the next owner trims. */
async function finish<How>(how: How, sent: Promise<void>, trimmer: Trimmer): Promise<How> {
  const done = new AbortController()
  const finished = Promise.all([sent, trimmer.finish()]).finally(() => done.abort())
  await Promise.race([finished, sleep(FINISH_MS, done.signal)])
  return how
}

/**
 * Entries up to the position are committed: they are never applied again. Redis may have come back empty, from an older
 * state, or with its clock set back. Even then, it must not give new entries an id at or below the position.
 *
 * Resolves with the id up to which entries may be applied for the second time: Postgres has failed over to a server
 * that lacks their commits. Rejects when Redis no longer has all of them.
 */
async function recover(
  { redis, log, keep }: ConsumeDeps,
  partition: string,
  position: string,
): Promise<string | undefined> {
  const { applied, trimmed } = await readKept(redis, partition)
  if (compareIds(trimmed, position) > 0) throw new Error(OLDER_THAN_REDIS)
  if (await raiseLastId(redis, partition, position)) {
    log.warn({ partition, position }, 'the stream was behind the committed position; its last id was raised')
  }
  await trim(redis, partition, position, keep && { upTo: FIRST_ID, keptBytes: keep.bytes })
  if (compareIds(applied, position) <= 0) return undefined
  log.warn({ partition, position, applied }, 'Postgres has lost commits: their entries are applied again')
  return laterBy(applied, UNRECORDED_MS)
}

/** After the last id that Redis knows as applied, more may have been: it is recorded a moment after the commit. */
const UNRECORDED_MS = 10_000

const laterBy = (id: string, ms: number): string => `${Number(id.split('-')[0]) + ms}-0`

/** Sends the answers to the front doors, and wakes loops. If that fails, the callers wait longer and get 202, and the loops look later. */
async function publishOutcome(
  deps: ConsumeDeps,
  partition: string,
  position: string,
  { answers, due = [] }: Pick<AppliedOutcome, 'answers' | 'due'>,
): Promise<void> {
  const { redis, log } = deps
  const sent = [
    ...[...groupAnswers(answers)].map(([frontDoor, group]) =>
      sendAnswers(redis, frontDoor, { partition, position, answers: group }),
    ),
    ...due.map((sender) => wake(redis, sender)),
  ]
  for (const result of await Promise.allSettled(sent)) {
    if (result.status === 'rejected') log.warn({ err: result.reason, partition }, 'answers or wake-ups did not go out')
  }
}

/** Reads in small steps: the entries after `pending` may be large. */
async function readUpTo(reader: StreamReader, position: string, pending: string): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = []
  for (let last = position; compareIds(last, pending) < 0; last = entries.at(-1)?.streamId ?? last) {
    const more = await reader.read(last, FIRST_READ)
    if (more.length === 0) break
    entries.push(...more)
  }
  return entries
}

/**
 * Counts the entries of the batch that an earlier owner ended at `pending`: exactly this batch is repeated. 0 when
 * Redis has lost it.
 */
function entriesUpTo(entries: ReadEntry[], pending: string | undefined): number {
  return pending === undefined ? 0 : entries.filter(({ streamId }) => compareIds(streamId, pending) <= 0).length
}

/**
 * Returns how many whole entries make one micro-batch; at least one. An erasure or an edit gets a micro-batch of its
 * own: it applies to what arrived before it, and not to what arrived after it.
 */
function wholeEntries(entries: ReadEntry[]): number {
  let events = 0
  const isAlone = (entry: ReadEntry) => entry.requests.some(({ request }) => TRAVEL_ALONE.has(request.kind))
  const tooMany = entries.findIndex(
    (entry, at) =>
      (events += entry.events) > BATCH_EVENTS || isAlone(entry) || (at > 0 && isAlone(entries[at - 1] ?? entry)),
  )
  return tooMany === -1 ? entries.length : Math.max(tooMany, 1)
}

function batchOf(entries: ReadEntry[], partition: string, epoch: number, from: string): MicroBatch {
  return {
    partition,
    epoch,
    from,
    to: entries.at(-1)?.streamId ?? from,
    requests: entries.flatMap((entry) => entry.requests),
    poisoned: entries.flatMap((entry) => entry.poisoned).map(({ replyTo: _, ...poisoned }) => poisoned),
  }
}

function answerPoisoned(entries: ReadEntry[]): AddressedAnswer[] {
  const callers = entries.flatMap((entry) => entry.poisoned).map((poisoned: PoisonedRequest) => poisoned.replyTo)
  return callers.flatMap((replyTo) => (replyTo ? [{ ...replyTo, answer: { failed: true } }] : []))
}

/** Estimates the number of entries of one full micro-batch from the last read; undefined when that read was empty. */
function nextCount(entries: ReadEntry[]): number | undefined {
  if (entries.length === 0) return undefined
  const byEvents =
    (BATCH_EVENTS * entries.length) /
    Math.max(
      1,
      sum(entries, (entry) => entry.events),
    )
  const byBytes =
    (READ_BYTES * entries.length) /
    Math.max(
      1,
      sum(entries, (entry) => entry.bytes),
    )
  return Math.max(1, Math.min(MAX_READ, Math.floor(Math.min(byEvents, byBytes))))
}

function sum<T>(items: T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
