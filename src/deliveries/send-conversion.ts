/** One attempt: the request that a destination's kind asks for, and what came of it. */
import type { Conversion, Outgoing, Verdict } from './conversion.ts'
import { composeForGoogle, judgeGoogle, refuseForGoogle } from './google.ts'
import type { GoogleTokens } from './google-token.ts'
import { type Answer, HOLD_MS } from './judge-status.ts'
import { composeForMeta, judgeMeta, refuseForMeta } from './meta.ts'
import { describeSilence, post } from './post.ts'
import type { Setup } from './settings.ts'
import { composeForWebhook, judgeWebhook } from './webhook.ts'

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
    return { kind: 'retry', reason: describeSilence(error), afterMs: HOLD_MS, holds: true }
  }
}

function refuse({ setup, conversion }: Sending, now: number): string | undefined {
  if (setup.kind === 'meta') return refuseForMeta(conversion, now)
  return setup.kind === 'google' ? refuseForGoogle(conversion, setup.settings) : undefined
}

async function attempt({ tokens, now }: SendDeps, { setup, conversion, isTest }: Sending, signal: AbortSignal) {
  const send = async (outgoing: Outgoing, judge: (answer: Answer) => Verdict) => judge(await post(outgoing, signal))
  switch (setup.kind) {
    case 'meta':
      return send(composeForMeta(conversion, setup.settings, setup.secret), judgeMeta)
    case 'webhook': {
      const { settings, secret } = setup
      return send(composeForWebhook(conversion, settings, { secret, now: now(), isTest }), judgeWebhook)
    }
    case 'google': {
      const { settings, secret } = setup
      const got = await tokens.get(settings, secret, signal)
      if ('verdict' in got) return got.verdict
      const { accessToken } = got
      const answer = await post(
        composeForGoogle(conversion, settings, { secret, accessToken, validateOnly: isTest }),
        signal,
      )
      if (answer.status === 401) tokens.forget(accessToken)
      return judgeGoogle(answer)
    }
  }
}
