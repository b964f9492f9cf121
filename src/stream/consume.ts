/** The loop of one partition: read · apply · answer · trim, with at most one save in flight. */
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Sql } from '../stores/postgres.ts'
import type { Redis } from '../stores/redis.ts'
import type { PoisonedRequest, ReadEntry } from './decode-entry.ts'
import { TRAVEL_ALONE } from './entry.ts'
import type { Lease } from './lease.ts'
import type { AddressedAnswer, ApplyMicroBatch, MicroBatch } from './micro-batch.ts'
import { kindOf } from './partition-of.ts'
import { sleep } from '../async/sleep.ts'
import { clearPending } from './positions.ts'
import { groupAnswers, sendAnswers } from './reply.ts'
import { compareIds } from './stream-id.ts'
import type { StreamReader } from './stream-reader.ts'
import { type Trimmer, createTrimmer, raiseLastId, trim } from './trim.ts'

/** A micro-batch is capped by events, not by entries: one entry can hold a thousand. */
const BATCH_EVENTS = 1000
const READ_BYTES = 8 * 1024 * 1024
const FIRST_READ = 8
const LARGEST_READ = 256
const AFTER_TROUBLE_MS = 200
const FINISH_MS = 1000
/** An insert of few web events costs nearly what one of thousands does: they gather for so long, once the stream is empty. */
const GATHER_MS = 500

export interface ConsumeDeps {
  sql: Sql
  reader: StreamReader
  /** In the role `command`. */
  redis: Redis
  apply: ApplyMicroBatch
  log: Logger
  metrics?: Pick<Metrics, 'batchEvents' | 'batchSeconds'>
  /** Called once per turn, and by `apply` as it gets on: the loop is alive. */
  beat: () => void
}

/**
 * Works until the signal aborts (`stopped`; a save under way is finished or stopped by `apply`) or until another owner
 * has the partition (`fenced`). Rejects only with what `apply` throws: trouble with Redis is waited out.
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
  const trimmer = createTrimmer(deps.redis, partition, (error) =>
    log.warn({ err: error, partition }, 'the stream was not trimmed'),
  )

  /** Reads ahead while a batch is saved. When this fails, the next read reports the reason. */
  const readPrefetched = (last: string): Promise<ReadEntry[]> => reader.readAtOnce(last, count).catch(() => [])
  /** Fills `entries`, which are empty before. */
  const readNext = async (): Promise<void> => {
    entries = (await ahead) ?? []
    ahead = undefined
    const last = entries.at(-1)?.streamId
    // What has gathered since comes along.
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
    log.warn({ partition, pending: last }, 'the stream has lost the batch that was on its way')
    await clearPending(deps.sql, lease, position)
    pending = undefined
  }

  while (!signal.aborted) {
    deps.beat()
    try {
      if (checked !== reader.connections()) {
        const connections = reader.connections()
        await recover(deps, partition, position)
        checked = connections
      }
      if (entries.length === 0) await (pending === undefined ? readNext() : readPending(pending))
    } catch (error) {
      if (signal.aborted) break
      log.warn({ err: error, partition }, 'the stream cannot be read, trying again')
      await sleep(AFTER_TROUBLE_MS, signal)
      continue
    }
    if (entries.length === 0) continue
    const taken = entries.splice(0, entriesUpTo(entries, pending) || wholeEntries(entries))
    pending = undefined
    const batch = batchOf(taken, partition, epoch, position)
    const isFollowed = isFull || entries.length > 0
    const events = sum(taken, (entry) => entry.events)
    // More is there already, most likely: it is read while this is saved.
    if (isFull && entries.length === 0) ahead = readPrefetched(batch.to)
    const started = performance.now()
    const outcome = await deps.apply(batch, signal, deps.beat)
    if (outcome.kind !== 'applied') return finish(outcome.kind, sent, trimmer)
    position = batch.to
    deps.metrics?.batchEvents.observe({ partition }, events)
    deps.metrics?.batchSeconds.observe({ partition }, (performance.now() - started) / 1000)
    await sent
    sent = publishAnswers(deps, partition, position, [...outcome.answers, ...answerPoisoned(taken)])
    trimmer.trimSoon(position)
    if (kindOf(partition) === 'web' && !isFollowed) await sleep(GATHER_MS, signal)
  }
  return finish('stopped', sent, trimmer)
}

/** A Redis that hangs holds up no next owner: callers get their 202, and that one trims. */
async function finish<How>(how: How, sent: Promise<void>, trimmer: Trimmer): Promise<How> {
  const done = new AbortController()
  const finished = Promise.all([sent, trimmer.finish()]).finally(() => done.abort())
  await Promise.race([finished, sleep(FINISH_MS, done.signal)])
  return how
}

/**
 * What an owner before left behind is committed: it is trimmed, never applied again. And a Redis that came back empty,
 * older or with its clock behind must not give later entries an id that was passed already.
 */
async function recover({ redis, log }: ConsumeDeps, partition: string, position: string): Promise<void> {
  if (await raiseLastId(redis, partition, position)) {
    log.warn({ partition, position }, 'the stream was behind the committed position; its last id was raised')
  }
  await trim(redis, partition, position)
}

/** Sends the answers to the front doors. If that fails, the callers wait longer and get 202. */
async function publishAnswers(
  deps: ConsumeDeps,
  partition: string,
  position: string,
  answers: AddressedAnswer[],
): Promise<void> {
  const { redis, log } = deps
  const sent = [...groupAnswers(answers)].map(([frontDoor, group]) =>
    sendAnswers(redis, frontDoor, { partition, position, answers: group }),
  )
  for (const result of await Promise.allSettled(sent)) {
    if (result.status === 'rejected') log.warn({ err: result.reason, partition }, 'answers did not go out')
  }
}

/** Step by step: what follows it may be large. */
async function readUpTo(reader: StreamReader, position: string, pending: string): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = []
  for (let last = position; compareIds(last, pending) < 0; last = entries.at(-1)?.streamId ?? last) {
    const more = await reader.read(last, FIRST_READ)
    if (more.length === 0) break
    entries.push(...more)
  }
  return entries
}

/** An owner before has cut its batch here: exactly that is repeated. None when Redis has lost it since. */
function entriesUpTo(entries: ReadEntry[], pending: string | undefined): number {
  return pending === undefined ? 0 : entries.filter(({ streamId }) => compareIds(streamId, pending) <= 0).length
}

/**
 * How many entries, kept whole, make one micro-batch; at least one. An erasure or an edit is one by
 * itself: it holds for what arrived before it, and not for what arrived after.
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
    poisoned: entries.flatMap((entry) => entry.poisoned).map(({ asker: _, ...poisoned }) => poisoned),
  }
}

function answerPoisoned(entries: ReadEntry[]): AddressedAnswer[] {
  const askers = entries.flatMap((entry) => entry.poisoned).map((poisoned: PoisonedRequest) => poisoned.asker)
  return askers.flatMap((asker) => (asker ? [{ ...asker, answer: { failed: true } }] : []))
}

/** As many entries as would make one full micro-batch, going by the last read; undefined when it read none. */
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
  return Math.max(1, Math.min(LARGEST_READ, Math.floor(Math.min(byEvents, byBytes))))
}

function sum<T>(items: T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
