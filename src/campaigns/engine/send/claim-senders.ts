/** Chooses the sender of each message of a claim, and takes its turn. */
import { DEFAULT_SENDER, type SenderKey } from '../../../messages/channels/channels.ts'
import { nextLocalTime } from '../../../rules/campaigns/local-time.ts'
import type { SendStep } from '../../../rules/campaigns/steps.ts'
import { TRY_MS, fallbackOf, findNamed, nearestSender } from '../../../rules/messages/choose-sender.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import type { VersionedRow } from '../claim/read-move-facts.ts'
import { type Held, type SenderTurns, openTurns } from './channel-turns.ts'
import { type FoundSender, type TemplateKey, connectionOf, findSenders, findTemplateSenders } from './find-senders.ts'

/** The sender of a message. */
export interface ChosenSender {
  sender: string
  /** The sender whose connection it takes. */
  connection: string
  /** Its connection was unreachable when it was claimed. */
  isUnreachable: boolean
}

interface AskedSend {
  step: SendStep
  isQueued: boolean
  /** See `AskedTurn`. */
  isCall?: boolean
  expiresAt?: number
  now: number
}

/** A campaign's version with its messages, or the message of a call. */
export interface SendingRow extends Pick<VersionedRow, 'businessId' | 'boundTo'> {
  of: Pick<VersionedRow['of'], 'sends'> & { definition: Pick<VersionedRow['of']['definition'], 'senders'> }
}

/** The delay of a message, or the sender that it takes now. */
export type TakeTurn = (
  row: SendingRow,
  asked: AskedSend,
) => { kind: 'held'; held: Held } | { kind: 'taken'; sender: ChosenSender }

export interface ClaimSenders {
  take: TakeTurn
  /** Writes what was taken. */
  store(): Promise<void>
}

const UNSET: ChosenSender = { sender: DEFAULT_SENDER, connection: DEFAULT_SENDER, isUnreachable: false }

/** Locks as `openTurns` does. `now`: epoch milliseconds. */
export async function openSenders(tx: Queryable, rows: readonly SendingRow[], now: number): Promise<ClaimSenders> {
  const found = await findSenders(
    tx,
    rows.map(({ businessId }) => businessId),
  )
  const byChannel = Map.groupBy(found, ({ businessId, channel }) => `${businessId} ${channel}`)
  const templates = await templateSenders(tx, rows, found)
  const choose = ({ businessId, of, boundTo }: Parameters<TakeTurn>[0], step: SendStep) => {
    const senders = byChannel.get(`${businessId} ${step.channel}`) ?? []
    if (boundTo !== null) return { senders, named: senders.find(({ key }) => key === boundTo), isBound: true }
    const campaign = of.definition.senders?.[step.channel]
    const wanted = nearestSender({ step: step.sender, campaign, template: templates.get(step.template) })
    return { senders, named: findNamed(senders, wanted), isBound: false }
  }
  const candidates = new Set(
    rows.flatMap((row) => row.of.sends.flatMap((step) => withFallback(choose({ ...row, boundTo: null }, step)))),
  )
  for (const row of rows)
    if (row.boundTo !== null)
      for (const step of row.of.sends) withFallback(choose(row, step)).forEach((one) => candidates.add(one))
  const turns = await openTurns(tx, [...candidates])
  const tries = await openTries(tx, [...candidates], now)
  const used = new Set<FoundSender>()
  return {
    take(row, asked) {
      const { step } = asked
      const { senders, named, isBound } = choose(row, step)
      if (named === undefined) return { kind: 'taken', sender: UNSET }
      const states = senders.map((one) => ({ ...one, isPaused: turns.isPaused(connectionOf(one)), found: one }))
      const wanted = states.find(({ found: one }) => one === named) ?? { ...named, found: named }
      const mayTry = isBound || tries.isAllowed(named)
      const fallback = isBound ? undefined : fallbackOf(states, wanted, mayTry)?.found
      const taker = fallback ?? named
      const held = takeFrom(turns, { taker, fallback, named }, asked)
      if (held !== null) return { kind: 'held', held }
      if (fallback === undefined) tries.note(named)
      used.add(taker)
      const { sender: connection } = connectionOf(taker)
      return { kind: 'taken', sender: { sender: taker.key, connection, isUnreachable: taker.isUnreachable } }
    },
    async store() {
      await turns.store()
      await tries.store()
      await wantChecks(tx, [...used], now)
    },
  }
}

function takeFrom(
  turns: SenderTurns,
  { taker, fallback, named }: { taker: FoundSender; fallback: FoundSender | undefined; named: FoundSender },
  { step, ...asked }: AskedSend,
): Held | null {
  return turns.take({
    ...asked,
    connection: connectionOf(taker),
    insteadOf: fallback && connectionOf(named),
    isMarketing: step.kind === 'marketing',
  })
}

/** Those whose turns a message of this sender may take. */
function withFallback({ senders, named }: { senders: readonly FoundSender[]; named: FoundSender | undefined }) {
  if (named === undefined) return []
  const isAway = named.isPaused || named.isUnreachable
  return isAway ? [named, ...senders.filter(({ key }) => key === named.fallback)] : [named]
}

/** Templates are read only where a business has more than the sender `default`. */
async function templateSenders(
  tx: Queryable,
  rows: readonly SendingRow[],
  found: readonly FoundSender[],
): Promise<ReadonlyMap<string, string>> {
  const withMore = new Set(found.flatMap(({ businessId, key }) => (key === DEFAULT_SENDER ? [] : [businessId])))
  const asked = new Map<string, TemplateKey>()
  for (const { businessId, of } of rows)
    if (withMore.has(businessId))
      for (const { template } of of.sends) asked.set(template, { businessId, templateId: template })
  return asked.size === 0 ? new Map() : findTemplateSenders(tx, [...asked.values()])
}

interface Tries {
  isAllowed(sender: FoundSender): boolean
  /** The message tries it. */
  note(sender: FoundSender): void
  store(): Promise<void>
}

/** One message a minute tries a sender that is unreachable and has a fallback, however many workers run. */
async function openTries(tx: Queryable, candidates: readonly FoundSender[], now: number): Promise<Tries> {
  const away = candidates.filter(({ isUnreachable, fallback }) => isUnreachable && fallback !== null)
  const nameOf = ({ businessId, channel, sender }: SenderKey) => `${businessId} ${channel} ${sender}`
  const rowsOf = (keys: readonly SenderKey[]) =>
    JSON.stringify(keys.map(({ businessId, channel, sender }) => ({ business_id: businessId, channel, key: sender })))
  const open = new Set<string>()
  if (away.length > 0) {
    const locked = await tx<SenderKey[]>`
      select c.business_id as "businessId", c.channel, c.key as sender
      from json_to_recordset(${rowsOf(away.map(connectionOf))}::text::json) as x (business_id uuid, channel text, key text)
      join senders c on c.business_id = x.business_id and c.channel = x.channel and c.key = x.key
      where c.tried_at <= ${now - TRY_MS} order by 1, 2, 3 for no key update of c skip locked`
    for (const key of locked) open.add(nameOf(key))
  }
  const tried: SenderKey[] = []
  return {
    isAllowed: (sender) => open.has(nameOf(connectionOf(sender))),
    note(sender) {
      const key = connectionOf(sender)
      if (open.delete(nameOf(key))) tried.push(key)
    },
    async store() {
      if (tried.length === 0) return
      await tx`
        update senders c set tried_at = ${now}
        from json_to_recordset(${rowsOf(tried)}::text::json) as x (business_id uuid, channel text, key text)
        where c.business_id = x.business_id and c.channel = x.channel and c.key = x.key`
    },
  }
}

/** Has the records of a sender looked up before its first message of a day, which does not wait for it. */
async function wantChecks(tx: Queryable, used: readonly FoundSender[], now: number): Promise<void> {
  const due = used.filter(
    ({ checkedAt, zone }) =>
      checkedAt === null || (checkedAt !== undefined && nextLocalTime(checkedAt, { time: '00:00' }, zone) <= now),
  )
  if (due.length === 0) return
  const asked = due.map(({ businessId, channel, key }) => ({ business_id: businessId, channel, key }))
  // One that another transaction holds is found due by the next claim.
  await tx`
    update senders set check_wanted = true
    where ctid = any (array(
      select c.ctid from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (business_id uuid, channel text, key text)
      join senders c on c.business_id = x.business_id and c.channel = x.channel and c.key = x.key
      where not c.check_wanted for no key update of c skip locked
    ))`
}
