/** Submits a request to the streams, and turns the outcome into an answer or an error. */
import { RequestError } from '../../errors.ts'
import type {
  BatchAnswer,
  BrowserAnswer,
  ContactAnswer,
  EditAnswer,
  FailedAnswer,
  IdentifyAnswer,
  IdentifyBatchAnswer,
  TrackAnswer,
} from '../../stream/entry.ts'
import type { NewIngestRequest, SubmitResult } from '../../stream/publish/submit.ts'
import { outcomeUnknown } from '../http/outcome-unknown.ts'
import { prefers } from '../http/prefers.ts'
import type { RequestContext, AppContext } from '../app-context.ts'

interface AnswerOf {
  track: TrackAnswer
  browser: BrowserAnswer
  batch: BatchAnswer
  identify: IdentifyAnswer
  identify_batch: IdentifyBatchAnswer
  erase: ContactAnswer
  subscribe: ContactAnswer
  edit: EditAnswer
  capture: never
  message_event: never
  web_trigger: never
}

/**
 * Returns the worker's answer, or null when the request is queued: it is durable and will be applied once (202). With
 * `wait: false` it does not wait for the answer. `Prefer: respond-async` has the same effect, but only for callers with
 * a secret key. Throws RequestError: unavailable, outcome_unknown; internal and business_inactive (the request becomes
 * a dead letter).
 */
export async function submitRequest<R extends NewIngestRequest>(
  app: AppContext,
  context: RequestContext,
  request: R,
  { keyed, wait = true }: { keyed: boolean; wait?: boolean },
): Promise<AnswerOf[R['kind']] | null> {
  const async = keyed && prefers(context.request, 'respond-async')
  const submitted = await app.submitter.submit(request, { wait: wait && !async })
  app.metrics.answers.inc({ kind: request.kind, outcome: submitted.kind })
  const answer = readOutcome(context, submitted)
  if (async) context.headers['Preference-Applied'] = 'respond-async'
  if (answer !== null && 'failed' in answer) throw new RequestError(answer.inactive ? 'business_inactive' : 'internal')
  // The worker's answer always has the type that belongs to the kind of the request.
  return answer as AnswerOf[R['kind']] | null
}

/** Returns null when the request was queued. Throws RequestError: unavailable, outcome_unknown. */
function readOutcome(
  { request }: RequestContext,
  submitted: SubmitResult,
): AnswerOf[keyof AnswerOf] | FailedAnswer | null {
  switch (submitted.kind) {
    case 'answered':
      return submitted.answer
    case 'queued':
      return null
    case 'unavailable':
      throw new RequestError('unavailable', { headers: { 'Retry-After': String(submitted.retryAfter) } })
    case 'outcome_unknown':
      throw outcomeUnknown(request)
  }
}

/** Returns `warnings`, but leaves it out when there are none. */
export function withWarnings(warnings: readonly string[]): { warnings?: readonly string[] } {
  return warnings.length > 0 ? { warnings } : {}
}
