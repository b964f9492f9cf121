/** Sends one conversion to a destination, in the format of its kind. */
import type { Conversion } from './conversion.ts'
import type { SendResult } from '../outbound/send-result.ts'
import { composeGoogleRequest, classifyGoogleResponse, findGoogleRefusal } from './google.ts'
import type { GoogleTokens } from './google-token.ts'
import { DEFAULT_RETRY_AFTER_MS } from '../outbound/classify-response.ts'
import { composeMetaRequest, classifyMetaResponse, findMetaRefusal } from './meta.ts'
import { describeNetworkError, post, postForStatus } from '../outbound/post.ts'
import { RefusedTargetError } from '../outbound/resolve-target.ts'
import type { TargetGuard } from '../outbound/target-guard.ts'
import type { DestinationSetup } from './settings.ts'
import { composeWebhookRequest, classifyWebhookResponse } from './webhook.ts'

export interface ConversionToSend {
  setup: DestinationSetup
  conversion: Conversion
  /** Whether an operator is testing. The platform checks a test conversion, but does not count it. */
  isTest: boolean
}

export interface SendDeps {
  guard: TargetGuard
  tokens: GoogleTokens
  /** Returns the current time in epoch milliseconds. */
  now: () => number
}

/**
 * Sends a conversion. Never rejects: the result is a retry when there is no response before `signal` aborts. Such a
 * destination occupies a sender for all that time, so nothing is sent to it for `DEFAULT_RETRY_AFTER_MS`.
 */
export async function sendConversion(
  deps: SendDeps,
  sending: ConversionToSend,
  signal: AbortSignal,
): Promise<SendResult> {
  const refusal = sending.isTest ? undefined : findRefusal(sending, deps.now())
  if (refusal !== undefined) return { kind: 'dead', reason: refusal }
  try {
    return await attempt(deps, sending, signal)
  } catch (error) {
    const result = { kind: 'retry', afterMs: DEFAULT_RETRY_AFTER_MS, holdsDestination: true } as const
    // The conversion is valid. An operator must correct the destination's address, or the DNS server.
    if (error instanceof RefusedTargetError) return { ...result, reason: error.message, unsent: true }
    return { ...result, reason: describeNetworkError(error) }
  }
}

function findRefusal({ setup, conversion }: ConversionToSend, now: number): string | undefined {
  if (setup.kind === 'meta') return findMetaRefusal(conversion, now)
  return setup.kind === 'google' ? findGoogleRefusal(conversion, setup.settings) : undefined
}

async function attempt(
  { guard, tokens, now }: SendDeps,
  { setup, conversion, isTest }: ConversionToSend,
  signal: AbortSignal,
) {
  // The caller's clock may be ahead (decisions, "Time"), and platforms reject times in the future.
  const happened = { ...conversion, occurredAt: Math.min(conversion.occurredAt, now()) }
  switch (setup.kind) {
    case 'meta':
      return classifyMetaResponse(await post(composeMetaRequest(happened, setup.settings, setup.secret), guard, signal))
    case 'webhook': {
      const { settings, secret } = setup
      return classifyWebhookResponse(
        await postForStatus(composeWebhookRequest(conversion, settings, { secret, now: now(), isTest }), guard, signal),
      )
    }
    case 'google': {
      const { settings, secret } = setup
      const token = await tokens.get(settings, secret, signal)
      if ('result' in token) return token.result
      const { accessToken } = token
      const response = await post(
        composeGoogleRequest(happened, settings, { secret, accessToken, validateOnly: isTest }),
        guard,
        signal,
      )
      if (response.status === 401) tokens.forget(accessToken)
      return classifyGoogleResponse(response)
    }
  }
}
