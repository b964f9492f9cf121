/** Values of the destination form: converts stored settings to texts, and texts to the request. */
import type { paths } from '../../api.d.ts'
import type { Destination } from './queries.ts'

export type Kind = Destination['kind']
export type ConversionType = Destination['types'][number]

type Body<Path extends keyof paths, Method extends 'post' | 'patch'> = paths[Path] extends {
  [Key in Method]: { requestBody: { content: { 'application/json': infer Sent } } }
}
  ? Sent
  : never
export type NewDestination = Body<'/dashboard/api/b/{businessId}/destinations', 'post'>
export type DestinationChange = Body<'/dashboard/api/b/{businessId}/destinations/{destinationId}', 'patch'>

export const KINDS: readonly Kind[] = ['meta', 'google', 'webhook']
export const TYPES: readonly ConversionType[] = ['purchase', 'lead', 'booking']
export const ACTIONS = TYPES.map((type) => `conversionActions.${type}` as const)

export const SETTINGS = {
  meta: ['pixelId', 'actionSource', 'testEventCode', 'apiVersion'],
  google: ['customerId', 'loginCustomerId', ...ACTIONS, 'consent', 'apiVersion'],
  webhook: ['url', 'all'],
} as const satisfies Record<Kind, readonly string[]>
export type SettingName = (typeof SETTINGS)[Kind][number]

export const SECRETS = {
  meta: ['accessToken'],
  google: ['developerToken', 'clientId', 'clientSecret', 'refreshToken'],
  webhook: ['signingKey'],
} as const satisfies Record<Kind, readonly string[]>
export type SecretPart = (typeof SECRETS)[Kind][number]

type Settings = Record<string, unknown>
/** Texts of a form by field name. */
type Texts = Record<string, string>

/** Returns the text of a field; empty when it has none or when a checkbox is not ticked. */
export function textOf(settings: Settings, name: SettingName): string {
  const [first = '', part] = name.split('.')
  const value = part === undefined ? settings[first] : (settings[first] as Settings | undefined)?.[part]
  return typeof value === 'string' ? value : value === true ? 'true' : ''
}

/** Returns the settings that no field shows. They were set on the server. */
export function unshown(kind: Kind, settings: Settings): Settings {
  const shown = new Set<string>(SETTINGS[kind].map((name) => name.split('.')[0] ?? ''))
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !shown.has(name)))
}

export function newFrom(kind: Kind, texts: Texts): NewDestination {
  const secret = secretOf(kind, texts)
  return {
    kind,
    name: texts['name'] ?? '',
    ...(kind !== 'google' && { types: typesOf(texts) }),
    settings: changedSettings(kind, {}, texts),
    ...(secret && { secret }),
  }
}

/** Returns only the differences, so that the change does not undo one by another person. */
export function changeFrom({ kind, name, active, types, settings }: Destination, texts: Texts): DestinationChange {
  const wanted = { name: texts['name'] ?? '', active: texts['active'] !== undefined, types: typesOf(texts) }
  const changed = changedSettings(kind, settings ?? {}, texts)
  const secret = secretOf(kind, texts)
  return {
    ...(wanted.name !== name && { name: wanted.name }),
    ...(wanted.active !== active && { active: wanted.active }),
    ...(kind !== 'google' && wanted.types.join() !== types.join() && { types: wanted.types }),
    ...(Object.keys(changed).length > 0 && { settings: changed }),
    ...(secret && { secret }),
    ...(texts['newSigningKey'] !== undefined && { newSigningKey: true }),
  }
}

const typesOf = (texts: Texts): ConversionType[] => TYPES.filter((type) => texts[`types.${type}`] !== undefined)

function changedSettings(kind: Kind, before: Settings, texts: Texts): Texts {
  const entries = SETTINGS[kind].map((name) => [name, (texts[`settings.${name}`] ?? '').trim()] as const)
  return Object.fromEntries(entries.filter(([name, text]) => text !== textOf(before, name)))
}

/** Returns undefined when no part is filled in. */
function secretOf(kind: Kind, texts: Texts): Texts | undefined {
  const entries = SECRETS[kind].map((part) => [part, texts[`secret.${part}`] ?? ''] as const)
  const filled = entries.filter(([, text]) => text !== '')
  return filled.length > 0 ? Object.fromEntries(filled) : undefined
}
