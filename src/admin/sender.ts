/** `admin sender …`: the senders of a channel. What a channel has is its sender `default`: see `admin channel`. */
import { commandActor } from '../audit/command-actor.ts'
import type { Config } from '../config.ts'
import { type SenderOutcome, createSender, deleteSender, updateSender } from '../messages/channels/change-sender.ts'
import { type SenderKey, connectionOf, listSenders, loadSender } from '../messages/channels/channels.ts'
import { pauseSender, resumeSender } from '../messages/channels/pause-channel.ts'
import { fromOf, fromSetting } from '../messages/channels/sender-address.ts'
import { showSenders, statusOf } from '../messages/channels/show-sender.ts'
import type { Sql } from '../stores/postgres.ts'
import { requireBusiness } from './business.ts'
import { type Command, type CommandArguments, CommandError, type Option, UsageError } from './command.ts'
import { openGuard } from './find-destination.ts'
import { formatTable } from './format-help.ts'
import { withPostgres } from './open-postgres.ts'
import {
  KEY,
  PROVIDER_NAMES,
  SECRETS_KEY_NOTE,
  changeSettings,
  readChannelSecret,
  readKey,
  readProvider,
} from './read-channel.ts'
import { checkId } from './read-option.ts'
import { secretsKeyMissing } from './require-secrets-key.ts'

const SENDER: Record<string, Option> = { ...KEY, key: { value: 'KEY', help: 'The sender' } }
const CHANGES: Record<string, Option> = {
  set: { value: 'NAME=VALUE', help: 'A setting of the provider; repeat for more', repeated: true },
  'secret-file': {
    value: '[NAME=]FILE',
    help: 'File with a secret, or - for standard input; repeat for more, with their names',
    repeated: true,
  },
  from: { value: 'ADDRESS', help: 'Where its messages come from' },
  fallback: { value: 'KEY', help: 'The sender in its place while it is paused or unreachable; empty for none' },
}
const NOTES = `admin channel add --help lists the settings of each provider.\n${SECRETS_KEY_NOTE}`

const keyOf = (args: CommandArguments): SenderKey => ({ ...readKey(args), sender: args.text('key') ?? '' })

/** The fields that options name, beside the settings of the provider. */
function readCommon(args: CommandArguments, { channel }: SenderKey): Record<string, unknown> {
  const [from, fallback] = [args.text('from'), args.text('fallback')]
  if (from !== undefined && fromSetting(channel) === undefined)
    throw new UsageError(`--from is not for ${channel}, which has no address`)
  return {
    ...(from !== undefined && { from }),
    ...(fallback !== undefined && { fallback: fallback === '' ? null : fallback }),
  }
}

const depsOf = async (sql: Sql, config: Config) => ({
  sql,
  guard: await openGuard(config, sql),
  secretsKey: config.secretsKey,
  now: Date.now,
})

async function report(sql: Sql, config: Config, { businessId }: SenderKey, outcome: SenderOutcome) {
  switch (outcome.kind) {
    case 'saved': {
      const [sender] = await showSenders({ sql, config, now: Date.now }, businessId, [outcome.sender])
      return { json: { sender }, text: `The sender ${outcome.sender.key} is set up` }
    }
    case 'faults':
      throw new UsageError(outcome.faults.map(({ message }) => message).join('\n'))
    case 'no_secrets_key':
      throw await secretsKeyMissing(sql)
    case 'taken':
      throw new CommandError('sender_exists', 'There is a sender of this key already')
    case 'too_many':
      throw new CommandError('limit_reached', 'The channel has as many senders as it can have')
    case 'locked':
      throw new CommandError('locked', `${outcome.field} of a sender never changes`)
    case 'not_found':
      throw notFound()
  }
}

const notFound = () => new CommandError('sender_not_found', 'The channel has no such sender')

const add: Command = {
  name: 'sender add',
  summary: 'Add a sender to a channel, with a connection of its own or that of another one',
  options: {
    ...SENDER,
    provider: { value: PROVIDER_NAMES.join('|'), help: 'How it is sent' },
    via: { value: 'KEY', help: 'In place of a provider: the sender whose connection it uses' },
    ...CHANGES,
  },
  required: ['business', 'channel', 'key'],
  notes: NOTES,
  async run(config, args) {
    const key = keyOf(args)
    const [via, named] = [args.text('via'), args.text('provider')]
    if ((via === undefined) === (named === undefined)) throw new UsageError('Give --provider or --via')
    const connection = via === undefined ? await readConnection(args, named ?? '') : { via }
    const body = { key: key.sender, channel: key.channel, ...connection, ...readCommon(args, key) }
    return withPostgres(config, async (sql) => {
      await requireBusiness(sql, key.businessId)
      const change = { businessId: key.businessId, actor: commandActor('admin sender add') }
      return report(sql, config, key, await createSender(await depsOf(sql, config), change, body))
    })
  },
}

async function readConnection(args: CommandArguments, name: string): Promise<Record<string, unknown>> {
  const provider = readProvider(name)
  return { ...changeSettings(provider, {}, args), ...(await readChannelSecret(provider, args)) }
}

const update: Command = {
  name: 'sender update',
  summary: 'Change a sender; what you leave out stays as it is',
  options: { ...SENDER, ...CHANGES, default: { help: 'Make it the default sender of its channel' } },
  required: ['business', 'channel', 'key'],
  notes: NOTES,
  async run(config, args) {
    const key = keyOf(args)
    const isDefault = args.flag('default')
    return withPostgres(config, async (sql) => {
      const stored = await loadSender(sql, key)
      if (stored === null) throw notFound()
      const provider = readProvider(stored.provider)
      const settings = args.flag('set') ? changeSettings(provider, stored.ownSettings, args) : {}
      const removed = Object.keys(stored.ownSettings).filter((name) => args.flag('set') && !(name in settings))
      const body = {
        ...Object.fromEntries(removed.map((name) => [name, null])),
        ...settings,
        ...(await readChannelSecret(provider, args)),
        ...readCommon(args, key),
        ...(isDefault && { isDefault }),
      }
      if (Object.keys(body).length === 0) throw new UsageError('Nothing to change. Give at least one option')
      const change = { ...key, actor: commandActor('admin sender update') }
      return report(sql, config, key, await updateSender(await depsOf(sql, config), change, body))
    })
  },
}

const list: Command = {
  name: 'sender list',
  summary: 'List the senders of a business, without their secrets',
  options: { business: { value: 'ID', help: 'The business that sends' } },
  required: ['business'],
  async run(config, args) {
    const businessId = checkId('--business', args.text('business') ?? '')
    return withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      const stored = await listSenders(sql, businessId)
      const lines = stored.map((one) => [
        one.channel,
        one.isDefault ? `${one.key} (default)` : one.key,
        one.via === null ? one.provider : `via ${one.via}`,
        fromOf(one) ?? '',
        statusOf(one),
        one.pauseReason ?? '',
      ])
      return {
        json: { senders: await showSenders({ sql, config, now: Date.now }, businessId, stored) },
        text: formatTable([['CHANNEL', 'KEY', 'PROVIDER', 'FROM', 'STATUS', 'PAUSED'], ...lines]),
      }
    })
  },
}

const remove: Command = {
  name: 'sender remove',
  summary: 'Delete a sender; reports about its messages count for 7 days',
  options: { ...SENDER, yes: { help: 'Confirm: this cannot be undone' } },
  required: ['business', 'channel', 'key'],
  async run(config, args) {
    const key = keyOf(args)
    if (!args.flag('yes')) throw new UsageError('The sender and its secrets would be deleted. To confirm, add --yes')
    const change = { ...key, actor: commandActor('admin sender remove') }
    const outcome = await withPostgres(config, (sql) => deleteSender({ sql, now: Date.now }, change))
    if (outcome.kind === 'not_found') throw notFound()
    if (outcome.kind === 'default')
      throw new CommandError('in_use', 'The channel needs a default sender. To reset it: admin channel remove')
    if (outcome.kind === 'in_use') throw new CommandError('in_use', `It is used by ${outcome.names.join(', ')}`)
    return { json: { key: key.sender, removed: true }, text: `The sender ${key.sender} was deleted` }
  },
}

/** A sender that uses another connection is paused and resumed with it. */
const turning = (verb: 'pause' | 'resume', summary: string, turn: typeof pauseSender): Command => ({
  name: `sender ${verb}`,
  summary,
  options: SENDER,
  required: ['business', 'channel', 'key'],
  async run(config, args) {
    const key = keyOf(args)
    const isDone = await withPostgres(config, async (sql) => {
      const stored = await loadSender(sql, key)
      if (stored === null) throw notFound()
      const connection = connectionOf(key.businessId, stored)
      return turn(sql, { ...connection, actor: commandActor(`admin sender ${verb}`) }, Date.now())
    })
    const said = isDone ? `${verb}d` : 'as it was'
    return { json: { key: key.sender, [`${verb}d`]: isDone }, text: `The sender ${key.sender} is ${said}` }
  },
})

export const SENDER_COMMANDS: Command[] = [
  add,
  list,
  update,
  remove,
  turning('pause', 'Pause a sender: its messages wait, or take its fallback', pauseSender),
  turning('resume', 'Resume a paused sender: the messages that wait are sent', resumeSender),
]
