/**
 * The settings and secrets of each kind of destination, as stored in Postgres. Defaults are not stored, but added on
 * reading.
 */
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { Value, type ValueError } from '@sinclair/typebox/value'
import { type Fault, faultOf, moveFault } from '../rules/faults.ts'
import type { Issue } from '../errors.ts'
import type { ClickKind } from './conversion.ts'

const closed = { additionalProperties: false }
const version = (fallback: string) =>
  Type.String({
    pattern: '^v\\d{1,3}(\\.\\d{1,2})?$',
    default: fallback,
    rule: faultOf('', 'version', { example: fallback }),
  })
/** An address without user and password, because `destination list` shows it. */
const address = (options: { default?: string } = {}) =>
  Type.String({
    pattern: '^https?://[^\\s/@?#]+(/[^\\s?#@]*)?(\\?[^\\s#]*)?$',
    maxLength: 2048,
    rule: faultOf('', 'http_address'),
    ...options,
  })
const word = Type.String({ pattern: '^[\\x21-\\x7e]{1,4096}$', rule: faultOf('', 'credential', { max: 4096 }) })
const number = Type.String({ pattern: '^\\d{1,20}$', rule: faultOf('', 'platform_number') })

const ACTION_SOURCES = ['system_generated', 'email', 'phone_call', 'chat', 'physical_store', 'other']

const Meta = {
  kind: 'meta',
  clickIds: ['fbclid'],
  settings: Type.Object(
    {
      pixelId: number,
      // Without `website`, which needs the browser's user agent. Sluice does not store it.
      actionSource: Type.Union(
        ACTION_SOURCES.map((source) => Type.Literal(source)),
        {
          default: 'system_generated',
          rule: faultOf('', 'one_of', { choices: ACTION_SOURCES.join(', ') }),
        },
      ),
      testEventCode: Type.Optional(Type.String({ pattern: '^\\w{1,64}$', rule: faultOf('', 'test_event_code') })),
      baseUrl: address({ default: 'https://graph.facebook.com' }),
      apiVersion: version('v26.0'),
    },
    closed,
  ),
  secret: Type.Object({ accessToken: word }, closed),
} as const
const Google = {
  kind: 'google',
  clickIds: ['gclid', 'gbraid', 'wbraid'],
  settings: Type.Object(
    {
      customerId: number,
      loginCustomerId: Type.Optional(number),
      conversionActions: Type.Object(
        { purchase: Type.Optional(number), lead: Type.Optional(number), booking: Type.Optional(number) },
        { ...closed, minProperties: 1, rule: faultOf('', 'conversion_actions') },
      ),
      consent: Type.Optional(
        Type.Union([Type.Literal('granted'), Type.Literal('denied')], {
          rule: faultOf('', 'one_of', { choices: 'granted, denied' }),
        }),
      ),
      baseUrl: address({ default: 'https://googleads.googleapis.com' }),
      tokenUrl: address({ default: 'https://oauth2.googleapis.com/token' }),
      apiVersion: version('v26'),
    },
    closed,
  ),
  secret: Type.Object(
    {
      developerToken: word,
      clientId: word,
      clientSecret: word,
      refreshToken: word,
    },
    closed,
  ),
} as const
const signingKey = Type.String({
  pattern: '^[\\x21-\\x7e]{16,256}$',
  rule: faultOf('', 'signing_key', { min: 16, max: 256 }),
})
const Webhook = {
  kind: 'webhook',
  clickIds: ['gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'ttclid'],
  settings: Type.Object(
    {
      url: address(),
      // Whether to send conversions of contacts without a click id, too.
      all: Type.Boolean({ default: false, rule: faultOf('', 'boolean') }),
    },
    closed,
  ),
  secret: Type.Object(
    {
      signingKey,
      // The previous key. It signs in addition to the current one until `until` (epoch milliseconds).
      former: Type.Optional(Type.Object({ signingKey, until: Type.Number() }, closed)),
    },
    closed,
  ),
} as const

export type MetaSettings = Static<typeof Meta.settings>
export type MetaSecret = Static<typeof Meta.secret>
export type GoogleSettings = Static<typeof Google.settings>
export type GoogleSecret = Static<typeof Google.secret>
export type WebhookSettings = Static<typeof Webhook.settings>
export type WebhookSecret = Static<typeof Webhook.secret>

export const DESTINATION_KINDS = ['meta', 'google', 'webhook'] as const
export type DestinationKind = (typeof DESTINATION_KINDS)[number]
const KINDS = { meta: Meta, google: Google, webhook: Webhook }

/** The complete settings and secret of one kind of destination. */
export type DestinationSetup =
  | { kind: 'meta'; settings: MetaSettings; secret: MetaSecret }
  | { kind: 'google'; settings: GoogleSettings; secret: GoogleSecret }
  | { kind: 'webhook'; settings: WebhookSettings; secret: WebhookSecret }

/** The parts of a secret that people enter. */
export const SECRET_PARTS: Record<DestinationKind, readonly string[]> = {
  meta: ['accessToken'],
  google: ['developerToken', 'clientId', 'clientSecret', 'refreshToken'],
  webhook: ['signingKey'],
}

/** The settings or the secret are invalid. No message contains any part of the secret. */
export class SettingsError extends Error {
  override name = 'SettingsError'
  /** At least one issue. `path`: name of the setting, or of the part of the secret. */
  readonly issues: readonly [Issue, ...Issue[]]

  /** The message of the error is the message of the first issue. */
  constructor(issues: readonly [Issue, ...Issue[]]) {
    super(issues[0].message)
    this.issues = issues
  }
}

/** Checks the settings and the secret, and adds defaults. Throws SettingsError. */
export function readSetup(kind: DestinationKind, settings: object, secret: object): DestinationSetup {
  return { kind, settings: checkSettings(kind, settings), secret: checkSecret(kind, secret) } as DestinationSetup
}

/** Checks the settings and returns them with defaults. Throws SettingsError. */
export const checkSettings = (kind: DestinationKind, settings: object): object => check(KINDS[kind].settings, settings)

/** Checks the secret. Throws SettingsError. */
export const checkSecret = (kind: DestinationKind, secret: object): object => check(KINDS[kind].secret, secret)

/**
 * Converts an operator's texts to settings. Neither checks them nor adds defaults, because defaults may change between
 * versions.
 */
export function convertSettings(kind: DestinationKind, texts: object): object {
  return Value.Convert(KINDS[kind].settings, structuredClone(texts)) as object
}

/** Returns the names of the settings of a kind; nested ones in the form `conversionActions.purchase`. */
export function settingNames(kind: DestinationKind): string[] {
  return Object.entries<TObject>(KINDS[kind].settings.properties as unknown as Record<string, TObject>).flatMap(
    ([name, { properties }]) => (properties ? Object.keys(properties).map((part) => `${name}.${part}`) : [name]),
  )
}

/** Returns the kinds of click id of which a contact must have one; null when every contact qualifies. */
export function clickIdsOf(kind: DestinationKind, settings: { all?: boolean }): readonly ClickKind[] | null {
  return settings.all === true ? null : KINDS[kind].clickIds
}

/** Limits the response, because a caller may send any number of invalid fields. */
const MAX_ISSUES = 20

function check(schema: TObject, given: object): object {
  const candidate: unknown = Value.Default(schema, structuredClone(given))
  const issues = new Map<string, Issue>()
  for (const fault of Value.Errors(schema, candidate)) {
    const issue = describe(fault)
    if (!issues.has(issue.path)) issues.set(issue.path, issue)
    if (issues.size === MAX_ISSUES) break
  }
  const [first, ...others] = issues.values()
  if (first === undefined) return candidate as object
  throw new SettingsError([first, ...others])
}

function describe({ path, schema, value }: ValueError): Issue {
  const name = path.slice(1).replaceAll('/', '.')
  const rule = schema['rule'] as Fault | undefined
  if (value === undefined) {
    const missing = faultOf(name, 'missing')
    return rule === undefined ? missing : { ...missing, message: `${missing.message}: it ${rule.message}` }
  }
  return rule === undefined ? { ...faultOf('', 'no_setting', { name }), path: name } : moveFault(rule, name)
}
