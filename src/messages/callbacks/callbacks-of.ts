/** The providers that report on messages. */
import type { ProviderCallbacks } from './callbacks.ts'
import { metaCallbacks } from './meta.ts'
import { postmarkCallbacks } from './postmark.ts'
import { resendCallbacks } from './resend.ts'
import { sesCallbacks } from './ses.ts'
import { twilioCallbacks } from './twilio.ts'

const CALLBACKS = new Map<string, ProviderCallbacks>([
  ['resend', resendCallbacks],
  ['postmark', postmarkCallbacks],
  ['ses', sesCallbacks],
  ['twilio', twilioCallbacks],
  ['meta', metaCallbacks],
])

/** By the provider's name. Undefined: it reports nothing. */
export const callbacksOf = (provider: string): ProviderCallbacks | undefined => CALLBACKS.get(provider)
