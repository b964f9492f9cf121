/** One attempt: the request that a destination's kind asks for, and what came of it. */
import type { Conversion } from './conversion.ts'
import type { Verdict } from '../outbound/verdict.ts'
import { composeForGoogle, classifyGoogleResponse, refuseForGoogle } from './google.ts'
import type { GoogleTokens } from './google-token.ts'
import { HOLD_MS } from '../outbound/classify-response.ts'
import { composeForMeta, classifyMetaResponse, refuseForMeta } from './meta.ts'
import { describeNetworkError, post, postForStatus } from '../outbound/post.ts'
import type { Setup } from './settings.ts'
import { composeForWebhook, classifyWebhookResponse } from './webhook.ts'

export interface Sending {
  setup: Setup
  conversion: Conversion
  /** Made up by an operator: to be checked, and to count nowhere. */
  isTest: boolean
}

export interface SendDeps {
  tokens: GoogleTokens
  /** Epoch ms. */
  now: () => number
}

/**
 * Never rejects: silence until `signal` aborts is a reason to try again. Whoever is silent takes up a sender for as long as
 * that, and is left alone for a while.
 */
export async function sendConversion(deps: SendDeps, sending: Sending, signal: AbortSignal): Promise<Verdict> {
  const refusal = sending.isTest ? undefined : refuse(sending, deps.now())
  if (refusal !== undefined) return { kind: 'dead', reason: refusal }
  try {
    return await attempt(deps, sending, signal)
  } catch (error) {
    return { kind: 'retry', reason: describeNetworkError(error), afterMs: HOLD_MS, holds: true }
  }
}

function refuse({ setup, conversion }: Sending, now: number): string | undefined {
  if (setup.kind === 'meta') return refuseForMeta(conversion, now)
  return setup.kind === 'google' ? refuseForGoogle(conversion, setup.settings) : undefined
}

async function attempt({ tokens, now }: SendDeps, { setup, conversion, isTest }: Sending, signal: AbortSignal) {
  // A caller's clock may be ahead (decisions, "Time"), and a platform refuses what has not happened yet.
  const happened = { ...conversion, occurredAt: Math.min(conversion.occurredAt, now()) }
  switch (setup.kind) {
    case 'meta':
      return classifyMetaResponse(await post(composeForMeta(happened, setup.settings, setup.secret), signal))
    case 'webhook': {
      const { settings, secret } = setup
      return classifyWebhookResponse(
        await postForStatus(composeForWebhook(conversion, settings, { secret, now: now(), isTest }), signal),
      )
    }
    case 'google': {
      const { settings, secret } = setup
      const got = await tokens.get(settings, secret, signal)
      if ('verdict' in got) return got.verdict
      const { accessToken } = got
      const answer = await post(
        composeForGoogle(happened, settings, { secret, accessToken, validateOnly: isTest }),
        signal,
      )
      if (answer.status === 401) tokens.forget(accessToken)
      return classifyGoogleResponse(answer)
    }
  }
}
