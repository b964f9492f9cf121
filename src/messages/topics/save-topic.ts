/** Creates, changes and deletes topics. */
import { isDeepStrictEqual } from 'node:util'
import { type Change, recordAudit } from '../../audit/audit.ts'
import type { Fault } from '../../rules/faults.ts'
import { type TopicChange, checked } from '../../rules/topics/read-topic.ts'
import { MAX_TOPICS, MAX_TOPICS_EVER, type Topic } from '../../rules/topics/topic.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import { checkConfirmationTemplate } from '../confirmations/setting.ts'
import { listTopics } from './list-topics.ts'
import { hasData, listNamingCampaigns, listNamingSegments } from './topic-uses.ts'

type Refused =
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'full' | 'ever_full' }
  | { kind: 'in_use'; names: string[] }

export async function createTopic(
  sql: Sql,
  change: Change,
  topic: Topic,
): Promise<{ kind: 'created'; topic: Topic } | { kind: 'key_taken' } | Refused> {
  const { businessId, actor } = change
  return await inTransaction(sql, async (tx) => {
    const topics = await lockTopics(tx, businessId)
    if (topics.some(({ key }) => key === topic.key)) return { kind: 'key_taken' }
    if (topics.length >= MAX_TOPICS_EVER) return { kind: 'ever_full' }
    if (countActive(topics) >= MAX_TOPICS) return { kind: 'full' }
    const fault = await checkTemplate(tx, businessId, topic)
    if (fault !== undefined) return { kind: 'faults', faults: [fault] }
    await store(tx, businessId, topic)
    await tx`update businesses set has_topics = true where id = ${businessId} and not has_topics`
    await raiseConfig(tx, businessId)
    await recordAudit(tx, { businessId, actor, action: 'topic.create', target: topic.key })
    return { kind: 'created', topic }
  })
}

export async function updateTopic(
  sql: Sql,
  { businessId, actor }: Change,
  key: string,
  wanted: TopicChange,
): Promise<{ kind: 'updated'; topic: Topic } | { kind: 'not_found' } | { kind: 'fixed'; fields: string[] } | Refused> {
  return await inTransaction(sql, async (tx) => {
    const topics = await lockTopics(tx, businessId)
    const before = topics.find((one) => one.key === key)
    if (before === undefined) return { kind: 'not_found' }
    const fixed = fixedFields(before, wanted)
    if (fixed.length > 0) return { kind: 'fixed', fields: fixed }
    const read = checked({ ...before, ...wanted })
    if ('faults' in read) return { kind: 'faults', ...read }
    const { topic } = read
    const fields = (Object.keys(topic) as (keyof Topic)[]).filter(
      (field) => !isDeepStrictEqual(before[field], topic[field]),
    )
    const refused = await refuseChange(tx, businessId, { before, topic, topics })
    if (refused !== null) return refused
    if (fields.length === 0) return { kind: 'updated', topic }
    await store(tx, businessId, topic)
    await raiseConfig(tx, businessId)
    await recordAudit(tx, { businessId, actor, action: 'topic.update', target: key, details: { fields } })
    return { kind: 'updated', topic }
  })
}

export async function deleteTopic(
  sql: Sql,
  { businessId, actor }: Change,
  key: string,
): Promise<{ kind: 'deleted' } | { kind: 'not_found' } | { kind: 'with_data' } | { kind: 'in_use'; names: string[] }> {
  return await inTransaction(sql, async (tx) => {
    const topics = await lockTopics(tx, businessId)
    if (!topics.some((one) => one.key === key)) return { kind: 'not_found' }
    if (await hasData(tx, businessId, key)) return { kind: 'with_data' }
    const names = [...(await campaignsNaming(tx, businessId, key)), ...(await segmentsNaming(tx, businessId, key))]
    if (names.length > 0) return { kind: 'in_use', names }
    await tx`delete from topics where business_id = ${businessId} and key = ${key}`
    await raiseConfig(tx, businessId)
    await recordAudit(tx, { businessId, actor, action: 'topic.delete', target: key })
    return { kind: 'deleted' }
  })
}

/** Waits for saves and publishes under way, and blocks later ones. */
async function lockTopics(tx: Queryable, businessId: string): Promise<Topic[]> {
  await tx`select from businesses where id = ${businessId} for no key update`
  return await listTopics(tx, businessId)
}

const countActive = (topics: readonly Topic[]): number => topics.filter(({ status }) => status === 'active').length

/** An edit must not subscribe or unsubscribe anybody. */
function fixedFields(before: Topic, wanted: TopicChange): string[] {
  const others = (['key', 'default'] as const).filter(
    (field) => wanted[field] !== undefined && wanted[field] !== before[field],
  )
  const shrinks = wanted.channels !== undefined && before.channels.some((one) => !wanted.channels?.includes(one))
  return shrinks ? [...others, 'channels'] : others
}

async function refuseChange(
  tx: Queryable,
  businessId: string,
  { before, topic, topics }: { before: Topic; topic: Topic; topics: readonly Topic[] },
): Promise<Refused | null> {
  if (before.status !== topic.status) {
    if (topic.status === 'active' && countActive(topics) >= MAX_TOPICS) return { kind: 'full' }
    const names = topic.status === 'archived' ? await campaignsNaming(tx, businessId, topic.key) : []
    if (names.length > 0) return { kind: 'in_use', names }
  }
  if (before.confirmationTemplate === topic.confirmationTemplate) return null
  const fault = await checkTemplate(tx, businessId, topic)
  return fault === undefined ? null : { kind: 'faults', faults: [fault] }
}

async function campaignsNaming(tx: Queryable, businessId: string, key: string): Promise<string[]> {
  const campaigns = await listNamingCampaigns(tx, businessId, key)
  return campaigns.slice(0, 10).map(({ name }) => `the campaign "${name}"`)
}

async function segmentsNaming(tx: Queryable, businessId: string, key: string): Promise<string[]> {
  return (await listNamingSegments(tx, businessId, key)).map((name) => `the segment "${name}"`)
}

async function checkTemplate(tx: Queryable, businessId: string, { confirmationTemplate }: Topic) {
  return confirmationTemplate === null
    ? undefined
    : await checkConfirmationTemplate(tx, { businessId, templateId: confirmationTemplate })
}

async function store(tx: Queryable, businessId: string, topic: Topic): Promise<void> {
  const { key, channels, default: byDefault, visibility, names, defaultLanguage, position } = topic
  await tx`
    insert into topics (business_id, key, channels, default_on, is_public, names, default_language, position,
      confirmation_template, archived)
    values (${businessId}, ${key}, ${`{${channels.join(',')}}`}::text[], ${byDefault === 'subscribed'},
      ${visibility === 'public'}, ${JSON.stringify(names)}::text::jsonb, ${defaultLanguage}, ${position},
      ${topic.confirmationTemplate}, ${topic.status === 'archived'})
    on conflict (business_id, key) do update set channels = excluded.channels, is_public = excluded.is_public,
      names = excluded.names, default_language = excluded.default_language, position = excluded.position,
      confirmation_template = excluded.confirmation_template, archived = excluded.archived`
}

/** Saves decide by the topics that they have read. */
async function raiseConfig(tx: Queryable, businessId: string): Promise<void> {
  await tx`update businesses set config_version = config_version + 1 where id = ${businessId}`
}
