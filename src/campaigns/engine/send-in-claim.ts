/**
 * Sends messages in the transaction of their claim when the provider of the channel stores them in Postgres: the
 * message is written once, with its outcome, and its enrolment continues at once. A crash leaves all of it, or nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { OutgoingMessage } from '../../messages/channels/provider.ts'
import { loadTemplate } from '../../messages/templates/load-template.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { Attempt, Rendered } from './attempt.ts'
import type { ChannelTurns, PostgresProvider } from './channel-turns.ts'
import type { ClaimedChannel, SendInClaim } from './claim-due.ts'
import type { EngineDeps } from './engine-deps.ts'
import type { MessageFacts } from './load-message-facts.ts'
import { loadOnce } from './message-batches.ts'
import { type ClaimedMessage, type DecidedMove, type Place, goOn, messageToSend } from './move.ts'
import { storedRendering, render, outgoingOf } from './send-message.ts'
import { stateAfterAttempt, wordsOf } from './settle.ts'

/** A message that can be sent in its claim. */
interface Sendable {
  move: DecidedMove
  claimed: ClaimedMessage
  keeper: PostgresProvider
  facts: MessageFacts
}

export const sendInClaim: SendInClaim = async (deps, tx, { moves, keeperOf, findChanged }) => {
  const sendable = moves.flatMap((move) => sendableOf(move, keeperOf))
  const { made, pending } = await makeAll(deps, tx, sendable)
  // Read after the last message is rendered: what follows it begins no earlier.
  const sentAt = deps.now()
  const settled = new Map<DecidedMove, DecidedMove>()
  const outgoing: Outgoing[] = []
  for (const [one, message] of made) {
    const attempt = attemptOf(deps, one, message)
    const moved = settleInClaim(deps, one, attempt, sentAt)
    if (moved === null) continue
    settled.set(one.move, moved)
    if (!('kind' in message)) outgoing.push({ ...one, message: await outgoingOf(deps, one.claimed, message) })
  }
  const kept = await keepAll(tx, outgoing, findChanged)
  for (const one of outgoing) if (!kept.includes(one)) settled.delete(one.move)
  return {
    moves: moves.map((move) => settled.get(move) ?? move),
    sentAt,
    channels: channelsOf(kept),
    pending,
  }
}

function sendableOf(move: DecidedMove, keeperOf: ChannelTurns['keeperOf']): Sendable[] {
  const claimed = messageToSend(move)
  // A message that is tried again already has its row.
  if (claimed === null || !move.made.some(({ messageId }) => messageId === claimed.messageId)) return []
  const keeper = keeperOf({ businessId: claimed.businessId, channel: claimed.step.channel })
  const { madeFrom: facts } = move.context.facts
  return keeper === null || facts === null ? [] : [{ move, claimed, keeper, facts }]
}

interface MadeInTime {
  made: [Sendable, Rendered][]
  /** The other messages, by id: their rendering continues. */
  pending: ReadonlyMap<string, Promise<Rendered>>
}

async function makeAll(deps: EngineDeps, tx: Queryable, sendable: readonly Sendable[]): Promise<MadeInTime> {
  if (sendable.length === 0) return { made: [], pending: new Map() }
  const keys = sendable.map(({ claimed: { businessId, step } }) => ({ businessId, templateId: step.template }))
  const templates = await loadOnce(keys, (key) => loadTemplate(tx, key))
  const made: [Sendable, Rendered][] = []
  const pending = new Map<string, Promise<Rendered>>()
  const ends = sendable.map(async (one, place) => {
    const { messageId } = one.claimed
    const making = render(deps, one.claimed, { template: templates[place] ?? null, facts: one.facts })
    pending.set(messageId, making)
    try {
      made.push([one, await making])
    } catch {
      // After the claim it is rendered again, and fails alone.
    }
    pending.delete(messageId)
  })
  const stop = new AbortController()
  await Promise.race([Promise.all(ends), sleep(deps.makeMs, undefined, { signal: stop.signal }).catch(() => undefined)])
  stop.abort()
  return { made: [...made], pending: new Map(pending) }
}

type Outgoing = Sendable & { message: OutgoingMessage }

/**
 * Returns the messages that were stored. Messages of a channel that meanwhile has another provider are sent after the
 * claim.
 */
async function keepAll(
  tx: Queryable,
  outgoing: readonly Outgoing[],
  findChanged: ChannelTurns['findChanged'],
): Promise<Outgoing[]> {
  if (outgoing.length === 0) return []
  const isChanged = await findChanged(outgoing.map(({ message }) => message))
  const kept = outgoing.filter(({ message }) => !isChanged(message))
  for (const [inPostgres, sent] of Map.groupBy(kept, ({ keeper }) => keeper.inPostgres))
    await inPostgres.keep(
      tx,
      sent.map(({ message }) => message),
    )
  return kept
}

function channelsOf(kept: readonly Outgoing[]): ClaimedChannel[] {
  const channels = new Map<string, ClaimedChannel>()
  for (const {
    keeper: { provider },
    message: { businessId, channel },
  } of kept)
    channels.set(`${businessId} ${channel}`, { businessId, channel, provider })
  return [...channels.values()]
}

function attemptOf(deps: EngineDeps, { keeper }: Sendable, made: Rendered): Attempt {
  if ('kind' in made) return { outcome: made, provider: null, rendered: null }
  return { outcome: { kind: 'accepted' }, provider: keeper.provider, rendered: storedRendering(deps, made) }
}

/** Null: it is tried again. */
function settleInClaim({ log }: EngineDeps, one: Sendable, attempt: Attempt, at: number): DecidedMove | null {
  const { move, claimed } = one
  const settled = stateAfterAttempt(attempt, { attempts: 1, claimedAt: move.context.now }, at)
  if (settled.state === 'retry') return null
  if (settled.state !== 'sent')
    log.warn(
      { message: claimed.messageId, campaign: claimed.campaignId, ...settled },
      'a message of a campaign was not sent',
    )
  const outcome = { state: settled.state, reason: settled.reason, at, ...wordsOf(attempt) }
  const made = move.made.map((message) => (message.messageId === claimed.messageId ? { ...message, outcome } : message))
  return { ...move, made, place: placeBehind(move, at) }
}

function placeBehind({ row, place, context }: DecidedMove, now: number): Place {
  if (place.kind !== 'sends') return place
  try {
    return goOn(row, { ...context, now }, place.position)
  } catch {
    // The next claim postpones only this enrolment, and reports why.
    return { kind: 'settled', position: place.position }
  }
}
