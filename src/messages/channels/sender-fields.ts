/** The fields of a sender as callers write them, beside the settings of its provider. */
import { type Fault, faultOf } from '../../rules/faults.ts'
import { isRecord } from '../../rules/is-record.ts'
import { isSenderKey, MAX_SENDER_KEY } from '../../rules/campaigns/read-senders.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../templates/template.ts'
import { LimitSettings } from './limits.ts'
import { providersOf } from './providers.ts'
import type { SentSettings } from './read-settings.ts'
import { fromSetting } from './sender-address.ts'

export interface SenderFields {
  /** Undefined: left out. Null: none. */
  fallback: string | null | undefined
  via: string | null | undefined
  isDefault: boolean
  /** Of the provider and of the limits, with the address in the provider's own setting. */
  settings: SentSettings
}

const FIELDS = ['via', 'fallback', 'isDefault'] as const
/** An answer can be sent again. */
const SHOWN = [
  'key',
  'channel',
  'status',
  'pausedAt',
  'pauseReason',
  'callbackUrl',
  'check',
  'secrets',
  'updatedAt',
  'usedToday',
]

/** Reads the key and the channel of a new sender. */
export function readNewKey(
  body: Record<string, unknown>,
): { key: string; channel: MessageChannel } | { faults: Fault[] } {
  const { key, channel: sent } = body
  const channel = MESSAGE_CHANNELS.find((one) => one === sent)
  const faults: Fault[] = []
  if (!isSenderKey(key)) faults.push(faultOf('key', 'sender_key', { max: MAX_SENDER_KEY }))
  if (channel === undefined) faults.push(faultOf('channel', 'one_of', { choices: MESSAGE_CHANNELS.join(', ') }))
  else if (channel === 'push') faults.push(faultOf('channel', 'one_sender'))
  return isSenderKey(key) && channel !== undefined && faults.length === 0 ? { key, channel } : { faults }
}

/** Reads the other fields. The settings are checked by `prepareSender`. */
export function readFields(
  channel: MessageChannel,
  { via, fallback, isDefault, ...sent }: Record<string, unknown>,
): SenderFields | { faults: Fault[] } {
  const faults = [...unknownFields(channel, sent), ...keyFaults({ via, fallback })]
  if (isDefault !== undefined && typeof isDefault !== 'boolean') faults.push(faultOf('isDefault', 'boolean'))
  const from = readSentFrom(channel, sent['from'])
  if (from === undefined) faults.push(faultOf('from', 'sender_from'))
  if (faults.length > 0) return { faults }
  const { from: _, ...settings } = Object.fromEntries(Object.entries(sent).filter(([name]) => !SHOWN.includes(name)))
  return {
    via: via as string | null | undefined,
    fallback: fallback as string | null | undefined,
    isDefault: isDefault === true,
    settings: { ...settings, ...from },
  }
}

const keyFaults = (keys: Record<string, unknown>): Fault[] =>
  Object.entries(keys)
    .filter(([, key]) => key !== undefined && key !== null && !isSenderKey(key))
    .map(([path]) => faultOf(path, 'sender_key', { max: MAX_SENDER_KEY }))

function unknownFields(channel: MessageChannel, sent: Record<string, unknown>): Fault[] {
  const known = new Set([
    ...SHOWN,
    ...FIELDS,
    'provider',
    'from',
    'replyTo',
    ...Object.keys(LimitSettings.properties),
    ...providersOf(channel).flatMap(({ settings, secrets, keys }) => [
      ...Object.keys(settings.properties),
      ...Object.keys(secrets.properties),
      ...Object.keys(keys?.settings.properties ?? {}),
    ]),
  ])
  return Object.keys(sent)
    .filter((name) => !known.has(name))
    .map((name) => faultOf(name, 'no_setting', { name }))
}

/** The provider's setting with the address. Empty: it was left out. Undefined: it has a fault. */
function readSentFrom(channel: MessageChannel, sent: unknown): Record<string, unknown> | undefined {
  const setting = fromSetting(channel)
  if (sent === undefined) return {}
  if (setting === undefined) return undefined
  if (sent === null || typeof sent === 'string') return { [setting]: sent }
  if (!isRecord(sent)) return undefined
  const { address, name } = sent
  if (typeof address !== 'string' || (name !== undefined && typeof name !== 'string')) return undefined
  const hasName = channel === 'email' && name !== undefined && name.trim() !== ''
  return { [setting]: hasName ? `${name.trim()} <${address.trim()}>` : address }
}
