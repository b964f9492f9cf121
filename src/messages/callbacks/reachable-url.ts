import type { Config } from '../../config.ts'
import type { MessageKey } from '../message-key.ts'
import { callbacksOf } from './callbacks-of.ts'
import { type CallbackPlace, callbackUrl } from './token.ts'

/** Where a provider can report. Null: it reports nothing, or there is no PUBLIC_URL. */
export function reachableUrl(
  config: Pick<Config, 'publicUrl' | 'port'>,
  key: MessageKey,
  place: CallbackPlace,
): string | null {
  return config.publicUrl === undefined || callbacksOf(place.provider) === undefined
    ? null
    : callbackUrl(config, key, place)
}
