/** POST /api/messages: sends one transactional message. */
import { uuidv7 } from 'uuidv7'
import { sleep } from '../../../async/sleep.ts'
import { type CallState, isSettled, readCallState } from '../../../calls/find-known-call.ts'
import { type CallRecorded, recordCall } from '../../../calls/record-call.ts'
import { loadMessaging } from '../../../campaigns/messaging.ts'
import { RequestError } from '../../../errors.ts'
import { readCall } from '../../../rules/calls/read-call.ts'
import { faultOf } from '../../../rules/faults.ts'
import { afterCommit } from '../../../stores/transaction.ts'
import { requireSecretKey } from '../../access/authenticate.ts'
import { chargeCall } from '../../access/charge.ts'
import { type AppContext, BODY_ERRORS, type Reply, type RequestContext, type Route } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { readWait } from '../../http/prefers.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { rejectOtherBusiness, toRequestError } from '../../http/rejection.ts'
import { TEMPLATE_EXAMPLE } from '../../openapi/examples.ts'
import { contactNotFound } from '../contacts/contact-not-found.ts'
import { withWarnings } from '../submit-request.ts'
import { CallData, CallSchema } from './call-schema.ts'

const QUEUED = 'The message is recorded, and will be sent.'
const SETTLED = 'The message is settled.'

const check = compileCheck(CallSchema)

async function postMessage(app: AppContext, context: RequestContext): Promise<Reply> {
  const { business: caller } = await requireSecretKey(app, context)
  await chargeCall(app, context, caller)
  const { business, body } = await receiveBody(app, context, caller, BODY_LIMITS.call)
  const mismatch = rejectOtherBusiness(body, business)
  if (mismatch !== null) throw toRequestError(mismatch)
  const read = readCall(requireBody(check(body)), business.country)
  if ('faults' in read) throw invalidRequest(read.faults)
  const messageId = uuidv7()
  const waiting = app.settledCalls.begin(messageId)
  try {
    const { message, deduped, warnings } = requireRecorded(
      await recordCall(depsOf(app), business.id, read.call, messageId),
    )
    if (!deduped && !isSettled(message)) app.wake('calls')
    const settled = deduped ? waitAgain(app, message.messageId) : waiting
    try {
      return show(await waitFor(app, context, business.id, message, settled.settled), { deduped, warnings })
    } finally {
      settled.end()
    }
  } finally {
    waiting.end()
  }
}

/** Throws RequestError. */
function requireRecorded(recorded: CallRecorded): Extract<CallRecorded, { kind: 'recorded' }> {
  switch (recorded.kind) {
    case 'recorded':
      return recorded
    case 'faults':
      throw invalidRequest(recorded.faults)
    case 'no_template':
      throw new RequestError('not_found', { reason: faultOf('', 'no_template') })
    case 'no_contact':
      throw contactNotFound()
    case 'backlog':
      throw new RequestError('unavailable', { headers: { 'Retry-After': '5' } })
    case 'address_limit':
      throw new RequestError('rate_limited', { headers: { 'Retry-After': String(recorded.retryAfter) } })
  }
}

const depsOf = (app: AppContext) => ({
  sql: app.sql,
  backlog: app.callBacklog,
  now: app.now,
  async limitAddress(businessId: string, addressHash: string) {
    const { perAddressHour } = await loadMessaging(app.sql, businessId)
    if (perAddressHour === null) return { allowed: true as const, giveBack: () => undefined }
    return app.addressLimit.take(addressHash, perAddressHour)
  },
})

/** A repeat waits for the first message. */
const waitAgain = (app: AppContext, messageId: string) => app.settledCalls.begin(messageId)

/** With `Prefer: wait`: resolves as soon as the message is settled, or when the time is over. */
async function waitFor(
  app: AppContext,
  context: RequestContext,
  businessId: string,
  message: CallState,
  settled: Promise<void>,
): Promise<CallState> {
  const seconds = readWait(context.request)
  if (seconds === null) return message
  context.headers['Preference-Applied'] = `wait=${seconds}`
  const read = async () => (await afterCommit(() => readCallState(app.sql, businessId, message.messageId))) ?? message
  // Read again: it may have been settled since.
  const now = isSettled(message) ? message : await read()
  if (isSettled(now)) return now
  const ended = new AbortController()
  await Promise.race([settled, sleep(seconds * 1000, ended.signal)])
  ended.abort()
  return await read()
}

function show(message: CallState, { deduped, warnings }: { deduped: boolean; warnings: string[] }): Reply {
  const { messageId, state, reason } = message
  const isDone = isSettled(message)
  const more = { ...(deduped && { deduped: true }), ...withWarnings(warnings) }
  if (isDone) return { message: SETTLED, data: { messageId, state, reason, ...more } }
  return { status: 202, message: QUEUED, data: { messageId, state: 'queued', ...more } }
}

const messageId = '0198c5a0-9d10-7c42-9a51-3e8f7b6d2c15'

export const sendCallRoute: Route = {
  method: 'POST',
  path: '/api/messages',
  answer: postMessage,
  operation: {
    summary: 'Send one transactional message',
    description:
      'A receipt, a code, a new password. It goes to an opted-out person, too, and at any hour, but not to a suppressed address. ' +
      'Send `Prefer: wait=10` to get the answer once the message is settled, at most after that many seconds (1 to 10).',
    tag: 'Messages',
    key: 'secret',
    body: {
      schema: CallSchema,
      example: {
        to: { email: 'ada@example.com' },
        template: TEMPLATE_EXAMPLE.templateId,
        data: { code: '4711' },
        idempotencyKey: 'code-9917',
        validFor: 'PT10M',
      },
    },
    replies: {
      200: {
        message: SETTLED,
        description:
          'The message is settled: with `Prefer: wait`, for a repeat, or as the address is suppressed or missing.',
        data: CallData,
        example: { messageId, state: 'sent', reason: null },
      },
      202: {
        message: QUEUED,
        description: 'The message is stored. It will be sent, usually within a second.',
        data: CallData,
        example: { messageId, state: 'queued' },
      },
    },
    errors: [...BODY_ERRORS, 'not_found', 'business_mismatch', 'outcome_unknown'],
  },
}
