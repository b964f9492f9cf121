/** `admin suppression …`: addresses that receive no messages. */
import { commandActor } from '../audit/command-actor.ts'
import { readBusiness } from '../businesses/businesses.ts'
import { liftSuppression, liftSuppressions } from '../messages/suppressions/lift.ts'
import { listSuppressions } from '../messages/suppressions/list-suppressions.ts'
import { MAX_SUPPRESSIONS, type Suppressed, addSuppressions } from '../messages/suppressions/suppress.ts'
import { findAddresses, isHeader } from '../rules/messages/listed-address.ts'
import {
  ADDRESS_CHANNELS,
  type AddressChannel,
  type ChannelAddress,
  SUPPRESSION_REASONS,
  type SuppressionReason,
} from '../rules/messages/suppression.ts'
import type { Sql } from '../stores/postgres.ts'
import { businessNotFound, requireBusiness } from './business.ts'
import { type Command, type CommandArguments, CommandError, type Option, UsageError } from './command.ts'
import { formatTable } from './format-help.ts'
import { withPostgres } from './open-postgres.ts'
import { readOptionFile } from './read-file.ts'
import { checkId, readInstant, readInteger } from './read-option.ts'
import { describeMore, truncateList } from './truncate-list.ts'

const MAX_LISTED = 10_000
/** Number of addresses per transaction. */
const ADDED_AT_ONCE = 500

const BUSINESS: Option = { value: 'ID', help: 'The business that sends' }
const CHANNEL: Option = { value: ADDRESS_CHANNELS.join('|'), help: 'The channel' }
const REASON: Option = { value: SUPPRESSION_REASONS.join('|'), help: 'Why the address is suppressed' }

const list: Command = {
  name: 'suppression list',
  summary: 'List the suppressed addresses of a business, newest first; the addresses themselves are not stored',
  options: {
    business: BUSINESS,
    channel: { ...CHANNEL, help: 'Only this channel' },
    reason: { ...REASON, help: 'Only this reason' },
    address: { value: 'ADDRESS', help: 'Only this email address or phone number' },
    limit: { value: 'N', help: `Maximum number, up to ${MAX_LISTED} (100)` },
  },
  required: ['business'],
  async run(config, args) {
    const businessId = readBusinessId(args)
    const limit = readInteger('--limit', args.text('limit') ?? '100', MAX_LISTED)
    const [channel, reason] = [readChannel(args), readReason(args)]
    const found = await withPostgres(config, async (sql) => {
      const addresses = readAddresses(args, channel, await readCountry(sql, businessId))
      return listSuppressions(sql, { businessId, before: null, limit: limit + 1 }, { channel, reason, addresses })
    })
    const { shown: suppressions, truncated } = truncateList(found, limit)
    const lines = suppressions.map((one) => [one.suppressionId, one.at, one.channel, one.reason])
    const table = formatTable([['SUPPRESSION', 'AT', 'CHANNEL', 'REASON'], ...lines])
    const more = describeMore(truncated, `these are the newest ${limit}`)
    return {
      json: { suppressions, truncated },
      text: (lines.length ? table : 'No address is suppressed, or none that matches') + more,
    }
  },
}

const add: Command = {
  name: 'suppression add',
  summary: 'Suppress addresses: no message goes to them',
  options: {
    business: BUSINESS,
    channel: { ...CHANNEL, help: 'The channel (email for an address with an @, else sms and whatsapp)' },
    address: { value: 'ADDRESS', help: 'An email address or a phone number; repeat for more', repeated: true },
    file: { value: 'FILE', help: 'File with one address in each line, or - for standard input' },
    reason: { ...REASON, help: 'Why (manual)' },
  },
  required: ['business'],
  notes: `A first line without an @ and without digits is a header, and is skipped. A line may have other cells beside the address, such as those of an export from a provider; a phone number beside them needs its + or leading 0. A line without an address, or with several, is reported by its number, and the others are suppressed. A business has at most ${MAX_SUPPRESSIONS} suppressions.`,
  async run(config, args) {
    const businessId = readBusinessId(args)
    const [channel, reason] = [readChannel(args), readReason(args) ?? 'manual']
    const typed = args.texts('address').map((text) => ({ text, where: JSON.stringify(text), isHeader: false }))
    const sent = [...typed, ...(await readLines(args))]
    if (sent.length === 0) throw new UsageError('Give --address or --file')
    const actor = commandActor('admin suppression add')
    const counts: Record<Suppressed, number> = { added: 0, known: 0, full: 0 }
    const refused: string[] = []
    await withPostgres(config, async (sql) => {
      const country = await readCountry(sql, businessId)
      const items = sent.flatMap(({ text, where, isHeader: isSkipped }) => {
        if (isSkipped) return []
        const read = findAddresses(text, channel, country)
        if (read.length === 0) refused.push(where)
        return read.map((one) => ({ ...one, reason }))
      })
      for (let at = 0; at < items.length; at += ADDED_AT_ONCE) {
        const some = items.slice(at, at + ADDED_AT_ONCE)
        for (const outcome of await addSuppressions(sql, { businessId, actor, now: Date.now() }, some))
          counts[outcome] += 1
      }
    })
    const isDone = refused.length + counts.full === 0
    const faults = [
      refused.length > 0 && `Not an address: ${refused.slice(0, 20).join(', ')}${refused.length > 20 ? ', …' : ''}`,
      counts.full > 0 && `Over the limit of ${MAX_SUPPRESSIONS}: ${counts.full}`,
    ].filter((fault) => fault !== false)
    return {
      json: { added: counts.added, known: counts.known, overLimit: counts.full, refused },
      text: [`Suppressed: ${counts.added}, known already: ${counts.known}`, ...faults].join('\n'),
      exitCode: isDone ? 0 : 1,
    }
  },
}

interface Line {
  text: string
  /** Which line of the file it is. */
  where: string
  isHeader: boolean
}

/** Returns the lines of --file that are not blank. */
async function readLines(args: CommandArguments): Promise<Line[]> {
  const file = args.text('file')
  if (file === undefined) return []
  const content = await readOptionFile('--file', file, 'one address a line')
  const lines = content.split(/\r?\n/).map((text, at) => ({ text, where: `line ${at + 1}` }))
  const filled = lines.filter(({ text }) => text.trim() !== '')
  return filled.map((line, place) => ({ ...line, isHeader: place === 0 && isHeader(line.text) }))
}

const lift: Command = {
  name: 'suppression lift',
  summary: 'Lift one suppression, or all with a reason: the addresses get messages again',
  options: {
    business: BUSINESS,
    id: { value: 'ID', help: 'The suppression' },
    reason: { ...REASON, help: 'All with this reason' },
    channel: { ...CHANNEL, help: 'With --reason: only those of this channel' },
    from: { value: 'TIME', help: 'With --reason: only those since this time, such as 2026-03-01T09:30Z' },
    to: { value: 'TIME', help: 'With --reason: only those until this time' },
    yes: { help: 'Confirm: messages go to these addresses again' },
  },
  required: ['business'],
  async run(config, args) {
    const businessId = readBusinessId(args)
    const [id, reason] = [args.text('id'), readReason(args)]
    if ((id === undefined) === (reason === null)) throw new UsageError('Give --id or --reason')
    const [channel, from, to] = [readChannel(args), readInstant(args, 'from'), readInstant(args, 'to')]
    if (id !== undefined && (channel ?? from ?? to) !== null)
      throw new UsageError('--channel, --from and --to belong to --reason')
    if (!args.flag('yes')) throw new UsageError('Messages would go to these addresses again. To confirm, add --yes')
    const by = { businessId, actor: commandActor('admin suppression lift') }
    const suppressionId = id === undefined ? null : checkId('--id', id)
    const lifted = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      if (suppressionId !== null) return liftOne(sql, by, suppressionId)
      return reason === null ? 0 : liftAll(sql, by, { reason, channel, from, to })
    })
    return { json: { lifted }, text: `Lifted: ${lifted}` }
  },
}

async function liftOne(sql: Sql, by: Parameters<typeof liftSuppression>[1], suppressionId: string): Promise<number> {
  if (await liftSuppression(sql, by, suppressionId)) return 1
  throw new CommandError('suppression_not_found', 'The business has no such suppression')
}

async function liftAll(
  sql: Sql,
  by: Parameters<typeof liftSuppressions>[1],
  ones: Parameters<typeof liftSuppressions>[2],
): Promise<number> {
  for (let lifted = 0; ;) {
    const some = await liftSuppressions(sql, by, ones)
    lifted += some.lifted
    if (!some.hasMore) return lifted
  }
}

const readBusinessId = (args: CommandArguments): string => checkId('--business', args.text('business') ?? '')

async function readCountry(sql: Sql, businessId: string): Promise<string | null> {
  const business = await readBusiness(sql, businessId)
  if (business === null) throw businessNotFound(businessId)
  return business.country
}

const readChannel = (args: CommandArguments): AddressChannel | null => readWord(args, 'channel', ADDRESS_CHANNELS)
const readReason = (args: CommandArguments): SuppressionReason | null => readWord(args, 'reason', SUPPRESSION_REASONS)

function readWord<Word extends string>(args: CommandArguments, option: string, words: readonly Word[]): Word | null {
  const typed = args.text(option)
  if (typed === undefined) return null
  const word = words.find((one) => one === typed)
  if (word === undefined) throw new UsageError(`--${option} must be one of ${words.join(', ')}`)
  return word
}

/** Reads `--address` like each channel does. Null when the option is absent. */
function readAddresses(
  args: CommandArguments,
  channel: AddressChannel | null,
  country: string | null,
): ChannelAddress[] | null {
  const typed = args.text('address')
  if (typed === undefined) return null
  const read = findAddresses(typed, channel, country)
  if (read.length === 0) throw new UsageError('--address must be an email address or a phone number')
  return read
}

export const SUPPRESSION_COMMANDS: Command[] = [list, add, lift]
