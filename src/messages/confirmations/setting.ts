/** The template that asks for the confirmation of an opt-in. */
import { type Change, recordAudit } from '../../audit/audit.ts'
import { type Fault, faultOf } from '../../rules/faults.ts'
import type { OneClick } from '../../rules/topics/topic.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import { type StoredTemplate, loadTemplate } from '../templates/load-template.ts'

/** Null: none. */
export async function readConfirmationTemplate(sql: Queryable, businessId: string): Promise<string | null> {
  const [row] = await sql<{ template: string | null }[]>`
    select confirmation_template as template from businesses where id = ${businessId}`
  return row?.template ?? null
}

export interface ConsentSettings {
  /** Id of the template that asks for the confirmation of an opt-in; null: none. */
  confirmationTemplate: string | null
  /** What a form without a choice ends in a message of a topic. */
  oneClick: OneClick
}

export async function readConsentSettings(sql: Queryable, businessId: string): Promise<ConsentSettings> {
  const [row] = await sql<ConsentSettings[]>`
    select confirmation_template as "confirmationTemplate", one_click as "oneClick" from businesses where id = ${businessId}`
  return row ?? { confirmationTemplate: null, oneClick: 'topic' }
}

/** Changes the fields that are given. `confirmationTemplate` is a UUID. */
export async function saveConsentSettings(
  sql: Sql,
  { businessId, actor }: Change,
  wanted: Partial<ConsentSettings>,
): Promise<{ settings: ConsentSettings } | { fault: Fault }> {
  return await inTransaction(sql, async (tx) => {
    // The template is not deleted meanwhile.
    await tx`select from businesses where id = ${businessId} for no key update`
    const settings = { ...(await readConsentSettings(tx, businessId)), ...wanted }
    const { confirmationTemplate: templateId, oneClick } = settings
    const isOther = wanted.confirmationTemplate !== undefined && templateId !== null
    const fault = isOther ? await checkConfirmationTemplate(tx, { businessId, templateId }) : undefined
    if (fault !== undefined) return { fault }
    await tx`
      update businesses set confirmation_template = ${templateId}, one_click = ${oneClick} where id = ${businessId}`
    await recordAudit(tx, { businessId, actor, action: 'subscriptions.settings', target: templateId })
    return { settings }
  })
}

/** Returns why a template cannot ask for confirmations. Call it with the business locked. */
export async function checkConfirmationTemplate(
  tx: Queryable,
  key: { businessId: string; templateId: string },
): Promise<Fault | undefined> {
  const path = 'confirmationTemplate'
  const template = await loadTemplate(tx, key)
  if (template === null) return faultOf(path, 'template_of_business')
  if (template.channel !== 'email') return faultOf(path, 'template_for', { channel: template.channel })
  const silent = findSilent(template.variants)
  if (silent !== undefined) return faultWithout(path, silent)
  return template.readsData ? faultOf(path, 'reads_data') : undefined
}

/** Returns whether the template asks for the confirmation of opt-ins, of all or of a topic. */
export async function asksForConfirmation(
  sql: Queryable,
  { businessId, templateId }: { businessId: string; templateId: string },
): Promise<boolean> {
  if ((await readConfirmationTemplate(sql, businessId)) === templateId) return true
  const topics = await sql`
    select from topics where business_id = ${businessId} and confirmation_template = ${templateId} limit 1`
  return topics.length > 0
}

/**
 * Returns why a template cannot have other variants: it asks for confirmations, and one of them lacks the link. Locks
 * the business, so call it before anything of the business is locked.
 */
export async function refuseSilent(
  tx: Queryable,
  { businessId, templateId }: { businessId: string; templateId: string },
  variants: StoredTemplate['variants'],
): Promise<Fault | undefined> {
  const silent = findSilent(variants)
  if (silent === undefined) return undefined
  // The setting does not change meanwhile.
  await tx`select from businesses where id = ${businessId} for share`
  const asks = await asksForConfirmation(tx, { businessId, templateId })
  return asks ? faultWithout('variants', silent) : undefined
}

/** Returns the language of a variant without the confirmation link. */
const findSilent = (variants: StoredTemplate['variants']): string | undefined =>
  Object.entries(variants).find(([, parts]) => !JSON.stringify(parts).includes('confirmUrl'))?.[0]

const faultWithout = (path: string, language: string): Fault =>
  faultOf(path, 'no_confirm_url', { value: '{{confirmUrl}}', language })
