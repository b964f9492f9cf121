/** What an operator says of a destination. Each throws UsageError, or CommandError, without a word of a secret. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { SealError } from '../deliveries/seal-secret.ts'
import {
  DESTINATION_KINDS,
  type DestinationKind,
  SettingsError,
  checkSecret,
  checkSettings,
  convertSettings,
  settingNames,
} from '../deliveries/settings.ts'
import { CONVERSION_TYPES, type ConversionType } from '../rules/events/facts.ts'
import { CommandError, UsageError, type Words } from './command.ts'

/** The one word that a secret is; Google's has four parts, written as JSON. */
const SINGLE: Partial<Record<DestinationKind, string>> = { meta: 'accessToken', webhook: 'signingKey' }

export function readKind(words: Words): DestinationKind {
  const kind = DESTINATION_KINDS.find((known) => known === words.text('kind'))
  if (!kind) throw new UsageError(`--kind must be one of ${DESTINATION_KINDS.join(', ')}`)
  return kind
}

/** Undefined: as they were, or all. Of Google it is those that have a conversion action. */
export function readTypes(
  kind: DestinationKind,
  settings: { conversionActions?: object },
  words: Words,
): ConversionType[] | undefined {
  const named = words.text('types')?.split(',')
  if (kind === 'google') {
    if (named) throw new UsageError('--types is not for google: it takes what has a conversion action')
    return CONVERSION_TYPES.filter((type) => type in (settings.conversionActions ?? {}))
  }
  if (named?.some((name) => !CONVERSION_TYPES.includes(name as ConversionType)))
    throw new UsageError(`--types must be a list of ${CONVERSION_TYPES.join(', ')}`)
  return named && CONVERSION_TYPES.filter((type) => named.includes(type))
}

/** As --secret-file tells it; undefined when it was not given. */
export async function readSecret(kind: DestinationKind, words: Words): Promise<object | undefined> {
  const file = words.text('secret-file')
  if (file === undefined) return undefined
  const word = (await readWhole(file)).trim()
  const name = SINGLE[kind]
  const secret = name === undefined ? readParts(word) : { [name]: word }
  return explained(() => checkSecret(kind, secret), '--secret-file: ')
}

async function readWhole(file: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--secret-file cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`)
  }
}

function readParts(json: string): object {
  try {
    const parts: unknown = JSON.parse(json)
    if (typeof parts === 'object' && parts !== null) return parts
  } catch {
    // What a parser has to say would repeat the secret.
  }
  throw new UsageError(
    '--secret-file must hold {"developerToken": …, "clientId": …, "clientSecret": …, "refreshToken": …}',
  )
}

/** The settings as they were, with those that were typed; one that is typed empty is taken away. */
export function readSettings(kind: DestinationKind, before: object, words: Words): Record<string, unknown> {
  const settings = structuredClone(before) as Record<string, unknown>
  for (const typed of words.texts('set')) {
    const [, path = '', value = ''] = /^([\w.]+)=(.*)$/s.exec(typed) ?? []
    if (!settingNames(kind).includes(path)) {
      const names = settingNames(kind).join(', ')
      throw new UsageError(`--set must name one of ${names}, and a value after =${path && `, not "${path}"`}`)
    }
    const [name = '', part] = path.split('.')
    if (part === undefined) put(settings, name, value)
    else put((settings[name] ??= {}) as Record<string, unknown>, part, value)
  }
  const converted = convertSettings(kind, settings)
  explained(() => checkSettings(kind, converted), '--set: ')
  return converted as Record<string, unknown>
}

function put(settings: Record<string, unknown>, name: string, value: string): void {
  if (value === '') delete settings[name]
  else settings[name] = value.trim()
}

/** What cannot be used was typed so: where, `at` tells. */
export function explained<Result>(read: () => Result, at = ''): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(at + error.message)
    if (error instanceof SealError) throw new CommandError('secrets_key', error.message)
    throw error
  }
}
