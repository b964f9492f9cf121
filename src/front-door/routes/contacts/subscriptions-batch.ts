/** `POST /api/subscriptions/batch`: past opt-ins and opt-outs of many people. */
import { Type } from '@sinclair/typebox'
import { createTurns } from '../../../async/take-turns.ts'
import { type PastChoice, recordConsentBatch } from '../../../contacts/record-past-choices.ts'
import { CHANNELS } from '../../../rules/events/facts.ts'
import { readOccurredAt } from '../../../rules/events/occurred-at.ts'
import { isClean } from '../../../rules/events/text.ts'
import { faultOf } from '../../../rules/faults.ts'
import { readIdentity } from '../../../rules/identity/identity.ts'
import type { Business } from '../../../businesses/find-business.ts'
import { listTopics } from '../../../messages/topics/list-topics.ts'
import { readChoices } from '../../../rules/topics/read-choices.ts'
import { topicFaults } from '../../../rules/topics/topic-faults.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'
import { type Principal, keyWrite } from '../../access/principal.ts'
import { type AppContext, BODY_ERRORS, type Reply, type RequestContext, type Route } from '../../app-context.ts'
import { compileCheck, requireBody } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { type Refusal, type RefusedItem, listRefused, refuse } from '../../http/refused-item.ts'
import { IdentitySchema, text } from '../body-fields.ts'
import { closed, count, failureList } from '../reply-fields.ts'

export const MAX_CHOICES = 500

const channel = Type.Optional(Type.Boolean())
const ChoiceSchema = Type.Object({
  identity: IdentitySchema,
  ...Object.fromEntries(CHANNELS.map((name) => [name, channel])),
  topics: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Choices of topics, by key and channel, besides channels or alone.',
    }),
  ),
  method: text(1, 64, 'How the choice was made.', 'signup form'),
  at: Type.Union([Type.String(), Type.Number()], {
    description: 'When it was made: ISO 8601, or epoch milliseconds. Not in the future.',
    examples: ['2025-03-01T09:30:00Z', 1_740_821_400_000],
  }),
})
const checkChoice = compileCheck(ChoiceSchema)

const range = { minItems: 1, maxItems: MAX_CHOICES }
const checkFrame = compileCheck(Type.Object({ subscriptions: Type.Array(Type.Unknown(), range) }))

type Read = { choice: Omit<PastChoice, 'index'> } | Refusal

/** `now`: time of receipt in epoch ms. */
export function readChoice(raw: unknown, { country }: Pick<Business, 'country'>, now: number): Read {
  const checked = checkChoice(raw)
  if ('issues' in checked) return refuse(checked.issues)
  const { identity: sent, method, at: sentAt, topics: sentTopics, ...rest } = checked.body
  if (!isClean(method)) return refuse([faultOf('method', 'clean_text')])
  const channels = Object.fromEntries(
    CHANNELS.flatMap((name) => {
      const subscribed = (rest as Record<string, unknown>)[name]
      return typeof subscribed === 'boolean' ? [[name, subscribed]] : []
    }),
  )
  const chosen = sentTopics === undefined ? { choices: [] } : readChoices(sentTopics, { mayWait: false })
  if ('faults' in chosen) return refuse(chosen.faults)
  const { choices } = chosen
  if (Object.keys(channels).length + choices.length === 0)
    return refuse([faultOf('', 'at_least_one', { fields: [...CHANNELS, 'topics'].join(', ') })])
  const { identity, faults, warnings } = readIdentity(sent, country)
  if (identity === null) {
    const [first] = faults
    return first === undefined
      ? { error: ['identity has no usable field', ...warnings].join('; '), issues: [] }
      : refuse([first])
  }
  const time = readOccurredAt(sentAt, now)
  if ('fault' in time) return { error: time.fault.replace('occurredAt', 'at'), issues: [] }
  if (time.at > now) return refuse([faultOf('at', 'future')])
  const topics = choices.length === 0 ? {} : { topics: choices }
  return { choice: { identity, channels, ...topics, method, at: time.at } }
}

async function postSubscriptions(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.batch)
  const { subscriptions: sent } = requireBody(checkFrame(body))
  const choices: PastChoice[] = []
  const refused: RefusedItem[] = []
  const turn = createTurns()
  for (const [index, raw] of sent.entries()) {
    await turn()
    const read = readChoice(raw, business, context.receivedAt)
    if ('error' in read) refused.push({ index, ...read })
    else choices.push({ index, ...read.choice })
  }
  const known = await refuseUnknown(app, business.id, choices)
  refused.push(...known.refused)
  await acquireSlot(app.slots.change, context, business.id)
  const done = await recordConsentBatch(app, context, { businessId: business.id, actor }, known.choices)
  const { recorded, queued } = done
  refused.push(...done.failures.map(({ index, fault }) => ({ index, ...refuse([fault]) })))
  const failures = listRefused(context, refused)
  return {
    message: failures.length === 0 ? RECORDED : WITH_FAILURES,
    data: { received: sent.length, recorded, queued, failed: failures.length, failures },
  }
}

/** Refuses the choices that name a topic that the business does not have. */
async function refuseUnknown({ sql }: AppContext, businessId: string, choices: readonly PastChoice[]) {
  if (!choices.some(({ topics }) => topics)) return { choices, refused: [] }
  const topics = new Map((await listTopics(sql, businessId)).map((topic) => [topic.key, topic]))
  const faulty = choices.flatMap(({ index, topics: chosen = [] }) => {
    const faults = topicFaults(topics, chosen)
    return faults.length > 0 ? [{ index, ...refuse(faults) }] : []
  })
  const indexes = new Set(faulty.map(({ index }) => index))
  return { choices: choices.filter(({ index }) => !indexes.has(index)), refused: faulty }
}

const RECORDED = 'The choices are recorded.'
const WITH_FAILURES = 'The choices are recorded, but for those in failures.'

const Data = Type.Object(
  {
    received: count,
    recorded: Type.Integer({
      minimum: 0,
      description: 'Those too that were known, or over which a later choice stands.',
    }),
    queued: Type.Integer({ minimum: 0, description: 'Stored, and recorded usually within seconds.' }),
    failed: count,
    failures: failureList,
  },
  closed,
)

const identity = { email: 'ada@example.com' }

export const subscriptionsBatchRoute: Route = {
  method: 'POST',
  path: '/api/subscriptions/batch',
  answer: keyWrite(postSubscriptions),
  operation: {
    summary: 'Record opt-ins and opt-outs of the past',
    description:
      'For contacts who are found or created by their identity. The latest choice of a channel counts, by `at`, in whatever order they ' +
      'come; of two at one instant, the opt-out. The same items, sent again, change nothing. Items fail alone. Segments start no campaign.',
    tag: 'Contacts',
    key: 'secret',
    body: {
      schema: Type.Object({ subscriptions: Type.Array(ChoiceSchema, range) }),
      example: {
        subscriptions: [{ identity, email: true, method: 'signup form', at: '2025-03-01T09:30:00Z' }],
      },
    },
    replies: {
      200: {
        message: RECORDED,
        description: 'What became of the items.',
        data: Data,
        example: { received: 1, recorded: 1, queued: 0, failed: 0, failures: [] },
      },
    },
    errors: BODY_ERRORS,
  },
}
