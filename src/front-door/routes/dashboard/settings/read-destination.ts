/** Reads a destination in a request by the rules of the operators' commands, and reports each fault at its field. */
import { type Static, Type } from '@sinclair/typebox'
import type { WantedChange } from '../../../../deliveries/change-destination.ts'
import type { Destination } from '../../../../deliveries/destinations.ts'
import { type SettingText, checkTargets, readSettings, readTypes } from '../../../../deliveries/read-destination.ts'
import {
  DESTINATION_KINDS,
  type DestinationKind,
  SECRET_PARTS,
  SettingsError,
  checkSecret,
  settingNames,
} from '../../../../deliveries/settings.ts'
import type { Issue } from '../../../../errors.ts'
import { makeSigningKey } from '../../../../outbound/standard-webhooks.ts'
import type { TargetGuard } from '../../../../outbound/target-guard.ts'
import { CONVERSION_TYPES } from '../../../../rules/events/facts.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { compileCheck, invalidRequest, uncleanIssues } from '../../../http/check-body.ts'
import { text } from '../../body-fields.ts'
import { oneOf } from '../../reply-fields.ts'

/**
 * The addresses of Meta and Google can only be changed on the server. The stored secret is sent to them, and must not
 * reach a person who may change the destination.
 */
const ON_SERVER = ['baseUrl', 'tokenUrl']
const SETTING_NAMES = [...new Set(DESTINATION_KINDS.flatMap(settingNames))].filter((name) => !ON_SERVER.includes(name))

const texts = (names: readonly string[], description: string) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.String({ maxLength: 4096 }))])), {
    description,
  })

const FIELDS = {
  name: Type.Optional(text(1, 200, 'Display name.')),
  types: Type.Optional(
    Type.Array(oneOf(CONVERSION_TYPES), {
      minItems: 1,
      maxItems: CONVERSION_TYPES.length,
      description: 'The conversions to send. Not for Google, which gets those with a conversion action.',
    }),
  ),
  settings: Type.Optional(
    texts(
      SETTING_NAMES,
      'Those of its kind, as texts. An empty text resets one. Addresses of platforms are not among them.',
    ),
  ),
  secret: Type.Optional(texts(Object.values(SECRET_PARTS).flat(), 'All parts of the secret of its kind.')),
}

export const NewSchema = Type.Object({ kind: oneOf(DESTINATION_KINDS), ...FIELDS })
export const checkNew = compileCheck(NewSchema)

export const ChangeSchema = Type.Object({
  ...FIELDS,
  active: Type.Optional(Type.Boolean({ description: 'Whether conversions are queued for it and sent.' })),
  newSigningKey: Type.Optional(
    Type.Boolean({
      description: 'Makes a new signing key. For 24 hours the former one signs, too. Only for a webhook.',
    }),
  ),
})
export const checkChange = compileCheck(ChangeSchema)

/** `signingKey`: the key that was made because none was sent. */
export async function readNewDestination(sent: Static<typeof NewSchema>, guard: TargetGuard) {
  const { kind, name = kind } = sent
  const issues = uncleanFields(sent)
  const signingKey = kind === 'webhook' && sent.secret === undefined ? makeSigningKey() : null
  const settings = await gather(issues, ofSetting, () => readSettings(kind, {}, textsOf(sent.settings)))
  const types = settings && (await gather(issues, ofSetting, () => readTypes(kind, settings, sent.types)))
  const secret = await readSecret(issues, kind, signingKey === null ? (sent.secret ?? {}) : { signingKey })
  if (settings && issues.length === 0) await gather(issues, ofSetting, () => checkTargets(settings, guard))
  if (!settings || !secret || issues.length > 0) throw invalidRequest(issues)
  return { kind, name, types: types ?? [...CONVERSION_TYPES], settings, secret, signingKey }
}

/** `parts`: the checked parts of the new secret; undefined when the secret is not changed. */
export async function readChange(
  { kind, settings: before }: Destination,
  sent: Static<typeof ChangeSchema>,
): Promise<{ wanted: Omit<WantedChange, 'secret'>; parts: object | undefined; signingKey: string | null }> {
  const { name, active, types, newSigningKey } = sent
  const issues = uncleanFields(sent)
  if (Object.keys(sent).length === 0) issues.push(faultOf('', 'a_field'))
  if (newSigningKey && kind !== 'webhook') issues.push(faultOf('newSigningKey', 'only_for_webhooks'))
  if (newSigningKey && sent.secret) issues.push(faultOf('newSigningKey', 'excludes_secret'))
  const signingKey = newSigningKey && issues.length === 0 ? makeSigningKey() : null
  const given = signingKey === null ? sent.secret : { signingKey }
  const settings = textsOf(sent.settings)
  // Stored settings that an older version allowed do not prevent another change.
  const after =
    settings.length > 0 ? await gather(issues, ofSetting, () => readSettings(kind, before, settings)) : before
  if (after) await gather(issues, ofSetting, () => readTypes(kind, after, types))
  const parts = given && (await readSecret(issues, kind, given))
  if (issues.length > 0) throw invalidRequest(issues)
  const wanted = {
    ...(name !== undefined && { name }),
    ...(active !== undefined && { active }),
    ...(types && { types }),
    settings,
  }
  return { wanted, parts, signingKey }
}

type Texts = Record<string, string | undefined>

const textsOf = (sent: Texts = {}): SettingText[] =>
  Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== undefined)

function uncleanFields({ name, settings }: { name?: string; settings?: Texts }): Issue[] {
  const entries = textsOf(settings).map(([path, value]) => [ofSetting(path), value])
  return uncleanIssues({ name, ...(Object.fromEntries(entries) as Texts) })
}

const readSecret = (issues: Issue[], kind: DestinationKind, parts: Texts): Promise<object | undefined> =>
  gather(
    issues,
    (path) => `secret.${path}`,
    () => checkSecret(kind, parts),
  )

const ofSetting = (path: string): string => (path === 'types' ? path : `settings.${path}`)

/** Adds the faults of `read` to `issues`, and then returns undefined. */
async function gather<Result>(
  issues: Issue[],
  fieldOf: (path: string) => string,
  read: () => Result | Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    issues.push(...issuesOf(error, fieldOf))
    return undefined
  }
}

/** Returns the faults of settings, at their fields in the request. */
export const issuesOf = ({ issues }: SettingsError, fieldOf = ofSetting): Issue[] =>
  issues.map((issue) => ({ ...issue, path: fieldOf(issue.path) }))
