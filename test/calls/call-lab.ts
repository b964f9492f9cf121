/** Calls and their engine, with a clock that the test sets. */
import { pino } from 'pino'
import { createCallBacklog } from '../../src/calls/backlog.ts'
import type { CallEngineDeps } from '../../src/calls/engine/call-engine-deps.ts'
import { claimCalls } from '../../src/calls/engine/claim-calls.ts'
import { openCallEngine } from '../../src/calls/engine/open-call-engine.ts'
import { sendCall } from '../../src/calls/engine/send-call.ts'
import { settleCall } from '../../src/calls/engine/settle-call.ts'
import { type CallRecorded, recordCall } from '../../src/calls/record-call.ts'
import { type SentCall, readCall } from '../../src/rules/calls/read-call.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { ACTOR, type Engine } from '../campaigns/engine-lab.ts'
import { createTemplate } from '../../src/messages/templates/save-template.ts'
import type { MessageChannel } from '../../src/rules/messages/message-channel.ts'
import { LOOPBACK_GUARD } from '../deliveries/delivery-lab.ts'

export interface CallLab {
  deps: CallEngineDeps
  /** Settled messages that were reported. */
  reported: string[]
  close(): Promise<void>
}

/** `clock` as that of an engine of campaigns. */
export function openCallLab(sql: Sql, clock: Engine['clock'], secretsKey?: string): CallLab {
  const config = { publicUrl: 'https://shop.example', port: 0, secretsKey }
  const reported: string[] = []
  const { deps, close } = openCallEngine({
    sql,
    log: pino({ level: 'silent' }),
    guard: LOOPBACK_GUARD,
    config,
    now: () => clock.now,
    report: (ids) => reported.push(...ids),
  })
  return { deps, reported, close }
}

/** Sends everything that is due now, or at `moveTo`. */
export async function drainCalls(
  { deps }: Pick<CallLab, 'deps'>,
  clock: Engine['clock'],
  moveTo = clock.now,
): Promise<void> {
  clock.now = moveTo
  for (;;) {
    const { sends, moved } = await claimCalls(deps, 64)
    await Promise.all(
      sends.map(async (call) =>
        settleCall(deps, call, await sendCall(deps, call, AbortSignal.timeout(deps.attemptMs))),
      ),
    )
    if (moved === 0) return
  }
}

/** Records a call of a business in Israel, and returns the outcome. */
export async function call(
  { deps }: Pick<CallLab, 'deps'>,
  businessId: string,
  sent: Partial<SentCall> & Pick<SentCall, 'template'>,
): Promise<Extract<CallRecorded, { kind: 'recorded' }>> {
  const read = readCall({ to: { email: 'ann@x.io' }, ...sent }, 'IL')
  if ('faults' in read) throw new Error(JSON.stringify(read.faults))
  const recorded = await recordCall(
    {
      sql: deps.sql,
      backlog: createCallBacklog(deps.sql, 1_000_000_000),
      limitAddress: () => Promise.resolve({ allowed: true, giveBack: () => undefined }),
      now: deps.now,
    },
    businessId,
    read.call,
  )
  if (recorded.kind !== 'recorded') throw new Error(JSON.stringify(recorded))
  return recorded
}

export async function callTemplate(
  { deps }: Pick<Engine, 'deps'>,
  businessId: string,
  variant: object = {
    subject: 'Code {{data.code}}',
    html: '<p><a href="https://shop.example/a">{{data.code}}</a></p>',
  },
  channel: MessageChannel = 'email',
): Promise<string> {
  const sent = { name: 't', channel, variants: { en: variant }, defaultLanguage: 'en' }
  const created = await createTemplate(deps, { businessId, actor: ACTOR }, sent)
  if (created.kind !== 'created') throw new Error(JSON.stringify(created))
  return created.template.templateId
}

export interface CallMessage {
  id: string
  state: string
  reason: string | null
  recipient: string | null
  contact_id: string | null
  values: string | null
  sent_at: number | null
  claimed_at: number
}

export const readCalls = (sql: Sql, businessId: string): Promise<CallMessage[]> => sql<CallMessage[]>`
  select * from messages where business_id = ${businessId} and campaign_id is null order by claimed_at, id`

/** `sent`, or `skipped expired`. */
export const statesOf = async (sql: Sql, businessId: string): Promise<string[]> =>
  (await readCalls(sql, businessId)).map(({ state, reason }) => (reason === null ? state : `${state} ${reason}`))

export const dueCalls = (sql: Sql, businessId: string) =>
  sql<
    { due_at: number; claim: string | null; attempts: number; held_by: { type: string } | null }[]
  >`select due_at, claim, attempts, held_by from due_calls where business_id = ${businessId} order by due_at`
