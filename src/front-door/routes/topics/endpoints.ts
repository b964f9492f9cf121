/** The endpoints about topics. */
import { MAX_TOPICS, MAX_TOPICS_EVER, TOPIC_STATUSES, type Topic } from '../../../rules/topics/topic.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { oneOf } from '../reply-fields.ts'
import * as manage from './manage.ts'
import * as schemas from './schemas.ts'

const tag = 'Messages'

const TOPIC_EXAMPLE: Topic = {
  key: 'newsletter',
  channels: ['email', 'sms'],
  default: 'unsubscribed',
  visibility: 'public',
  names: { en: { name: 'Newsletter', description: 'What is new, once a week.' } },
  defaultLanguage: 'en',
  position: 0,
  confirmationTemplate: null,
  status: 'active',
}
const { key, channels, names } = TOPIC_EXAMPLE

const topicReply = (message: string) => ({
  200: { message, description: 'The topic.', data: schemas.TopicData, example: { topic: TOPIC_EXAMPLE } },
})

export const topicEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'POST',
    path: '/topics',
    permission: 'business:write',
    handler: manage.postTopic,
    operation: {
      summary: 'Create a topic',
      description:
        'What a person chooses within a channel. Creating one writes nothing to contacts. A business has at most ' +
        `${MAX_TOPICS} active topics, and ${MAX_TOPICS_EVER.toLocaleString('en-US')} with archived ones. A key that is taken is ` +
        '409 `locked`.',
      tag,
      body: { schema: schemas.NewTopicSchema, example: { key, channels, default: 'unsubscribed', names } },
      replies: topicReply(manage.CREATED),
    },
    errors: ['locked', 'limit_reached'],
  },
  {
    method: 'GET',
    path: '/topics',
    permission: 'lists:read',
    handler: manage.getTopics,
    operation: {
      summary: 'List the topics',
      tag,
      query: { status: { schema: oneOf(TOPIC_STATUSES), description: 'Only those. Left out: all.' } },
      replies: {
        200: {
          message: manage.LISTED,
          description: 'By position, then by key.',
          data: schemas.TopicsData,
          example: { topics: [TOPIC_EXAMPLE] },
        },
      },
    },
    errors: ['invalid_request'],
  },
  {
    method: 'GET',
    path: '/topics/:topicKey',
    permission: 'lists:read',
    handler: manage.getTopic,
    operation: { summary: 'Read a topic', tag, replies: topicReply(manage.READ) },
    errors: ['not_found'],
  },
  {
    method: 'GET',
    path: '/topics/:topicKey/uses',
    permission: 'lists:read',
    cost: 'costly',
    handler: manage.getTopicUses,
    operation: {
      summary: 'Read who gets a topic',
      description: 'How many contacts get it by each channel, and the campaigns that name it.',
      tag,
      replies: {
        200: {
          message: manage.USES,
          description: 'As of now.',
          data: schemas.TopicUsesData,
          example: { subscribers: { email: 1200, sms: 40 }, campaigns: [] },
        },
      },
    },
    errors: ['not_found'],
  },
  {
    method: 'PATCH',
    path: '/topics/:topicKey',
    permission: 'business:write',
    handler: manage.patchTopic,
    operation: {
      summary: 'Change a topic',
      description:
        'Changes only the fields that you send. Its `key` and `default` stay, and its channels may only grow: else 409 `locked`. ' +
        'One that a campaign names which is not archived cannot be archived: 409 `in_use`.',
      tag,
      body: { schema: schemas.TopicChangeSchema, example: { position: 2 } },
      replies: topicReply(manage.UPDATED),
    },
    errors: ['not_found', 'locked', 'in_use', 'limit_reached'],
  },
  {
    method: 'DELETE',
    path: '/topics/:topicKey',
    permission: 'business:write',
    handler: manage.deleteTopic,
    operation: {
      summary: 'Delete a topic',
      description: 'Only one that no contact has chosen, and that no message was made for. Archive the others.',
      tag,
      replies: {
        200: { message: manage.DELETED, description: 'Deleted.', data: schemas.DeletedTopicData, example: { key } },
      },
    },
    errors: ['not_found', 'in_use'],
  },
]
