/** Operators list dead letters, or send them through the stream again. timeline/resync/drop-dead-letters.ts drops them. */
import { type AuditEntry, recordAudit } from '../audit/audit.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { INACTIVE } from './compose-dead-letter.ts'
import { describeInvalid } from './decode-entry.ts'
import type { IngestRequest } from './entry.ts'
import type { Submit, SubmitResult } from './publish/submit.ts'

export interface DeadLetter {
  id: string
  /** Null when the entry could not be read far enough to find it. */
  businessId: string | null
  partition: string
  streamId: string
  kind: string
  reason: string
  /** The request as JSON with one item, or the text that could not be read. Contains personal data. */
  payload: string
  /** Epoch ms; null when unknown. */
  receivedAt: number | null
  createdAt: Date
}

/** Number of ids that one statement reads. */
const PAGE = 5000

/** Lists dead letters, oldest first. */
export async function listDeadLetters(
  sql: Sql,
  { businessId = null, limit = 100 }: { businessId?: string | null; limit?: number } = {},
): Promise<DeadLetter[]> {
  return sql<DeadLetter[]>`
    select id, business_id as "businessId", partition, stream_id as "streamId", kind, reason, payload,
      received_at as "receivedAt", created_at as "createdAt"
    from dead_letters
    where ${inBusiness(sql, businessId)} order by created_at, id limit ${limit}`
}

/**
 * Yields pages of ids, oldest first, of the dead letters that exist at the start. Each id is yielded once, even if its
 * dead letter is not deleted.
 */
export async function* pageDeadLetters(sql: Sql, businessId: string | null): AsyncGenerator<string[]> {
  const [{ now: until }] = await sql<[{ now: string }]>`select now()::text as now`
  // Times are read as text, which keeps the microseconds.
  let last = { id: '00000000-0000-0000-0000-000000000000', at: '-infinity' }
  for (;;) {
    const page = await sql<(typeof last)[]>`
      select id, created_at::text as at from dead_letters
      where (created_at, id) > (${last.at}::text::timestamptz, ${last.id}::uuid) and created_at <= ${until}::text::timestamptz
        and ${inBusiness(sql, businessId)}
      order by created_at, id limit ${PAGE}`
    if (page.length > 0) yield page.map(({ id }) => id)
    if (page.length < PAGE) return
    last = page.at(-1) ?? last
  }
}

/** Null: any business, and entries in which it could not be read. */
export const inBusiness = (sql: Queryable, businessId: string | null) =>
  businessId === null ? sql`true` : sql`business_id = ${businessId}`

/** Who handles dead letters, and what the entry in the audit log says of those that are chosen. */
export type DeadLetterChange = Omit<AuditEntry, 'action'>

/**
 * Replays the chosen dead letters, or all: only those of the business of `change`, if it has one. Yields what became of
 * each. The entry of the audit log is written first, so that it exists even after a crash.
 */
export async function* replayDeadLetters(
  deps: { sql: Sql; submit: Submit },
  change: DeadLetterChange,
  chosen: readonly string[] | 'all',
): AsyncGenerator<{ id: string } & ReplayOutcome> {
  await recordAudit(deps.sql, { ...change, action: 'dead-letter.replay' })
  const pages = chosen === 'all' ? pageDeadLetters(deps.sql, change.businessId) : [chosen]
  for await (const ids of pages) {
    for (const id of ids) {
      const read = readReplayOutcome(await replayDeadLetter(deps, id, change.businessId))
      // Another person may have replayed or dropped it since the page was read.
      if (chosen === 'all' && read.outcome === 'not_found') continue
      yield { id, ...read }
    }
  }
}

type ReplayResult = SubmitResult | { kind: 'not_found' } | { kind: 'not_replayable'; reason: string }

/**
 * Sends the request again, with the time of its first receipt. The save that applies it deletes the dead letter.
 * An event without an idempotency key gets the dead letter's id as its key, so that two replays count once.
 */
export async function replayDeadLetter(
  deps: { sql: Sql; submit: Submit },
  id: string,
  businessId: string | null = null,
): Promise<ReplayResult> {
  const [letter] = await deps.sql<{ payload: string; active: boolean | null }[]>`
    select l.payload, b.active from dead_letters l left join businesses b on b.id = l.business_id
    where l.id = ${id} and ${inBusiness(deps.sql, businessId)}`
  if (!letter) return { kind: 'not_found' }
  if (letter.active === false) return { kind: 'not_replayable', reason: INACTIVE }
  const request = readRequest(letter.payload)
  if (typeof request === 'string') return { kind: 'not_replayable', reason: request }
  const { n: _, ...unnumbered } = withKey(request, id)
  // No worker answers a capture.
  return deps.submit({ ...unnumbered, replayOf: id }, { wait: request.kind !== 'capture' })
}

/** `failed`: the request or one of its items failed again. */
export type ReplayOutcome =
  | { outcome: 'applied' | 'queued' | 'failed' | 'unavailable' | 'outcome_unknown' | 'not_found' }
  | { outcome: 'not_replayable'; reason: string }

function readReplayOutcome(replayed: ReplayResult): ReplayOutcome {
  if (replayed.kind === 'not_replayable') return { outcome: replayed.kind, reason: replayed.reason }
  if (replayed.kind !== 'answered') return { outcome: replayed.kind }
  const { answer } = replayed
  const failed = 'failed' in answer || ('items' in answer && answer.items.some((item) => 'error' in item))
  return { outcome: failed ? 'failed' : 'applied' }
}

/** Returns the request, or the reason why the payload is not a request. */
function readRequest(payload: string): IngestRequest | string {
  try {
    const candidate: unknown = JSON.parse(payload)
    return describeInvalid(candidate) ?? (candidate as IngestRequest)
  } catch {
    return 'The payload is not JSON.'
  }
}

function withKey(request: IngestRequest, key: string): IngestRequest {
  if (request.kind === 'track') return { ...request, fact: keyed(request.fact, key) }
  if (request.kind === 'browser')
    return { ...request, fact: { ...request.fact, messageId: request.fact.messageId ?? key } }
  if (request.kind !== 'batch') return request
  return { ...request, items: request.items.map((item) => ({ ...item, fact: keyed(item.fact, key) })) }
}

function keyed<F extends { idempotencyKey: string | null }>(fact: F, key: string): F {
  return { ...fact, idempotencyKey: fact.idempotencyKey ?? key }
}
