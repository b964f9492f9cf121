/** The engine with a clock that the test sets, step by step. */
import { pino } from 'pino'
import type { Actor } from '../../src/audit/audit.ts'
import type { NewCampaign } from '../../src/campaigns/create-campaign.ts'
import type { CampaignTrigger } from '../../src/campaigns/campaign.ts'
import { publishCampaign } from '../../src/campaigns/publish-campaign.ts'
import { draftCampaign } from '../support/campaigns.ts'
import { type Claimed, type ClaimedSend, claimDue } from '../../src/campaigns/engine/claim/claim-due.ts'
import { applyUpdate } from '../../src/campaigns/engine/apply-update.ts'
import type { EngineDeps } from '../../src/campaigns/engine/engine-deps.ts'
import { sendMessage } from '../../src/campaigns/engine/send/send-message.ts'
import { settle } from '../../src/campaigns/engine/settle/settle.ts'
import { openEngine as openReal } from '../../src/campaigns/engine/open-engine.ts'
import { saveChannel } from '../../src/messages/channels/save-channel.ts'
import { createTemplate } from '../../src/messages/templates/save-template.ts'
import type { MessageChannel } from '../../src/rules/messages/message-channel.ts'
import { readDefinition } from '../../src/rules/campaigns/read-definition.ts'
import type { Channel } from '../../src/rules/events/facts.ts'
import { listFieldTypes } from '../../src/segments/load-definitions.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import type { Submit } from '../../src/stream/publish/submit.ts'
import type { Stack } from '../support/stack.ts'
import { LOOPBACK_GUARD } from '../deliveries/delivery-lab.ts'
import { type Pipeline, NOW, eventFact, track } from '../support/facts.ts'

export const ACTOR: Actor = { kind: 'command', id: 'test', name: 'test' }
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

export interface Engine {
  deps: EngineDeps
  /** Epoch ms. Starts at the instant of the facts. */
  clock: { now: number }
  /** Does everything that is due now, or at `moveTo`. */
  drain(moveTo?: number): Promise<void>
  /** Claims what is due. Returns the messages to send. */
  claim(most?: number): Promise<ClaimedSend[]>
  send(claimed: ClaimedSend): Promise<void>
  close(): Promise<void>
}

/** For an engine whose campaigns have no updates. */
export const refuseUpdates: Submit = () => Promise.reject(new Error('no update was expected'))

/** Applies each update at once. */
export const submitTo =
  (pipeline: Pipeline): Submit =>
  async (request) => {
    const [answer] = await pipeline.apply(request)
    return answer === undefined ? { kind: 'queued' } : { kind: 'answered', answer }
  }

/** @param submit receives updates */
export function openEngine({ sql }: Pick<Stack, 'sql'>, submit = refuseUpdates, secretsKey?: string): Engine {
  const clock = { now: NOW }
  const config = { publicUrl: 'https://shop.example', port: 0, secretsKey, messageKeepMs: 90 * DAY }
  const log = pino({ level: 'silent' })
  const { deps, close } = openReal({ sql, log, guard: LOOPBACK_GUARD, config, now: () => clock.now, submit })
  const engine: Engine = {
    deps,
    clock,
    claim: async (most = 64) => (await claimDue(deps, most)).sends,
    async send(claimed) {
      await settle(deps, claimed, await sendMessage(deps, claimed, AbortSignal.timeout(20_000)))
    },
    async drain(moveTo = clock.now) {
      clock.now = moveTo
      for (;;) {
        const { sends, updates, moved } = await claimDue(deps, 64)
        await Promise.all(sends.map((claimed) => engine.send(claimed)))
        for (const claimed of updates) await applyUpdate(deps, claimed)
        if (moved === 0) return
      }
    },
    close,
  }
  return engine
}

export interface Shop {
  businessId: string
  /** Publishes a campaign with these steps, in the form in which callers send them. */
  publish(
    steps: object[],
    more?: {
      trigger?: string | CampaignTrigger
      goal?: string
      canEnterAgain?: boolean
      keys?: Pick<NewCampaign, 'goalConditions' | 'enrolPer' | 'whileActive'>
    } & Record<string, unknown>,
  ): Promise<string>
  template(channel?: MessageChannel, text?: string): Promise<string>
  /** Returns all messages, oldest first. */
  messages(): Promise<Record<string, unknown>[]>
  states(): Promise<string[]>
  due(): Promise<{ step: string; due_at: number; held: boolean; settled: boolean; claim: string | null }[]>
  enrolments(): Promise<string[]>
  logged(): Promise<{ recipient: string; message: Record<string, string> }[]>
  live(event: string, identity?: object, occurredAt?: number): ReturnType<typeof track>
  /** Records an opt-in or an opt-out. */
  optIn(contactId: string, channel?: Channel, subscribed?: boolean): Promise<unknown>
}

export const ANN = { email: 'ann@x.io' }

export function openShop(
  stack: Pick<Stack, 'sql'>,
  { deps, clock }: Engine,
  pipeline: Pipeline,
  businessId: string,
): Shop {
  const { sql } = stack
  const shop: Shop = {
    businessId,
    async publish(steps, { trigger = 'signup', goal, canEnterAgain = false, keys = {}, ...sent } = {}) {
      const fields = await listFieldTypes(sql, businessId)
      const read = readDefinition({ steps, ...sent }, { fields, newId: () => crypto.randomUUID() })
      if ('faults' in read) throw new Error(JSON.stringify(read.faults))
      const starts = typeof trigger === 'string' ? { event: trigger } : trigger
      const drafted = { name: 'c', trigger: starts, goalEvent: goal ?? null, canEnterAgain, ...keys }
      const campaignId = await draftCampaign(sql, businessId, { ...drafted, definition: read.definition })
      const published = await publishCampaign(
        { ...deps, sql, now: () => clock.now },
        { businessId, actor: ACTOR },
        campaignId,
      )
      if (published.kind !== 'published') throw new Error(JSON.stringify(published))
      return campaignId
    },
    async template(channel = 'email', text = 'Hello {{contact.firstName}}') {
      const parts = {
        email: { subject: text, text },
        webhook: { body: text },
        push: { title: 'News', body: text, url: 'https://shop.example/news' },
        sms: { text },
        whatsapp: { text },
      }
      const variants = { en: parts[channel] }
      const sent = { name: 't', channel, variants, defaultLanguage: 'en' }
      const created = await createTemplate(deps, { businessId, actor: ACTOR }, sent)
      if (created.kind !== 'created') throw new Error(JSON.stringify(created))
      return created.template.templateId
    },
    messages: () => sql`select * from messages where business_id = ${businessId} order by claimed_at, id`,
    async states() {
      const all = (await shop.messages()) as { step: string; state: string; reason: string | null }[]
      return all.map(({ step, state, reason }) => `${step} ${state}${reason === null ? '' : ` ${reason}`}`)
    },
    due: () => sql`
      select step, due_at, held, settled, claim from due_steps where business_id = ${businessId} order by due_at, enrolment_id`,
    async enrolments() {
      const all = await sql<{ state: string }[]>`
        select state from enrolments where business_id = ${businessId} order by enrolled_at, received_at, id`
      return all.map(({ state }) => state)
    },
    logged: () => sql`
      select recipient, message from logged_messages where business_id = ${businessId} order by id`,
    live: (event, identity = ANN, occurredAt = NOW) => ({
      ...track(businessId, eventFact(event, identity, { occurredAt })),
      receivedAt: Math.max(clock.now, occurredAt),
    }),
    optIn: (contactId, channel = 'email', subscribed = true) =>
      pipeline.apply({
        kind: 'subscribe',
        businessId,
        receivedAt: clock.now,
        contactId,
        channels: { [channel]: subscribed },
        method: 'form',
      }),
  }
  return shop
}

/** Sets the clock of this database: rows that are woken by a change of zone become due at `at`, in epoch ms. */
export const stopClock = (sql: Sql, at: number) =>
  sql.unsafe(`create or replace function now_ms() returns bigint language sql as 'select ${at}::bigint'`)

/**
 * Starts a claim that keeps its locks until `letGo` is called. Resolves when it has the locks, or when it has found
 * nothing.
 */
export async function holdClaim(deps: EngineDeps, most: number): Promise<{ letGo: () => Promise<Claimed> }> {
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  // The claim writes what it has decided when it has all locks.
  const sql = new Proxy(deps.sql, {
    apply(target, self, args: [TemplateStringsArray]) {
      const query = Reflect.apply(target, self, args) as object
      if (!args[0].join('').includes('update due_steps d set')) return query
      let run: () => void
      return Object.defineProperty(query, 'handler', {
        set(given: () => void) {
          run = given
        },
        get: () => () => {
          begun.resolve()
          void held.promise.then(() => run())
        },
      })
    },
  })
  const ended = claimDue({ ...deps, sql }, most)
  await Promise.race([begun.promise, ended])
  return { letGo: () => (held.resolve(), ended) }
}

/** True when a statement that contains these words waits for a lock. */
export async function isWaiting(sql: Sql, words: string): Promise<boolean> {
  const found = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${words}%`}`
  return found.length > 0
}

/** Sends the business's mail to this server. */
export async function useMailServer(
  { sql }: Pick<Stack, 'sql'>,
  { now }: Pick<EngineDeps, 'now'>,
  businessId: string,
  port: number,
): Promise<void> {
  const settings = { provider: 'smtp', host: '127.0.0.1', port, sender: 'Shop <hello@shop.example>' }
  await useChannel(sql, { businessId, channel: 'email' }, settings, { now })
}

export async function useChannel(
  sql: Sql,
  channel: { businessId: string; channel: MessageChannel },
  settings: Record<string, unknown>,
  { now = Date.now, secretsKey }: { now?: () => number; secretsKey?: string } = {},
): Promise<void> {
  const key = { ...channel, actor: ACTOR }
  const saved = await saveChannel({ sql, guard: LOOPBACK_GUARD, secretsKey, now }, key, () => settings)
  if (saved.kind !== 'saved') throw new Error(JSON.stringify(saved))
}
