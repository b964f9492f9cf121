/**
 * Sends messages in the transaction of their claim, where the provider of the channel keeps them in Postgres: the message is written once,
 * with what became of it, and its enrolment goes on at once. A death leaves all of it, or nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChannelKey } from '../../messages/channels/channels.ts'
import type { OutgoingMessage, Provider } from '../../messages/channels/provider.ts'
import { loadTemplate } from '../../messages/templates/load-template.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { KeptChannel, SendInClaim } from './claim-due.ts'
import type { EngineDeps } from './engine-deps.ts'
import { type MessageFacts, loadMessageFacts } from './load-message-facts.ts'
import { loadOnce } from './message-batches.ts'
import { type ClaimedMessage, type DecidedMove, claimedMessages, goOn } from './move.ts'
import { type Attempt, type Made, keptOf, makeFrom, outgoingOf } from './send-message.ts'
import { judgeAttempt, wordsOf } from './settle.ts'

type InPostgres = NonNullable<Provider['inPostgres']>

/** One that can be sent in its claim. */
interface Sendable {
  move: DecidedMove
  claimed: ClaimedMessage
  provider: string
  inPostgres: InPostgres
}

export const sendInClaim: SendInClaim = async (deps, tx, { moves, providerOf }) => {
  const sendable = moves.flatMap((move) => sendableOf(move, providerOf))
  const made = await makeAll(deps, tx, sendable)
  const settled = new Map<DecidedMove, DecidedMove>()
  const outgoing: (Sendable & { message: OutgoingMessage })[] = []
  for (const [one, message] of made) {
    const attempt = attemptOf(deps, one, message)
    const moved = settleInClaim(deps, one, attempt)
    if (moved === null) continue
    settled.set(one.move, moved)
    if (!('kind' in message)) outgoing.push({ ...one, message: await outgoingOf(deps, one.claimed, message) })
  }
  const channels = new Map<string, KeptChannel>()
  for (const [inPostgres, sent] of Map.groupBy(outgoing, (one) => one.inPostgres)) {
    await inPostgres.keep(
      tx,
      sent.map(({ message }) => message),
    )
    for (const { provider, message } of sent) {
      const { businessId, channel } = message
      channels.set(`${businessId} ${channel}`, { businessId, channel, provider })
    }
  }
  return { moves: moves.map((move) => settled.get(move) ?? move), channels: [...channels.values()] }
}

function sendableOf(move: DecidedMove, providerOf: (channel: ChannelKey) => Provider): Sendable[] {
  const [claimed] = claimedMessages(move)
  // One that is tried again has its row.
  if (claimed === undefined || !move.made.some(({ messageId }) => messageId === claimed.messageId)) return []
  const { name: provider, inPostgres } = providerOf({ businessId: claimed.businessId, channel: claimed.step.channel })
  return inPostgres === undefined ? [] : [{ move, claimed, provider, inPostgres }]
}

/** Those that are made in time. */
async function makeAll(deps: EngineDeps, tx: Queryable, sendable: readonly Sendable[]): Promise<[Sendable, Made][]> {
  if (sendable.length === 0) return []
  const facts = await factsOf(tx, sendable)
  const keys = sendable.map(({ claimed: { businessId, step } }) => ({ businessId, templateId: step.template }))
  const templates = await loadOnce(keys, (key) => loadTemplate(tx, key))
  const made: [Sendable, Made][] = []
  const late = new AbortController()
  const making = sendable.map(async (one, at) => {
    const from = { template: templates[at] ?? null, facts: facts.get(one) ?? null }
    const message = await makeFrom(deps, one.claimed, from, late.signal)
    if (!late.signal.aborted) made.push([one, message])
  })
  const stop = new AbortController()
  await Promise.race([
    Promise.all(making),
    sleep(deps.makeMs, undefined, { signal: stop.signal }).catch(() => undefined),
  ])
  stop.abort()
  late.abort()
  return made
}

/** Of most of them, the claim has read all. */
async function factsOf(
  tx: Queryable,
  sendable: readonly Sendable[],
): Promise<ReadonlyMap<Sendable, MessageFacts | null>> {
  const known = new Map<Sendable, MessageFacts | null>(sendable.map((one) => [one, one.move.context.facts.madeFrom]))
  const missing = sendable.filter((one) => known.get(one) === null)
  if (missing.length === 0) return known
  const loaded = await loadMessageFacts(
    tx,
    missing.map(({ claimed }) => claimed),
  )
  for (const [at, one] of missing.entries()) known.set(one, loaded[at] ?? null)
  return known
}

function attemptOf(deps: EngineDeps, { provider }: Sendable, made: Made): Attempt {
  if ('kind' in made) return { outcome: made, provider: null, rendered: null }
  return { outcome: { kind: 'accepted' }, provider, rendered: keptOf(deps, made) }
}

/** Null: it is tried again. */
function settleInClaim({ log, now }: EngineDeps, { move, claimed }: Sendable, attempt: Attempt): DecidedMove | null {
  const at = now()
  const { row, place, context } = move
  const settled = judgeAttempt(attempt, { attempts: 1, claimedAt: context.now }, at)
  if (settled.state === 'retry' || place.kind !== 'sends') return null
  if (settled.state !== 'sent')
    log.warn(
      { message: claimed.messageId, campaign: claimed.campaignId, ...settled },
      'a message of a campaign was not sent',
    )
  const outcome = { state: settled.state, reason: settled.reason, at, ...wordsOf(attempt) }
  const made = move.made.map((one) => (one.messageId === claimed.messageId ? { ...one, outcome } : one))
  return { ...move, made, place: goOn(row, context, place.position) }
}
