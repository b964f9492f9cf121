/** The settings of each provider. A new provider in the API does not compile until its fields are listed here. */
import { type MessageChannel, MESSAGE_CHANNELS } from '../../rules/channels.ts'
import type { BodyOf, DataOf } from '../../../data-of.ts'
import type { texts } from '../../../texts/en/channels.ts'

export type ChannelSettings = DataOf<'/dashboard/api/b/{businessId}/channels'>['channels'][number]
export type Provider = ChannelSettings['provider']
export type SettingName = keyof (typeof texts)['settings']

export interface SettingForm {
  name: SettingName
  /** `flag`: yes, no, or the server's default. `secret`: never shown, and unchanged when left empty. */
  kind: 'text' | 'number' | 'flag' | 'secret'
}

interface ProviderForm {
  channels: readonly MessageChannel[]
  settings: readonly SettingForm[]
}

const text = (name: SettingName): SettingForm => ({ name, kind: 'text' })
const number = (name: SettingName): SettingForm => ({ name, kind: 'number' })
const flag = (name: SettingName): SettingForm => ({ name, kind: 'flag' })
const secret = (name: SettingName): SettingForm => ({ name, kind: 'secret' })

const SENDER = [text('sender'), text('replyTo')]
/** Settings that every provider has. */
const LIMITS = [number('perSecond'), number('dailyBudget'), number('reserve')]

export const PROVIDERS: Record<Provider, ProviderForm> = {
  log: { channels: MESSAGE_CHANNELS, settings: LIMITS },
  smtp: {
    channels: ['email'],
    settings: [...SENDER, text('host'), number('port'), flag('secure'), text('user'), secret('password'), ...LIMITS],
  },
  resend: {
    channels: ['email'],
    settings: [...SENDER, secret('apiKey'), secret('webhookSecret'), text('baseUrl'), ...LIMITS],
  },
  postmark: {
    channels: ['email'],
    settings: [
      ...SENDER,
      secret('serverToken'),
      text('messageStream'),
      text('webhookUser'),
      secret('webhookPassword'),
      text('baseUrl'),
      ...LIMITS,
    ],
  },
  ses: {
    channels: ['email'],
    settings: [
      ...SENDER,
      text('region'),
      text('accessKeyId'),
      secret('secretAccessKey'),
      text('configurationSet'),
      text('baseUrl'),
      ...LIMITS,
    ],
  },
  twilio: {
    channels: ['sms'],
    settings: [text('accountSid'), secret('authToken'), text('from'), text('baseUrl'), ...LIMITS],
  },
  meta: {
    channels: ['whatsapp'],
    settings: [
      text('phoneNumberId'),
      secret('token'),
      secret('appSecret'),
      secret('verifyToken'),
      text('baseUrl'),
      ...LIMITS,
    ],
  },
  webpush: {
    channels: ['push'],
    settings: [text('subject'), text('icon'), number('ttl'), text('urgency'), ...LIMITS],
  },
  webhook: { channels: ['webhook'], settings: [text('url'), secret('secret'), ...LIMITS] },
}

export const providersOf = (channel: MessageChannel): Provider[] =>
  (Object.keys(PROVIDERS) as Provider[]).filter((name) => PROVIDERS[name].channels.includes(channel))

/** Fields of answers that are not settings. */
const NOT_SENT = ['channel', 'provider', 'secrets', 'updatedAt', 'callbackUrl', 'pausedAt', 'pauseReason']

/** Returns the text of a field. */
export function textOf(stored: object, name: SettingName): string {
  const value = (stored as Record<string, unknown>)[name]
  return value === undefined || value === null ? '' : String(value as string | number | boolean)
}

type ChannelBody = BodyOf<'/dashboard/api/b/{businessId}/channels/{channel}', 'put'>

/**
 * Returns the request body for the entered values. Settings that no field shows stay as they are. The server checks them
 * for the provider.
 */
export function bodyOf(stored: ChannelSettings, provider: Provider, values: Record<string, string>): ChannelBody {
  const { settings } = PROVIDERS[provider]
  const shown = new Set<string>([...NOT_SENT, ...settings.map(({ name }) => name)])
  const kept = provider === stored.provider ? Object.entries(stored).filter(([name]) => !shown.has(name)) : []
  return { provider, ...Object.fromEntries([...kept, ...enteredOf(settings, values)]) } as ChannelBody
}

/** The entered values, without empty ones. */
export const enteredOf = (settings: readonly SettingForm[], values: Record<string, string>): [SettingName, unknown][] =>
  settings.flatMap(({ name, kind }) => {
    const value = kind === 'secret' ? (values[name] ?? '') : (values[name] ?? '').trim()
    return value === '' ? [] : [[name, readValue(kind, value)]]
  })

function readValue(kind: SettingForm['kind'], value: string): unknown {
  if (kind === 'flag') return value === 'true'
  // The server rejects values that are not numbers.
  if (kind === 'number') return Number.isNaN(Number(value)) ? value : Number(value)
  return value
}
