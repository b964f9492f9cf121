/**
 * What happens to one micro-batch, top to bottom: load · decide · save. The save moves the partition's position together
 * with the effects, so an attempt is either wholly there or not at all, whatever dies in between.
 */
import { faultKind, isKnownKey, isStatementTimeout, isUniqueViolation, wasRolledBack } from '../src/stores/postgres.ts'
import { INACTIVE } from '../src/stream/compose-dead-letter.ts'
import type { MicroBatch, Outcome } from '../src/stream/micro-batch.ts'
import { type Applying, type Attempt, type WorkFailure, type PipelineDeps, decideAll, saveAttempt } from './attempt.ts'
import { backoffMs } from '../src/async/backoff.ts'
import { sleep } from '../src/async/sleep.ts'
import { AGAIN } from './attempt.ts'
import { SEARCH_MS, findGivenUp, findPoisoned, isApplied } from './find-poisoned.ts'
import { suspectKey } from './suspects.ts'
import { createTimeLimit } from './time-limit.ts'
import { type Work, answersOf, workOf } from './work.ts'

/** Unique violations after which the cause is taken for the data's, and looked for item by item. */
const TOO_MANY_VIOLATIONS = 50

/** Retries until it is written, until the partition is another's, or until `signal` aborts. */
export async function applyMicroBatch(
  deps: PipelineDeps,
  batch: MicroBatch,
  signal: AbortSignal,
  beat: () => void,
): Promise<Outcome> {
  const applying: Applying = { ...deps, batch, signal, beat, timeLimit: createTimeLimit(deps.searchMs ?? SEARCH_MS) }
  const works = workOf(batch)
  /** The items that cannot be applied, with the reason. */
  const dead = new Map<Work, WorkFailure>()
  /** Those that may have been written. */
  const attempts = new Map<string, Attempt>()
  const started = performance.now()
  const contacts = deps.contactsOf?.(batch.partition, batch.epoch)
  for (let failures = 0, conflicts = 0, violations = 0; !signal.aborted; failures += 1) {
    let attempt: Attempt | undefined
    try {
      if (!applying.suspects) await tryApart(applying, works, dead)
      attempt = await decideAll(applying, works, dead, failures === 0 ? contacts : undefined)
      if (!attempt) break
      attempts.set(attempt.id, attempt)
      const saved = await saveAttempt(applying, attempt)
      if (saved === 'known key') {
        contacts?.noteRepeatedKey()
        deps.metrics?.conflict?.()
        continue
      }
      // If not, it was not our position to move: an earlier attempt of ours with a lost reply did it, or another owner.
      const committed = saved === 'written' ? attempt : await findCommitted(deps, batch, attempts)
      if (!committed) return { kind: 'fenced' }
      // Also when it was decided without: the cache may hold a contact that it changed, as it was before.
      contacts?.commit(committed.state, committed.changes)
      return applied(applying, committed, started)
    } catch (error) {
      if (attempt && wasRolledBack(error)) attempts.delete(attempt.id)
      if (isKnownKey(error)) contacts?.noteRepeatedKey()
      const kind = faultKind(error)
      if (kind === 'trouble') deps.log.warn({ err: error, partition: batch.partition }, 'a save failed, trying again')
      else deps.configs.clear()
      if (kind === 'conflict') {
        conflicts += 1
        deps.metrics?.conflict?.()
      }
      if (isUniqueViolation(error)) violations += 1
      const isKnownToFail = kind === 'data' || violations >= TOO_MANY_VIOLATIONS
      const isPoisoned = isKnownToFail || (isStatementTimeout(error) && (await isApplied(applying)))
      // What the cache held was out of date, most likely, or a key was known: Postgres itself is asked at once.
      if (kind === 'conflict' && contacts && failures === 0) continue
      if (isPoisoned && (await setAside(applying, works, dead, isKnownToFail))) violations = 0
      else await sleep(backoffMs(kind === 'conflict' ? Math.min(conflicts, 4) + 1 : failures + 1, AGAIN), signal)
    }
  }
  return { kind: 'stopped' }
}

/**
 * Items of businesses that have failed lately: the others do not wait for a save that is likely to fail. An erasure is
 * alone in its micro-batch and gets the time of a whole save: what else its business sends does not keep a person from being
 * erased.
 */
async function tryApart(applying: Applying, works: Work[], dead: Map<Work, WorkFailure>): Promise<void> {
  const { suspectsOf, sql, batch } = applying
  const suspects = await suspectsOf?.(sql, batch.partition, batch.epoch)
  if (!suspects) return
  applying.suspects = suspects
  const suspected = works.filter(({ item }) => item.kind !== 'erase' && suspects.isSuspect(suspectKey(item.businessId)))
  if (suspected.length === 0) return
  for (const [work, death] of findGivenUp(applying, suspected)) dead.set(work, death)
  await setAside(applying, suspected, dead, false)
}

/** True when some were found: the rest is tried without them. */
async function setAside(
  applying: Applying,
  works: Work[],
  dead: Map<Work, WorkFailure>,
  isKnownToFail: boolean,
): Promise<boolean> {
  const left = works.filter((work) => !dead.has(work))
  const poisoned = await findPoisoned(applying, left, isKnownToFail)
  for (const [work, death] of poisoned) dead.set(work, death)
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

function applied(deps: Applying, attempt: Attempt, started: number): Outcome {
  // The fields that it made raised the version of the configuration.
  for (const field of attempt.changes.newFields) deps.configs.delete(field.businessId)
  deps.suspects?.note(attempt.deadLetters)
  deps.metrics?.saved?.(attempt.decisions.size, (performance.now() - started) / 1000)
  logDeadLetters(deps, attempt)
  return { kind: 'applied', answers: answersOf(deps.batch, attempt) }
}

/** Those of inactive businesses are the operator's wish, and can be very many: one line for all. */
function logDeadLetters({ log, batch: { partition } }: Applying, { deadLetters, inactive }: Attempt): void {
  if (inactive.size > 0) log.warn({ partition, items: inactive.size }, 'items of inactive businesses were set aside')
  for (const { id, kind, stream_id: streamId, reason } of deadLetters)
    if (reason !== INACTIVE) log.error({ deadLetter: id, kind, streamId }, 'an item could not be applied')
}
