/** Builds the OpenAPI document from the `operation` of each route and from the error codes. */
import { type Operation } from './operation.ts'
import { ERRORS, type ErrorCode } from '../../errors.ts'
import { messageOf } from '../http/outcome-unknown.ts'
import { describeAnswer, describeBody, nameSchemas } from './describe-schema.ts'
import type { Route } from '../app-context.ts'
import {
  CAMPAIGN_EXAMPLE,
  MESSAGE_EXAMPLE,
  CHANNEL_EXAMPLE,
  CONTACT_EXAMPLE,
  SEGMENT_EXAMPLE,
  SENDER_EXAMPLE,
  SUPPRESSION_EXAMPLE,
  TEMPLATE_EXAMPLE,
} from './examples.ts'
import { MESSAGE_CHANNELS } from '../../messages/templates/template.ts'
import { MAX_SENDER_KEY, SENDER_KEY } from '../../rules/campaigns/read-senders.ts'
import { MAX_TOPIC_KEY, TOPIC_KEY } from '../../rules/topics/topic.ts'
import { VERSION } from '../../version.ts'

type Document = Record<string, unknown>

const DESCRIPTION =
  'You send events and identities; Sluice keeps contacts, timelines, revenue, segments and campaigns. A server sends its secret key with ' +
  'each request: `Authorization: Bearer sk_live_…`. Every answer has the header `X-Request-Id`. Answers to a valid secret key ' +
  'also have `RateLimit-Policy` and `RateLimit`. A path with a query of ' +
  'more than 16,384 characters is answered with `uri_too_long`. `/healthz`, `/readyz` and `/metrics` are for operators: `docs/operations.md` describes them.'

export function describeApi(routes: readonly Route[], description = DESCRIPTION): Document {
  const isForPages = routes.some(({ operation }) => operation?.key === 'session')
  const paths: Record<string, Document> = {}
  for (const { method, path, operation } of routes) {
    if (operation === null) continue
    const item = (paths[path.replaceAll(/:(\w+)/g, '{$1}')] ??= {})
    item[method.toLowerCase()] = describeOperation(method, path, operation)
  }
  const schemas: Document = {}
  const named = nameSchemas(paths, schemas)
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version: VERSION, description },
    servers: [{ url: '/' }],
    paths: named,
    'x-errors': Object.entries(ERRORS).map(([code, { status, message }]) => ({ code, status, message })),
    components: {
      securitySchemes: {
        key: bearer('A secret key (`sk_live_…`), from a server only.'),
        publishableKey: bearer(
          'A publishable key (`pk_live_…`): names the business of the page, in place of `businessId`.',
        ),
        ...(isForPages && { session: SESSION }),
      },
      headers: HEADERS,
      schemas: { Failure: describeFailure(isForPages), ...schemas },
    },
  }
}

function describeOperation(method: string, path: string, operation: Operation): Document {
  const { summary, description, tag, key, body, replies, errors } = operation
  const headers = takesSecretKey(operation) ? LIMITED : UNLIMITED
  const successes = Object.entries(replies).map(([status, reply]) => [status, describeReply(reply, headers)])
  return {
    operationId: nameOf(method, path),
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security: SECURITY[key],
    parameters: describeParameters(path, operation),
    ...(body !== undefined && {
      requestBody: { required: true, content: describeContent(body) },
    }),
    responses: { ...Object.fromEntries(successes), ...describeErrors(path, errors) },
  }
}

function describeContent({ schema, example, media = ['application/json'] }: NonNullable<Operation['body']>): Document {
  return Object.fromEntries(media.map((type) => [type, { schema: describeBody(schema), ...(example && { example }) }]))
}

/** Returns an operation id, such as `postApiSdkTrackBatch`. */
function nameOf(method: string, path: string): string {
  const words = path.split(/\W+/).filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')
}

function describeParameters(path: string, operation: Operation): Document[] {
  const { query = {}, replies } = operation
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: PARAMETER_SCHEMAS[name ?? ''] ?? { type: 'string', format: 'uuid' },
    example: ID_EXAMPLES[name ?? ''],
  }))
  const inQuery = Object.entries(query).map(([name, details]) => ({ name, in: 'query', required: false, ...details }))
  return [...inPath, ...inQuery, ...(202 in replies && takesSecretKey(operation) ? [preferOf(operation)] : [])]
}

function describeReply(reply: Operation['replies'][number], headers: Document): Document {
  const { message, description, data, example } = reply
  const schema = {
    type: 'object',
    required: ['success', 'message', 'data'],
    properties: { success: { const: true }, message: { type: 'string' }, data: describeAnswer(data) },
  }
  const whole = example && { example: { success: true, message, data: example } }
  return { description, headers, content: { 'application/json': { schema, ...whole } } }
}

/** Returns one response per status, with an example per code. */
function describeErrors(path: string, codes: readonly ErrorCode[]): Document {
  const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status)
  const responses = [...byStatus].map(([status, group]) => {
    const examples = group.map((code) => [
      code,
      { value: { success: false, message: messageOf(code, path), error: { code } } },
    ])
    const content = {
      schema: { $ref: '#/components/schemas/Failure' },
      examples: Object.fromEntries(examples) as Document,
    }
    const description = group.map((code) => `\`${code}\``).join(', ')
    const headers = WAITING.has(status) ? refer('X-Request-Id', 'Retry-After') : refer('X-Request-Id')
    return [status, { description, headers, content: { 'application/json': content } }]
  })
  return Object.fromEntries(responses) as Document
}

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description })

const SESSION = { type: 'apiKey', in: 'cookie', name: '__Host-sluice' }

const SECURITY: Record<Operation['key'], Document[]> = {
  secret: [{ key: [] }],
  optional: [{ key: [] }, { publishableKey: [] }, {}],
  publishable: [{ publishableKey: [] }, {}],
  session: [{ session: [] }],
  none: [],
}

/** Of the parameters of paths that are no ids. */
const PARAMETER_SCHEMAS: Record<string, Document> = {
  channel: { enum: MESSAGE_CHANNELS },
  sender: { type: 'string', pattern: SENDER_KEY.source, maxLength: MAX_SENDER_KEY },
  topicKey: { type: 'string', pattern: TOPIC_KEY.source, maxLength: MAX_TOPIC_KEY },
}

const ID_EXAMPLES: Record<string, string> = {
  contactId: CONTACT_EXAMPLE.contactId,
  campaignId: CAMPAIGN_EXAMPLE.campaignId,
  messageId: MESSAGE_EXAMPLE.messageId,
  backtestId: '01a1fab6-2b19-7d3e-8c45-6f7a8b9c0d1e',
  segmentId: SEGMENT_EXAMPLE.segmentId,
  templateId: TEMPLATE_EXAMPLE.templateId,
  suppressionId: SUPPRESSION_EXAMPLE.suppressionId,
  channel: CHANNEL_EXAMPLE.channel,
  sender: SENDER_EXAMPLE.key,
  topicKey: 'newsletter',
}

/** Only callers with a secret key get `Prefer` and the RateLimit headers. */
const takesSecretKey = ({ key }: Operation): boolean => key === 'secret' || key === 'optional'

function preferOf({ replies }: Operation): Document {
  const hasEffects = 'effects' in (replies[200]?.data.properties ?? {})
  return {
    name: 'Prefer',
    in: 'header',
    required: false,
    schema: { enum: ['respond-async', ...(hasEffects ? ['effects'] : [])] },
    description:
      'With a secret key. `respond-async`: you get 202 at once, before the request is applied.' +
      (hasEffects ? ' `effects`: the answer lists the segments and campaigns that the contact entered and left.' : ''),
  }
}

/** The statuses after which a retry makes sense. */
const WAITING: ReadonlySet<number> = new Set([429, 503])

const header = (type: string, description: string, example: string | number) => ({
  description,
  schema: { type },
  example,
})
const HEADERS = {
  'X-Request-Id': header(
    'string',
    'The id that you sent, if it has 1 to 128 printable ASCII characters; else a new one.',
    'order-9917',
  ),
  'RateLimit-Policy': header(
    'string',
    'The number of requests per window (q), and the length of the window in seconds (w).',
    '"default";q=120;w=60',
  ),
  RateLimit: header(
    'string',
    'The number of requests left in the window (r), and the seconds until it ends (t).',
    '"default";r=119;t=60',
  ),
  'Retry-After': header('integer', 'Wait this number of seconds before you send the request again.', 17),
}

function refer(...names: (keyof typeof HEADERS)[]): Document {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const UNLIMITED = refer('X-Request-Id')
const LIMITED = refer('X-Request-Id', 'RateLimit-Policy', 'RateLimit')

/** Lets the dashboard show a fault in the language of the page: see its `translateError`. */
const wordsOfFault = {
  code: { type: 'string', description: 'Says what is wrong. Does not change between versions.' },
  values: {
    type: 'object',
    description: 'What the message names, such as a limit.',
    additionalProperties: { type: ['string', 'number'] },
  },
}

const REASON = {
  type: 'object',
  description: 'Why the whole request is refused, where that says more than the code.',
  required: ['code'],
  properties: wordsOfFault,
}

const describeFailure = (isForPages: boolean) => ({
  type: 'object',
  required: ['success', 'message', 'error'],
  properties: {
    success: { const: false },
    message: { type: 'string', description: 'For people; names the field.' },
    error: {
      type: 'object',
      required: ['code'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERRORS), description: 'Does not change between versions.' },
        issues: {
          type: 'array',
          items: {
            type: 'object',
            required: ['path', 'message'],
            properties: { path: { type: 'string' }, message: { type: 'string' }, ...(isForPages && wordsOfFault) },
          },
        },
        ...(isForPages && { reason: REASON }),
      },
    },
  },
})
