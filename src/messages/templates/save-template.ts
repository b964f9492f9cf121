/** Creates, changes and deletes templates. */
import { isDeepStrictEqual } from 'node:util'
import { uuidv7 } from 'uuidv7'
import { type Actor, recordAudit } from '../../audit/audit.ts'
import { type Fault, faultOf } from '../../rules/faults.ts'
import type { MessageChannel } from '../../rules/messages/message-channel.ts'
import type { Config } from '../../config.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import { nameSender } from '../channels/name-sender.ts'
import { asksForConfirmation, refuseSilent } from '../confirmations/setting.ts'
import { type StoredTemplate, loadTemplate } from './load-template.ts'
import { type Contents, type SentTemplate, readTemplate } from './read-template.ts'
import type { RenderService } from './renderer.ts'

/** Per business. */
export const MAX_TEMPLATES = 1000

/** Number of versions that are kept per template, the newest ones: each can have megabytes. */
export const MAX_VERSIONS = 100

/** The business, and who changes it. */
export interface TemplateChange {
  businessId: string
  actor: Actor
}

/** A version that was replaced, or whose template was deleted, is kept as long as the values of messages. */
interface KeepDeps {
  sql: Sql
  config: Pick<Config, 'messageKeepMs'>
}

export async function createTemplate(
  { sql, config, renderer }: KeepDeps & { renderer: RenderService },
  change: TemplateChange,
  { name, sender, ...sent }: SentTemplate & { name: string; sender?: string | null },
): Promise<CreateOutcome> {
  const read = await readTemplate(renderer.of(change.businessId), sent)
  if ('faults' in read) return { kind: 'faults', ...read }
  const { channel } = sent
  return await inTransaction(sql, (tx) =>
    insertTemplate(tx, config, change, { name, sender, channel, ...read.contents }),
  )
}

type CreateOutcome =
  | { kind: 'created'; template: StoredTemplate }
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'too_many' }

type NewTemplate = Contents & { name: string; channel: MessageChannel; sender?: string | null | undefined }

/** The template that was read before. */
export async function insertTemplate(
  tx: Queryable,
  { messageKeepMs }: Pick<Config, 'messageKeepMs'>,
  { businessId, actor }: TemplateChange,
  { name, sender, channel, ...contents }: NewTemplate,
): Promise<CreateOutcome> {
  const fault = typeof sender === 'string' ? await nameSender(tx, { businessId, channel, sender }, 'sender') : null
  if (fault !== null) return { kind: 'faults', faults: [fault] }
  // Two calls at once must not exceed the limit together.
  await tx`select pg_advisory_xact_lock(hashtextextended(${`templates ${businessId}`}, 0))`
  const [{ many }] = await tx<[{ many: number }]>`
    select count(*)::int as many from templates where business_id = ${businessId}`
  if (many >= MAX_TEMPLATES) return { kind: 'too_many' }
  const templateId = uuidv7()
  await tx`
    insert into templates (business_id, id, name, channel, sender)
    values (${businessId}, ${templateId}, ${name}, ${channel}, ${sender ?? null})`
  await addVersion(tx, { businessId, templateId, version: 1, channel, messageKeepMs }, contents)
  await recordAudit(tx, { businessId, actor, action: 'template.create', target: templateId })
  return { kind: 'created', template: await requireTemplate(tx, businessId, templateId) }
}

interface Wanted {
  name?: string
  /** Null: none. */
  sender?: string | null
  variants?: Record<string, unknown>
  defaultLanguage?: string
}

export type UpdateOutcome =
  | { kind: 'updated'; template: StoredTemplate }
  | { kind: 'not_found' }
  | { kind: 'faults'; faults: Fault[] }

/**
 * Absent fields stay unchanged; `variants` replaces all of them. Other contents make a new version. Of two changes at
 * once, the later one wins.
 */
export async function updateTemplate(
  deps: KeepDeps & { renderer: RenderService },
  change: TemplateChange,
  templateId: string,
  { sender, ...wanted }: Wanted,
): Promise<UpdateOutcome> {
  for (;;) {
    const before = await loadTemplate(deps.sql, { businessId: change.businessId, templateId })
    if (before === null) return { kind: 'not_found' }
    const read = await readTemplate(deps.renderer.of(change.businessId), { ...before, ...wanted })
    if ('faults' in read) return { kind: 'faults', ...read }
    const updated = await storeChange(deps, change, before, { name: wanted.name, sender, ...read.contents })
    if (updated !== null) return updated
  }
}

/** Null when it has changed since `before` was read. */
async function storeChange(
  { sql, config }: KeepDeps,
  { businessId, actor }: TemplateChange,
  before: StoredTemplate,
  next: Contents & { name: string | undefined; sender: string | null | undefined },
): Promise<UpdateOutcome | null> {
  const { templateId, channel, version } = before
  return await inTransaction(sql, async (tx) => {
    const fault =
      (channel === 'email' ? await refuseSilent(tx, { businessId, templateId }, next.variants) : undefined) ??
      (next.readsData ? await refuseData(tx, businessId, templateId) : undefined)
    const unknown =
      typeof next.sender === 'string'
        ? await nameSender(tx, { businessId, channel, sender: next.sender }, 'sender')
        : null
    if (unknown !== null) return { kind: 'faults', faults: [unknown] }
    const [locked] = await tx<{ name: string; sender: string | null }[]>`
      select name, sender from templates where business_id = ${businessId} and id = ${templateId} and version = ${version} for update`
    if (!locked) return null
    // Another call may have changed the name since, which makes no version.
    const name = next.name ?? locked.name
    const sender = next.sender === undefined ? locked.sender : next.sender
    const fields = changedFields({ ...before, ...locked }, { ...next, name, sender })
    if (fields.length === 0) return { kind: 'updated', template: before }
    if (fault && fields.includes('variants')) return { kind: 'faults', faults: [fault] }
    const isNew = fields.some((field) => field !== 'name' && field !== 'sender')
    const newest = version + (isNew ? 1 : 0)
    if (isNew)
      await addVersion(
        tx,
        { businessId, templateId, version: newest, channel, messageKeepMs: config.messageKeepMs },
        next,
      )
    await tx`
      update templates set name = ${name}, sender = ${sender}, version = ${newest}, updated_at = clock_timestamp()
      where business_id = ${businessId} and id = ${templateId}`
    const entry = { businessId, actor, action: 'template.update', target: templateId }
    await recordAudit(tx, { ...entry, details: { fields } })
    return { kind: 'updated', template: await requireTemplate(tx, businessId, templateId) }
  })
}

type Shown = Pick<StoredTemplate, 'name' | 'defaultLanguage' | 'variants'> & { sender: string | null }

function changedFields(before: Shown, next: Shown): string[] {
  const fields = ['name', 'sender', 'defaultLanguage', 'variants'] as const
  return fields.filter((field) => !isDeepStrictEqual(before[field], next[field]))
}

async function addVersion(
  tx: Queryable,
  of: Retired & { version: number; channel: string },
  { defaultLanguage, variants, compiled, readsData, dataNames }: Contents,
): Promise<void> {
  const { businessId, templateId, version, channel } = of
  await retireVersion(tx, of)
  await tx`
    insert into template_versions (business_id, template_id, version, channel, default_language, variants, compiled, reads_data, data_names)
    values (${businessId}, ${templateId}, ${version}, ${channel}, ${defaultLanguage},
      ${JSON.stringify(variants)}::text::jsonb, ${JSON.stringify(compiled)}::text::jsonb, ${readsData},
      ${JSON.stringify(dataNames)}::text::jsonb)`
  await tx`
    delete from template_versions
    where business_id = ${businessId} and template_id = ${templateId} and version <= ${version - MAX_VERSIONS}`
}

interface Retired extends Pick<Config, 'messageKeepMs'> {
  businessId: string
  templateId: string
}

/** Also deletes old versions of all templates of the business. */
async function retireVersion(tx: Queryable, { businessId, templateId, messageKeepMs }: Retired): Promise<void> {
  await tx`
    update template_versions set replaced_at = clock_timestamp()
    where business_id = ${businessId} and template_id = ${templateId} and replaced_at is null`
  await tx`
    delete from template_versions
    where business_id = ${businessId} and replaced_at < now() - ${`${messageKeepMs} ms`}::interval`
}

export async function deleteTemplate(
  { sql, config }: KeepDeps,
  { businessId, actor }: TemplateChange,
  templateId: string,
): Promise<{ kind: 'deleted' } | { kind: 'not_found' } | { kind: 'in_use'; names: string[] }> {
  return await inTransaction(sql, async (tx) => {
    // No campaign that names it is published meanwhile.
    await tx`select from businesses where id = ${businessId} for no key update`
    const names = await findUses(tx, businessId, templateId)
    if (names.length > 0) return { kind: 'in_use', names }
    const { count } = await tx`delete from templates where business_id = ${businessId} and id = ${templateId}`
    if (count === 0) return { kind: 'not_found' }
    await retireVersion(tx, { businessId, templateId, messageKeepMs: config.messageKeepMs })
    await recordAudit(tx, { businessId, actor, action: 'template.delete', target: templateId })
    return { kind: 'deleted' }
  })
}

/** A campaign and the confirmation of opt-ins have no data of a call. Locks the business. */
async function refuseData(tx: Queryable, businessId: string, templateId: string): Promise<Fault | undefined> {
  // No campaign that names it is published meanwhile.
  await tx`select from businesses where id = ${businessId} for share`
  const names = await findUses(tx, businessId, templateId, ['published', 'paused'])
  return names.length === 0 ? undefined : faultOf('variants', 'data_in_use', { names: names.join(', ') })
}

const IN_USE = ['draft', 'published', 'paused']

/** Returns the names of the campaigns in these states that name the template, in any version. */
async function findUses(
  tx: Queryable,
  businessId: string,
  templateId: string,
  statuses: readonly string[] = IN_USE,
): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select c.name from campaigns c
    where c.business_id = ${businessId} and c.status = any (${`{${statuses.join(',')}}`}::text::text[]) and exists (
      select from campaign_versions v
      where v.business_id = c.business_id and v.campaign_id = c.id
        and jsonb_path_exists(v.definition, '$.steps.**.template ? (@ == $id)', ${JSON.stringify({ id: templateId })}::text::jsonb)
    )
    order by c.created_at, c.id limit 10`
  const asks = await asksForConfirmation(tx, { businessId, templateId })
  return [...rows.map(({ name }) => `the campaign "${name}"`), ...(asks ? ['the confirmation of opt-ins'] : [])]
}

async function requireTemplate(tx: Queryable, businessId: string, templateId: string): Promise<StoredTemplate> {
  const template = await loadTemplate(tx, { businessId, templateId })
  if (template === null) throw new Error(`the template ${templateId} is gone in its own transaction`)
  return template
}
