/**
 * Reads the options of `admin destination`. Each function throws UsageError or CommandError; no message contains any
 * part of a secret.
 */
import { SealError } from '../stores/seal-secret.ts'
import { type SettingText, TargetError } from '../deliveries/read-destination.ts'
import {
  DESTINATION_KINDS,
  type DestinationKind,
  SettingsError,
  checkSecret,
  settingNames,
} from '../deliveries/settings.ts'
import { CONVERSION_TYPES, type ConversionType } from '../rules/events/facts.ts'
import { CommandError, UsageError, type CommandArguments } from './command.ts'
import { readOptionFile } from './read-file.ts'

/** Name of the secret if it is a single string. Google's secret has four parts, written as JSON. */
const SINGLE: Partial<Record<DestinationKind, string>> = { meta: 'accessToken', webhook: 'signingKey' }

export function readKind(args: CommandArguments): DestinationKind {
  const kind = DESTINATION_KINDS.find((known) => known === args.text('kind'))
  if (!kind) throw new UsageError(`--kind must be one of ${DESTINATION_KINDS.join(', ')}`)
  return kind
}

/** Returns the conversion types in --types; undefined when the option is absent. */
export function readTypeNames(args: CommandArguments): ConversionType[] | undefined {
  const named = args.text('types')?.split(',')
  return named?.map((name) => {
    const type = CONVERSION_TYPES.find((known) => known === name)
    if (type) return type
    throw new UsageError(`--types must be a comma-separated list of ${CONVERSION_TYPES.join(', ')}`)
  })
}

/** Returns the secret in --secret-file; undefined when the option is absent. */
export async function readSecret(kind: DestinationKind, args: CommandArguments): Promise<object | undefined> {
  const file = args.text('secret-file')
  if (file === undefined) return undefined
  const content = (await readOptionFile('--secret-file', file, 'the secret')).trim()
  const name = SINGLE[kind]
  const secret = name === undefined ? readParts(content) : { [name]: content }
  return withOperatorErrors(() => checkSecret(kind, secret), '--secret-file')
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

/** Returns the settings in --set. */
export function readSettingTexts(kind: DestinationKind, args: CommandArguments): SettingText[] {
  return args.texts('set').map((typed) => {
    const [, name = '', value = ''] = /^([\w.]+)=(.*)$/s.exec(typed) ?? []
    if (settingNames(kind).includes(name)) return [name, value]
    const names = settingNames(kind).join(', ')
    throw new UsageError(`--set must be NAME=VALUE, with one of these names: ${names}${name && `; not "${name}"`}`)
  })
}

/** Converts errors of settings and secrets to those of commands. `option`: the option that was read. */
export async function withOperatorErrors<Result>(
  read: () => Result | Promise<Result>,
  option: '--set' | '--secret-file' = '--set',
): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(describe(error, option), { cause: error })
    if (error instanceof SealError) throw new CommandError('secrets_key', error.message)
    throw error
  }
}

function describe(error: SettingsError, option: string): string {
  const [{ path }] = error.issues
  if (error instanceof TargetError) return `--set ${path}: ${error.message}`
  return path === 'types' ? `--${error.message}` : `${option}: ${error.message}`
}
