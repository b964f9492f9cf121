/** Reads the options of `admin channel`. Each function throws UsageError; no message contains any part of a secret. */
import { Value } from '@sinclair/typebox/value'
import type { ChannelKey } from '../messages/channels/channels.ts'
import { LimitSettings } from '../messages/channels/limits.ts'
import { PROVIDERS } from '../messages/channels/providers.ts'
import type { Provider } from '../messages/channels/provider.ts'
import type { SentSettings } from '../messages/channels/read-settings.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../messages/templates/template.ts'
import { UsageError, type CommandArguments, type Option } from './command.ts'
import { readOptionFile } from './read-file.ts'
import { checkId } from './read-option.ts'

export const KEY: Record<string, Option> = {
  business: { value: 'ID', help: 'The business that sends' },
  channel: { value: MESSAGE_CHANNELS.join('|'), help: 'The channel' },
}

export const SECRETS_KEY_NOTE =
  'Use the same SECRETS_KEY as the front doors and the workers; `start` sees to that itself.'

export const PROVIDER_NAMES = PROVIDERS.map(({ name }) => name)

function readChannelName(args: CommandArguments): MessageChannel {
  const channel = MESSAGE_CHANNELS.find((name) => name === args.text('channel'))
  if (!channel) throw new UsageError(`--channel must be one of ${MESSAGE_CHANNELS.join(', ')}`)
  return channel
}

export const readKey = (args: CommandArguments): ChannelKey => ({
  businessId: checkId('--business', args.text('business') ?? ''),
  channel: readChannelName(args),
})

export function readProvider(name: string): Provider {
  const provider = PROVIDERS.find((one) => one.name === name)
  if (!provider) throw new UsageError(`--provider must be one of ${PROVIDER_NAMES.join(', ')}`)
  return provider
}

export const settingNames = ({ settings }: Provider): string[] => [
  ...Object.keys(settings.properties),
  ...Object.keys(LimitSettings.properties),
]
export const secretNames = ({ secrets }: Provider): string[] => Object.keys(secrets.properties)

/** Returns the settings `before` with the changes of --set. An empty value removes a setting. */
export function changeSettings(provider: Provider, before: object, args: CommandArguments): SentSettings {
  const settings: SentSettings = { ...before }
  for (const typed of args.texts('set')) {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(typed) ?? []
    const names = settingNames(provider)
    if (!names.includes(name))
      throw new UsageError(
        `--set must be NAME=VALUE, with one of these names: ${names.join(', ')}${name && `; not "${name}"`}`,
      )
    if (value === '') delete settings[name]
    else settings[name] = value
  }
  const converted = Value.Convert(LimitSettings, Value.Convert(provider.settings, settings))
  return { ...(converted as SentSettings), provider: provider.name }
}

/**
 * Returns the secrets in the files of --secret-file, by name: FILE contains the provider's first secret, NAME=FILE the
 * one with that name. Undefined when the option is absent.
 */
export async function readChannelSecret(provider: Provider, args: CommandArguments): Promise<SentSettings | undefined> {
  const typed = args.texts('secret-file')
  if (typed.length === 0) return undefined
  const names = secretNames(provider)
  const [first] = names
  if (first === undefined) throw new UsageError(`--secret-file is not for ${provider.name}, which has no secret`)
  const secrets: SentSettings = {}
  for (const one of typed) {
    const named = names.find((name) => one.startsWith(`${name}=`))
    const [name, file] = named === undefined ? [first, one] : [named, one.slice(named.length + 1)]
    if (Object.hasOwn(secrets, name)) throw new UsageError(`--secret-file was given more than once for ${name}`)
    secrets[name] = (await readOptionFile('--secret-file', file, 'the secret')).trim()
  }
  return secrets
}
