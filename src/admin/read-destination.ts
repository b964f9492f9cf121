/** Reads the options of `admin destination`. Each function throws UsageError or CommandError; no message contains any of a secret. */
import { SealError } from '../stores/seal-secret.ts'
import {
  DESTINATION_KINDS,
  type DestinationKind,
  SettingsError,
  checkSecret,
  checkSettings,
  convertSettings,
  settingNames,
} from '../deliveries/settings.ts'
import { RefusedTargetError, resolveTarget } from '../outbound/resolve-target.ts'
import type { TargetGuard } from '../outbound/target-guard.ts'
import { CONVERSION_TYPES, type ConversionType } from '../rules/events/facts.ts'
import { CommandError, UsageError, type CommandArguments } from './command.ts'
import { readSecretFile } from './read-secret-file.ts'

/** The name of the secret where it is a single string. Google's has four parts, written as JSON. */
const SINGLE: Partial<Record<DestinationKind, string>> = { meta: 'accessToken', webhook: 'signingKey' }

/** The settings that are addresses. */
const ADDRESSES = ['url', 'baseUrl', 'tokenUrl']
const LOOKUP_MS = 5000

/** Refuses settings with an address that conversions may not be sent to. One whose host is unknown now may become known. */
export async function checkTargets(settings: Record<string, unknown>, guard: TargetGuard): Promise<void> {
  for (const name of ADDRESSES) {
    const address = settings[name]
    if (typeof address !== 'string') continue
    try {
      await resolveTarget(new URL(address), guard, AbortSignal.timeout(LOOKUP_MS))
    } catch (error) {
      if (error instanceof RefusedTargetError) throw new UsageError(`--set ${name}: ${error.message}`)
    }
  }
}

export function readKind(args: CommandArguments): DestinationKind {
  const kind = DESTINATION_KINDS.find((known) => known === args.text('kind'))
  if (!kind) throw new UsageError(`--kind must be one of ${DESTINATION_KINDS.join(', ')}`)
  return kind
}

/** The conversion types to send; undefined when the option is absent. For Google, those that have a conversion action. */
export function readTypes(
  kind: DestinationKind,
  settings: { conversionActions?: object },
  args: CommandArguments,
): ConversionType[] | undefined {
  const named = args.text('types')?.split(',')
  if (kind === 'google') {
    if (named)
      throw new UsageError('--types is not for google. Google gets the types for which you set a conversion action')
    return CONVERSION_TYPES.filter((type) => type in (settings.conversionActions ?? {}))
  }
  if (named?.some((name) => !CONVERSION_TYPES.includes(name as ConversionType)))
    throw new UsageError(`--types must be a comma-separated list of ${CONVERSION_TYPES.join(', ')}`)
  return named && CONVERSION_TYPES.filter((type) => named.includes(type))
}

/** The secret in --secret-file; undefined when the option is absent. */
export async function readSecret(kind: DestinationKind, args: CommandArguments): Promise<object | undefined> {
  const file = args.text('secret-file')
  if (file === undefined) return undefined
  const content = (await readSecretFile(file)).trim()
  const name = SINGLE[kind]
  const secret = name === undefined ? readParts(content) : { [name]: content }
  return withOperatorErrors(() => checkSecret(kind, secret), '--secret-file: ')
}

function readParts(json: string): object {
  try {
    const parts: unknown = JSON.parse(json)
    if (typeof parts === 'object' && parts !== null) return parts
  } catch {
    // The parser's message would contain the secret.
  }
  throw new UsageError(
    '--secret-file must hold {"developerToken": …, "clientId": …, "clientSecret": …, "refreshToken": …}',
  )
}

/** The settings `before`, changed by each --set; an empty value removes a setting. */
export function readSettings(kind: DestinationKind, before: object, args: CommandArguments): Record<string, unknown> {
  const settings = structuredClone(before) as Record<string, unknown>
  for (const typed of args.texts('set')) {
    const [, path = '', value = ''] = /^([\w.]+)=(.*)$/s.exec(typed) ?? []
    if (!settingNames(kind).includes(path)) {
      const names = settingNames(kind).join(', ')
      throw new UsageError(`--set must be NAME=VALUE, with one of these names: ${names}${path && `; not "${path}"`}`)
    }
    const [name = '', part] = path.split('.')
    if (part === undefined) put(settings, name, value)
    else put((settings[name] ??= {}) as Record<string, unknown>, part, value)
  }
  const converted = convertSettings(kind, settings)
  withOperatorErrors(() => checkSettings(kind, converted), '--set: ')
  return converted as Record<string, unknown>
}

function put(settings: Record<string, unknown>, name: string, value: string): void {
  if (value === '') delete settings[name]
  else settings[name] = value.trim()
}

/** Turns errors of settings and secrets into those of commands. `at`: the option, put before the message. */
export function withOperatorErrors<Result>(read: () => Result, at = ''): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(at + error.message)
    if (error instanceof SealError) throw new CommandError('secrets_key', error.message)
    throw error
  }
}
