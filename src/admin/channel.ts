/** `admin channel …`: how a business sends its messages. */
import { commandActor } from '../audit/command-actor.ts'
import type { Config } from '../config.ts'
import { type ChannelKey, connectionOf, listChannels, loadChannel } from '../messages/channels/channels.ts'
import { resumeSender } from '../messages/channels/pause-channel.ts'
import { PROVIDERS } from '../messages/channels/providers.ts'
import type { SentSettings } from '../messages/channels/read-settings.ts'
import { givenLimits, removeChannel, saveChannel } from '../messages/channels/save-channel.ts'
import { type ShownChannel, showChannels } from '../messages/channels/show-channel.ts'
import { makeSigningKey } from '../outbound/standard-webhooks.ts'
import type { Fault } from '../rules/faults.ts'
import type { Sql } from '../stores/postgres.ts'
import { requireBusiness } from './business.ts'
import { type Command, CommandError, type Option, UsageError } from './command.ts'
import { openGuard } from './find-destination.ts'
import { formatTable } from './format-help.ts'
import { withPostgres } from './open-postgres.ts'
import {
  KEY,
  PROVIDER_NAMES,
  SECRETS_KEY_NOTE,
  changeSettings,
  readKey,
  readChannelSecret,
  readProvider,
  secretNames,
  settingNames,
} from './read-channel.ts'
import { checkId } from './read-option.ts'
import { secretsKeyMissing } from './require-secrets-key.ts'
import { test } from './test-channel.ts'

const SETTINGS: Record<string, Option> = {
  set: { value: 'NAME=VALUE', help: 'A setting of the provider; repeat for more', repeated: true },
  'secret-file': {
    value: '[NAME=]FILE',
    help: 'File with a secret, or - for standard input; repeat for more, with their names',
    repeated: true,
  },
}
const NOTES = PROVIDERS.map((provider) => {
  const secrets = secretNames(provider).join(', ')
  const inFile = secrets === '' ? '' : `; --secret-file: ${secrets}`
  return `Settings for ${provider.name}: ${settingNames(provider).join(', ') || 'none'}${inFile}`
}).join('\n')

const add: Command = {
  name: 'channel add',
  summary: 'Set up a channel that has no settings yet',
  options: { ...KEY, provider: { value: PROVIDER_NAMES.join('|'), help: 'How it is sent' }, ...SETTINGS },
  required: ['business', 'channel', 'provider'],
  notes: `${NOTES}\nFor a webhook without --secret-file, a key is generated.\n${SECRETS_KEY_NOTE}`,
  async run(config, args) {
    const key = readKey(args)
    const provider = readProvider(args.text('provider') ?? '')
    const given = await readChannelSecret(provider, args)
    const secret = given ?? (provider.name === 'webhook' ? { secret: makeSigningKey() } : {})
    const sent = { ...changeSettings(provider, {}, args), ...secret }
    const saved = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, key.businessId)
      return save(sql, config, 'channel add', key, ({ revision }) => {
        if (revision === null) return sent
        throw new CommandError('channel_exists', 'The channel is set up already. To change it: admin channel update')
      })
    })
    return report(saved, given === undefined ? secret : {})
  },
}

const update: Command = {
  name: 'channel update',
  summary: 'Change the settings of a channel; what you leave out stays as it is',
  options: {
    ...KEY,
    ...SETTINGS,
    'new-signing-key': { help: 'Generate a new key, shown only once; only for a webhook' },
  },
  required: ['business', 'channel'],
  notes:
    `${NOTES}\n--set NAME= resets a setting to its default. For another provider, remove the channel and add it again.\n` +
    'When the key of a webhook changes, both keys sign for 24 hours (header webhook-signature).',
  async run(config, args) {
    const key = readKey(args)
    if (!['set', 'secret-file', 'new-signing-key'].some((option) => args.flag(option)))
      throw new UsageError('Nothing to change. Give at least one option')
    const made = args.flag('new-signing-key') ? { secret: makeSigningKey() } : undefined
    const saved = await withPostgres(config, async (sql) => {
      const provider = readProvider((await requireSetUp(sql, key)).provider)
      if (made && provider.name !== 'webhook') throw new UsageError('--new-signing-key is only for webhooks')
      if (made && args.flag('secret-file')) throw new UsageError('Give --new-signing-key or --secret-file, not both')
      const secret = made ?? (await readChannelSecret(provider, args))
      return save(sql, config, 'channel update', key, (before) => {
        if (before.revision === null) throw notSetUp(key)
        if (before.provider !== provider.name)
          throw new CommandError('channel_changed', 'The channel has got another provider meanwhile')
        return { ...changeSettings(provider, { ...before.settings, ...givenLimits(before) }, args), ...secret }
      })
    })
    return report(saved, made ?? {})
  },
}

async function save(
  sql: Sql,
  config: Config,
  command: string,
  key: ChannelKey,
  change: Parameters<typeof saveChannel>[2],
): Promise<ShownChannel | undefined> {
  const deps = { sql, guard: await openGuard(config, sql), secretsKey: config.secretsKey, now: Date.now }
  const saved = await saveChannel(deps, { ...key, actor: commandActor(`admin ${command}`) }, change)
  if (saved.kind === 'saved') return (await showChannels({ sql, config }, key.businessId, [saved.channel]))[0]
  if (saved.kind === 'faults') throw new UsageError(saved.faults.map(nameSecretOption).join('\n'))
  throw await secretsKeyMissing(sql)
}

const SECRETS = new Set(PROVIDERS.flatMap(secretNames))

/** The API calls a secret by its name alone; here it comes in a file. */
const nameSecretOption = ({ path, message }: Fault): string =>
  SECRETS.has(path) ? `${message}. Give it with --secret-file ${path}=FILE` : message

/** `made`: a key that this command has generated. */
function report(saved: ShownChannel | undefined, made: SentSettings) {
  const signingKey = made['secret'] as string | undefined
  const copy = signingKey === undefined ? '' : `. Copy its signing key now, it is shown only once:\n${signingKey}`
  return {
    json: { channel: saved, ...(signingKey !== undefined && { signingKey }) },
    text: `The channel ${saved?.channel} is set up${copy}`,
  }
}

async function requireSetUp(sql: Sql, key: ChannelKey) {
  const stored = await loadChannel(sql, key)
  if (stored.revision === null) throw notSetUp(key)
  return stored
}

const notSetUp = ({ channel }: ChannelKey) =>
  new CommandError('channel_not_found', `The channel ${channel} has no settings. To set it up: admin channel add`)

const list: Command = {
  name: 'channel list',
  summary: 'List the channels of a business, without their secrets',
  options: { business: { value: 'ID', help: 'The business that sends' } },
  required: ['business'],
  async run(config, args) {
    const businessId = checkId('--business', args.text('business') ?? '')
    const { stored, channels } = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      const all = await listChannels(sql, businessId)
      return { stored: all, channels: await showChannels({ sql, config }, businessId, all) }
    })
    const lines = stored.map((one) => [
      one.channel,
      one.provider,
      JSON.stringify({ ...one.settings, ...givenLimits(one) }),
      one.pauseReason ?? '',
    ])
    return {
      json: { channels },
      text: formatTable([['CHANNEL', 'PROVIDER', 'SETTINGS', 'PAUSED'], ...lines]),
    }
  },
}

const remove: Command = {
  name: 'channel remove',
  summary: 'Delete the settings of a channel: its messages are then only logged, not sent',
  options: { ...KEY, yes: { help: 'Confirm: this cannot be undone' } },
  required: ['business', 'channel'],
  async run(config, args) {
    const key = readKey(args)
    if (!args.flag('yes'))
      throw new UsageError('Messages of this channel would only be logged, not sent. To confirm, add --yes')
    const isRemoved = await withPostgres(config, (sql) =>
      removeChannel({ sql, now: Date.now }, { ...key, actor: commandActor('admin channel remove') }),
    )
    if (!isRemoved) throw notSetUp(key)
    return {
      json: { channel: key.channel, removed: true },
      text: `The settings of the channel ${key.channel} were deleted`,
    }
  },
}

const resume: Command = {
  name: 'channel resume',
  summary: 'Resume a paused channel: the messages that wait are sent',
  options: KEY,
  required: ['business', 'channel'],
  notes: 'channel list says why it was paused.',
  async run(config, args) {
    const key = readKey(args)
    const isResumed = await withPostgres(config, async (sql) => {
      const sender = connectionOf(key.businessId, await requireSetUp(sql, key))
      return resumeSender(sql, { ...sender, actor: commandActor('admin channel resume') }, Date.now())
    })
    return {
      json: { channel: key.channel, resumed: isResumed },
      text: `The channel ${key.channel} ${isResumed ? 'goes on' : 'was not paused'}`,
    }
  },
}

export const CHANNEL_COMMANDS: Command[] = [add, list, update, remove, resume, test]
