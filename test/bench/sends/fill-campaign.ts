/** Campaigns with one message, as used by the bench. */
import { uuidv7 } from 'uuidv7'
import type { Sql } from '../../../src/stores/postgres.ts'
import { insertCampaign } from '../../campaigns/campaign-lab.ts'
import { fillDue } from '../../support/fill-due.ts'
import type { Sink } from './sinks.ts'

const CHUNK_ROWS = 20_000

/** About 1 KB: a greeting, a few values, an unsubscribe link. */
const HTML = `<p>Hello {{contact.firstName}}</p>${'<p>You are on the plan {{contact.customFields.plan}} in {{contact.city}}.</p>'.repeat(10)}<a href="{{unsubscribeUrl}}">Unsubscribe</a>`

const VARIANTS = {
  email: { subject: 'Hello {{contact.firstName}}', html: HTML, text: 'Hello' },
  webhook: { body: `{"name":{{contact.firstName | json}},"text":${'"{{contact.city}}"'.padEnd(900)}}` },
}

/**
 * Inserts a published campaign with one message, which any live event with that name triggers. Consent is needed only
 * for marketing on a channel that people opt into.
 */
export async function insertMailing(
  sql: Sql,
  businessId: string,
  {
    trigger,
    channel,
    kind = channel === 'email' ? 'marketing' : 'transactional',
  }: { trigger: string; channel: Sink['channel']; kind?: 'marketing' | 'transactional' },
): Promise<string> {
  const template = uuidv7()
  await sql`insert into templates (business_id, id, name, channel) values (${businessId}, ${template}, 'Bench', ${channel})`
  await sql`
    insert into template_versions (business_id, template_id, version, channel, default_language, variants)
    values (${businessId}, ${template}, 1, ${channel}, 'en', ${JSON.stringify({ en: VARIANTS[channel] })}::text::jsonb)`
  const steps = [{ id: 'a', type: 'send', channel, template, kind }]
  const definition = { steps, quietHours: null, caps: [], holdOut: 0, tracking: { opens: false, clicks: false } }
  return insertCampaign(sql, businessId, { trigger, canEnterAgain: true, definition, firstStep: 'a' })
}

/**
 * Creates enrolments of new contacts. `dueAt`: epoch milliseconds. They are not processed while their business is
 * inactive.
 */
export async function fillMailing(
  sql: Sql,
  filled: { businessId: string; campaignId: string; many: number; dueAt: number },
): Promise<void> {
  for (let at = 0; at < filled.many; at += CHUNK_ROWS)
    await fillDue(sql, { ...filled, step: 'a', many: Math.min(CHUNK_ROWS, filled.many - at) })
  for (const table of ['contacts', 'identities', 'subscriptions', 'enrolments', 'due_steps'])
    await sql`vacuum (analyze) ${sql(table)}`
  await sql`checkpoint`
}

export const setActive = (sql: Sql, businessId: string, isActive: boolean) =>
  sql`update businesses set active = ${isActive} where id = ${businessId}`
