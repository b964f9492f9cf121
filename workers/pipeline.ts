/**
 * Applies one micro-batch: load, decide and save, and again until it is written. The save moves the partition's position
 * in the same transaction as the effects, so an attempt is written completely or not at all, even if a process dies.
 */
import type { ContactCache } from '../src/contacts/load/contact-cache.ts'
import { sendersOf } from '../src/contacts/read/senders-of.ts'
import { faultKind, isKnownKey, isStatementTimeout, isUniqueViolation, wasRolledBack } from '../src/stores/postgres.ts'
import { INACTIVE } from '../src/stream/compose-dead-letter.ts'
import type { MicroBatch, Outcome } from '../src/stream/micro-batch.ts'
import {
  type ApplyContext,
  type Attempt,
  type WorkFailure,
  type PipelineDeps,
  composeDeadLetters,
  decideAll,
  saveAttempt,
} from './attempt.ts'
import { backoffMs } from '../src/async/backoff.ts'
import { sleep } from '../src/async/sleep.ts'
import { RETRY_BACKOFF } from './attempt.ts'
import { SEARCH_MS, findQuarantined, findPoisoned, isResponsive } from './find-poisoned.ts'
import { suspectKey } from './suspects.ts'
import { createTimeLimit } from './time-limit.ts'
import { type Work, answersOf, workOf } from './work.ts'

/** After this many unique violations, the data is considered the cause, and the failing items are searched for. */
const MAX_UNIQUE_VIOLATIONS = 50

/** The tries to write one micro-batch. */
interface Tries {
  context: ApplyContext
  works: Work[]
  /** The items that cannot be applied, with the reason. */
  rejected: Map<Work, WorkFailure>
  /** The attempts that may have been written. */
  attempts: Map<string, Attempt>
  contacts: ContactCache | undefined
  started: number
  failures: number
  conflicts: number
  violations: number
}

/** Retries until the batch is written, another owner has the partition, or `signal` aborts. */
export async function applyMicroBatch(
  deps: PipelineDeps,
  batch: MicroBatch,
  signal: AbortSignal,
  beat: () => void,
): Promise<Outcome> {
  const tries: Tries = {
    context: { ...deps, batch, signal, beat, timeLimit: createTimeLimit(deps.searchMs ?? SEARCH_MS) },
    works: workOf(batch),
    rejected: new Map(),
    attempts: new Map(),
    contacts: deps.contactsOf?.(batch.partition, batch.epoch),
    started: performance.now(),
    failures: 0,
    conflicts: 0,
    violations: 0,
  }
  while (!signal.aborted) {
    const outcome = await tryOnce(tries).catch(async (error: unknown) => {
      const waitMs = await noteFailure(tries, error)
      if (waitMs > 0) await sleep(waitMs, signal)
      return null
    })
    if (outcome !== null) return outcome
    tries.failures += 1
  }
  return { kind: 'stopped' }
}

/** Loads, decides and saves. Null: an idempotency key was known, so the next try decides anew. */
async function tryOnce({
  context,
  works,
  rejected,
  attempts,
  contacts,
  started,
  failures,
}: Tries): Promise<Outcome | null> {
  if (!context.suspects) await setAsideSuspects(context, works, rejected)
  const decided = await decideAll(context, works, rejected, failures === 0 ? contacts : undefined)
  if (!decided) return { kind: 'stopped' }
  const attempt = { ...decided, deadLetters: composeDeadLetters(context.batch, rejected, decided) }
  attempts.set(attempt.id, attempt)
  const saved = await saveAttempt(context, attempt).catch((error: unknown) => {
    if (wasRolledBack(error)) attempts.delete(attempt.id)
    throw error
  })
  if (saved === 'known key') {
    contacts?.noteRepeatedKey()
    context.metrics?.conflict?.()
    return null
  }
  // `elsewhere`: the position was already moved, by an earlier attempt whose reply was lost, or by another owner.
  const committed = saved === 'written' ? attempt : await findCommitted(context, context.batch, attempts)
  if (!committed) return { kind: 'fenced' }
  // Also after an attempt without the cache, which may still contain the former state of a contact.
  contacts?.commit(committed.state, committed.changes)
  return applied(context, committed, started)
}

/** Notes why a try failed, and sets poisoned items aside. Resolves with the time to wait before the next try, in ms. */
async function noteFailure(tries: Tries, error: unknown): Promise<number> {
  const { context, works, rejected, contacts, failures } = tries
  const { log, configs, metrics, batch } = context
  if (isKnownKey(error)) contacts?.noteRepeatedKey()
  const kind = faultKind(error)
  if (kind === 'trouble') log.warn({ err: error, partition: batch.partition }, 'a save failed, trying again')
  else configs.clear()
  if (kind === 'conflict') {
    tries.conflicts += 1
    metrics?.conflict?.()
  }
  if (isUniqueViolation(error)) tries.violations += 1
  const isKnownToFail = kind === 'data' || tries.violations >= MAX_UNIQUE_VIOLATIONS
  const isPoisoned = isKnownToFail || (isStatementTimeout(error) && (await isResponsive(context)))
  // Most likely the cache was stale or a key was known, so try again at once, without the cache.
  if (kind === 'conflict' && contacts && failures === 0) return 0
  if (isPoisoned && (await setAside(context, works, rejected, isKnownToFail))) {
    tries.violations = 0
    return 0
  }
  return backoffMs(kind === 'conflict' ? Math.min(tries.conflicts, 4) + 1 : failures + 1, RETRY_BACKOFF)
}

/**
 * Searches the items of suspect businesses before the first save, so that other items do not wait for a save that would
 * probably fail. Excludes erasures: an erasure is alone in its micro-batch, and other items of its business must not
 * prevent it.
 */
async function setAsideSuspects(context: ApplyContext, works: Work[], rejected: Map<Work, WorkFailure>): Promise<void> {
  const { suspectsOf, sql, batch } = context
  const suspects = await suspectsOf?.(sql, batch.partition, batch.epoch)
  if (!suspects) return
  context.suspects = suspects
  const suspected = works.filter(({ item }) => item.kind !== 'erase' && suspects.isSuspect(suspectKey(item.businessId)))
  if (suspected.length === 0) return
  for (const [work, failure] of findQuarantined(context, suspected)) rejected.set(work, failure)
  await setAside(context, suspected, rejected, false)
}

/** Returns whether poisoned items were found. The others are then tried without them. */
async function setAside(
  context: ApplyContext,
  works: Work[],
  rejected: Map<Work, WorkFailure>,
  isKnownToFail: boolean,
): Promise<boolean> {
  const left = works.filter((work) => !rejected.has(work))
  const poisoned = await findPoisoned(context, left, isKnownToFail)
  for (const [work, failure] of poisoned) rejected.set(work, failure)
  return poisoned.size > 0
}

async function findCommitted(
  { sql }: PipelineDeps,
  { partition }: MicroBatch,
  attempts: Map<string, Attempt>,
): Promise<Attempt | undefined> {
  const [row] = await sql<{ attempt: string | null }[]>`
    select attempt from positions where partition = ${partition}`
  return row?.attempt ? attempts.get(row.attempt) : undefined
}

function applied(deps: ApplyContext, attempt: Attempt, started: number): Outcome {
  // New custom fields have incremented the version of the configuration.
  for (const field of attempt.changes.newFields) deps.configs.delete(field.businessId)
  deps.suspects?.note(attempt.deadLetters)
  deps.metrics?.saved?.(attempt.decisions.size, (performance.now() - started) / 1000)
  logDeadLetters(deps, attempt)
  return { kind: 'applied', answers: answersOf(deps.batch, attempt), due: sendersOf(attempt.changes) }
}

/**
 * Logs one line for all items of inactive businesses, because there can be very many and the operator has deactivated
 * the businesses.
 */
function logDeadLetters({ log, batch: { partition } }: ApplyContext, { deadLetters, inactive }: Attempt): void {
  if (inactive.size > 0) log.warn({ partition, items: inactive.size }, 'items of inactive businesses were set aside')
  for (const { id, kind, stream_id: streamId, reason } of deadLetters)
    if (reason !== INACTIVE) log.error({ deadLetter: id, kind, streamId }, 'an item could not be applied')
}
