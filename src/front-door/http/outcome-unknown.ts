/** What a caller does who cannot know whether a call took effect. */
import { ERRORS, type ErrorCode, RequestError } from '../../errors.ts'
import { urlOf } from './url-of.ts'

const IN_DOUBT = 'It is not known whether the request was recorded. Send it again:'
const SEND_EVENT_AGAIN = `${IN_DOUBT} an event with the same idempotencyKey is recorded only once.`
const IDENTIFY_AGAIN = `${IN_DOUBT} identifying a person a second time creates no second contact.`

const SEND_CALL_AGAIN = `${IN_DOUBT} calls with the same idempotencyKey send one message.`

/** Calls that are safe to send again without a look at what they did. */
const REPEATABLE: Record<string, string> = {
  '/api/sdk/track': SEND_EVENT_AGAIN,
  '/api/sdk/track/batch': SEND_EVENT_AGAIN,
  '/api/sdk/browser/track': SEND_EVENT_AGAIN,
  '/api/sdk/browser/capture': SEND_EVENT_AGAIN,
  '/api/sdk/identify': IDENTIFY_AGAIN,
  '/api/messages': SEND_CALL_AGAIN,
  '/api/sdk/identify/batch': IDENTIFY_AGAIN,
}

/** Returns the message of an error, as the endpoint with this path answers it. */
export function messageOf(code: ErrorCode, path: string): string {
  const { message } = ERRORS[code]
  return code === 'outcome_unknown' ? (REPEATABLE[path] ?? message) : message
}

export function outcomeUnknown(request: Request, options: { cause?: unknown } = {}): RequestError {
  return new RequestError('outcome_unknown', {
    ...options,
    message: messageOf('outcome_unknown', urlOf(request).pathname),
  })
}
