/** Creates, changes, deletes and reads topics. */
import { RequestError } from '../../../errors.ts'
import { listTopics, readTopic } from '../../../messages/topics/list-topics.ts'
import { createTopic, deleteTopic as deleteOne, updateTopic } from '../../../messages/topics/save-topic.ts'
import { countSubscribers, listNamingCampaigns } from '../../../messages/topics/topic-uses.ts'
import { faultOf } from '../../../rules/faults.ts'
import { isRecord } from '../../../rules/is-record.ts'
import { readNewTopic, readTopicChange } from '../../../rules/topics/read-topic.ts'
import { MAX_TOPICS, MAX_TOPICS_EVER, TOPIC_STATUSES } from '../../../rules/topics/topic.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { queryOf } from '../../http/read-page.ts'
import { receiveBody } from '../../http/receive-body.ts'

export const CREATED = 'The topic is created.'
export const UPDATED = 'The topic is changed.'
export const DELETED = 'The topic is deleted.'
export const LISTED = 'The topics.'
export const READ = 'The topic.'
export const USES = 'Who gets the topic, and what names it.'

export async function postTopic(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const read = readNewTopic(await receiveObject(app, context, principal))
  if ('faults' in read) throw invalidRequest(read.faults)
  const created = await createTopic(app.sql, { businessId: business.id, actor }, read.topic)
  switch (created.kind) {
    case 'created':
      return { message: CREATED, data: { topic: created.topic } }
    case 'key_taken':
      throw new RequestError('locked', { reason: faultOf('', 'topic_key_taken', { key: read.topic.key }) })
    default:
      throw refusal(created)
  }
}

export async function patchTopic(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const key = keyOf(context)
  const read = readTopicChange(await receiveObject(app, context, principal))
  if ('faults' in read) throw invalidRequest(read.faults)
  const updated = await updateTopic(app.sql, { businessId: business.id, actor }, key, read.change)
  switch (updated.kind) {
    case 'updated':
      return { message: UPDATED, data: { topic: updated.topic } }
    case 'not_found':
      throw topicNotFound()
    case 'fixed':
      throw new RequestError('locked', { reason: faultOf('', 'topic_fixed', { fields: updated.fields.join(', ') }) })
    default:
      throw refusal(updated)
  }
}

type Refused = Exclude<
  Awaited<ReturnType<typeof createTopic>> | Awaited<ReturnType<typeof updateTopic>>,
  { kind: 'created' | 'updated' | 'not_found' | 'fixed' | 'key_taken' }
>

function refusal(refused: Refused): RequestError {
  switch (refused.kind) {
    case 'faults':
      return invalidRequest(refused.faults)
    case 'in_use':
      return new RequestError('in_use', { reason: faultOf('', 'used_by', { names: refused.names.join(', ') }) })
    case 'full':
      return new RequestError('limit_reached', { reason: faultOf('', 'topics_full', { max: MAX_TOPICS }) })
    case 'ever_full':
      return new RequestError('limit_reached', { reason: faultOf('', 'topics_ever_full', { max: MAX_TOPICS_EVER }) })
  }
}

export async function deleteTopic(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const key = keyOf(context)
  const deleted = await deleteOne(app.sql, { businessId: business.id, actor }, key)
  switch (deleted.kind) {
    case 'deleted':
      return { message: DELETED, data: { key } }
    case 'not_found':
      throw topicNotFound()
    case 'with_data':
      throw new RequestError('in_use', { reason: faultOf('', 'topic_with_data') })
    case 'in_use':
      throw new RequestError('in_use', { reason: faultOf('', 'used_by', { names: deleted.names.join(', ') }) })
  }
}

export async function getTopics(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const sent = queryOf(context).get('status')
  const status = TOPIC_STATUSES.find((one) => one === sent)
  if (sent !== null && status === undefined)
    throw invalidRequest([faultOf('status', 'one_of', { choices: TOPIC_STATUSES.join(', ') })])
  return { message: LISTED, data: { topics: await listTopics(app.sql, business.id, status) } }
}

export async function getTopic(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  return { message: READ, data: { topic: await requireTopic(app, context, business.id) } }
}

export async function getTopicUses(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const topic = await requireTopic(app, context, business.id)
  const [subscribers, campaigns] = await Promise.all([
    countSubscribers(app.sql, business.id, topic),
    listNamingCampaigns(app.sql, business.id, topic.key),
  ])
  return { message: USES, data: { subscribers, campaigns } }
}

async function requireTopic(app: AppContext, context: RequestContext, businessId: string) {
  const topic = await readTopic(app.sql, businessId, keyOf(context))
  if (topic === null) throw topicNotFound()
  return topic
}

async function receiveObject(app: AppContext, context: RequestContext, { business }: Principal) {
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.batch)
  if (!isRecord(body)) throw invalidRequest([{ ...faultOf('', 'object'), message: 'The body must be an object' }])
  return body
}

const keyOf = ({ params }: RequestContext): string => params['topicKey'] ?? ''

const topicNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_topic') })
