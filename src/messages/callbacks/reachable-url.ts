import type { Config } from '../../config.ts'
import type { MessageKey } from '../message-key.ts'
import { callbacksOf } from './callbacks-of.ts'
import { type CallbackPlace, callbackUrl } from './token.ts'

/** Returns the URL for the provider's reports. Null: it reports nothing, or PUBLIC_URL is not set. */
export function reachableUrl(
  config: Pick<Config, 'publicUrl' | 'port'>,
  key: MessageKey,
  place: CallbackPlace,
): string | null {
  return config.publicUrl === undefined || callbacksOf(place.provider) === undefined
    ? null
    : callbackUrl(config, key, place)
}
