/** `admin …`: the commands for operators. */
import { ConfigError, type Config } from '../config.ts'
import { RequestError } from '../errors.ts'
import { ImportError } from '../imports/import-error.ts'
import { nearestWord } from '../process/nearest-word.ts'
import { NOT_RUNNING } from '../stores/data-dir.ts'
import { unreachableCode } from '../stores/require-stores.ts'
import { type Command, CommandError, parseArguments, type Report, UsageError } from './command.ts'
import { formatCommandList, formatHelp, withoutControls } from './format-help.ts'

/**
 * The commands by their first word. Each group is loaded on demand, because together they need most of Sluice's
 * modules.
 */
const GROUPS: Record<string, () => Promise<Command[]>> = {
  business: async () => (await import('./business.ts')).BUSINESS_COMMANDS,
  key: async () => (await import('./key.ts')).KEY_COMMANDS,
  user: async () => (await import('./user.ts')).USER_COMMANDS,
  segment: async () => (await import('./segment.ts')).SEGMENT_COMMANDS,
  campaign: async () => (await import('./campaign.ts')).CAMPAIGN_COMMANDS,
  demo: async () => (await import('./demo.ts')).DEMO_COMMANDS,
  'dead-letters': async () => (await import('./dead-letters.ts')).DEAD_LETTER_COMMANDS,
  destination: async () => (await import('./destination.ts')).DESTINATION_COMMANDS,
  deliveries: async () => (await import('./deliveries.ts')).DELIVERY_COMMANDS,
  channel: async () => (await import('./channel.ts')).CHANNEL_COMMANDS,
  sender: async () => (await import('./sender.ts')).SENDER_COMMANDS,
  suppression: async () => (await import('./suppression.ts')).SUPPRESSION_COMMANDS,
  partitions: async () => (await import('./partitions.ts')).PARTITION_COMMANDS,
  import: async () => (await import('./import/main.ts')).IMPORT_COMMANDS,
  verify: async () => (await import('./verify/main.ts')).VERIFY_COMMANDS,
  recover: async () => (await import('./recover/main.ts')).RECOVER_COMMANDS,
}

/** Returns the group of a first word, or all commands for any other word, to list them. */
async function loadCommands(word: string | undefined): Promise<Command[]> {
  const named = Object.entries(GROUPS).filter(([name]) => name === word)
  const groups = named.length > 0 ? named : Object.entries(GROUPS)
  return (await Promise.all(groups.map(([, load]) => load()))).flat()
}

/** Runs one command. Returns its exit code: 0 done, 1 not possible, 2 mistyped. */
export async function runAdmin(argv: string[], config: Config): Promise<number> {
  const { out, err, exitCode } = await perform(argv, config)
  await write(process.stderr, err)
  await write(process.stdout, out)
  return exitCode
}

interface Output {
  out?: string
  err?: string
  exitCode: number
}

/**
 * Waits until the text is written, because the process may exit right after, and a pipe may accept only a part at once.
 */
function write(stream: NodeJS.WriteStream, text: string | undefined): Promise<void> {
  if (text === undefined) return Promise.resolve()
  return new Promise((resolve) => stream.write(`${withoutControls(text)}\n`, () => resolve()))
}

async function perform(argv: string[], config: Config): Promise<Output> {
  const commands = await loadCommands(argv[0])
  const command = commands.find(({ name }) => startsWith(argv, name))
  const asJson = argv.includes('--json')
  try {
    const { json, text, exitCode = 0 } = command ? await run(command, argv, config) : showCommands(commands, argv)
    return { out: asJson ? JSON.stringify(json) : text, exitCode }
  } catch (error) {
    const { code, message, exitCode } = explain(error, config)
    const hint = exitCode === 2 && command ? `\nSee: admin ${command.name} --help` : ''
    return { err: message + hint, exitCode, ...(asJson && { out: JSON.stringify({ error: { code, message } }) }) }
  }
}

const startsWith = (argv: string[], name: string) => name.split(' ').every((word, index) => argv[index] === word)

async function run(command: Command, argv: string[], config: Config): Promise<Report> {
  const args = parseArguments(command, argv.slice(command.name.split(' ').length))
  return args.flag('help') ? help(formatHelp(command)) : command.run(config, args)
}

const help = (text: string): Report => ({ json: { help: text }, text })

/**
 * Without a command, or with the first half of one: returns the help if it was requested, otherwise throws an error
 * that lists the commands.
 */
function showCommands(commands: Command[], argv: string[]): Report {
  const typed = argv.filter((word, at) => !isOption(word) && !mayBeValue(argv, at))
  const group = Object.hasOwn(GROUPS, typed[0] ?? '') ? (typed[0] ?? '') : ''
  const isUnknown = typed.length > 0 && group === ''
  const list = formatCommandList(isUnknown ? commands : commands.filter(({ name }) => name.startsWith(group)), group)
  if (argv.includes('--help') && !isUnknown) return help(list)
  const words = argv.filter((word) => !isOption(word))
  const named = commands.find(({ name }) => startsWith(typed, name) || startsWith(words, name))
  if (named) throw new UsageError(`Options come after the command: admin ${named.name} …`)
  const unknown = isUnknown ? typed[0] : wordAfter(argv, group)
  if (unknown === undefined) throw new UsageError(`A command is missing\n\n${list}`)
  throw new UsageError(describeUnknown([group, unknown].filter(Boolean).join(' '), findMeant(commands, typed), group))
}

const isOption = (word: string): boolean => word.startsWith('-')

/** What comes after an option may be its value, and a secret, so no message repeats it. */
const mayBeValue = (argv: string[], at: number): boolean => {
  const before = argv[at - 1]
  return before !== undefined && isOption(before) && before !== '--json' && before !== '--help'
}

/** Undefined when an option or nothing comes after it. */
function wordAfter(argv: string[], group: string): string | undefined {
  const next = group === '' ? undefined : argv[argv.indexOf(group) + 1]
  return next === undefined || isOption(next) ? undefined : next
}

/** In one line: which command there is not, which one was perhaps meant, and how to see all. */
function describeUnknown(unknown: string, meant: string | undefined, group: string): string {
  const question = meant === undefined ? '' : ` Did you mean "admin ${meant}"?`
  return `There is no command "admin ${unknown}".${question} To see all: admin ${group === '' ? '' : `${group} `}--help`
}

/** The command, or the first word of several, that is most similar to what was typed. */
function findMeant(commands: Command[], [first = '', second = '']: string[]): string | undefined {
  const group = nearestWord(first, Object.keys(GROUPS))
  if (group === undefined) return undefined
  const seconds = commands.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : []))
  const meant = nearestWord(second, seconds)
  if (meant !== undefined) return `${group} ${meant}`
  return group === first ? undefined : group
}

const UNDEFINED_TABLE = '42P01'

/** Returns the code and message for the operator. Unexpected errors keep their own message. */
function explain(error: unknown, { databaseUrl }: Config): { code: string; message: string; exitCode: number } {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, exitCode: 2 }
  if (error instanceof CommandError) return { code: error.code, message: error.message, exitCode: 1 }
  if (error instanceof ImportError)
    return { code: error.code, message: error.message, exitCode: error.code === 'usage' ? 2 : 1 }
  if (error instanceof ConfigError) return { code: 'config', message: error.message, exitCode: 1 }
  if (error instanceof RequestError) return { code: error.code, message: error.message, exitCode: 1 }
  const away = unreachableCode(error)
  if (away) {
    const details = `Postgres does not answer (${away})`
    // Without an address of your own, it is the Postgres of a `start` that has ended.
    const isEnded = databaseUrl === undefined && away === 'ECONNREFUSED'
    const message = isEnded ? `${NOT_RUNNING}\n${details}` : `${details}. Is Sluice running?`
    return { code: 'unavailable', message, exitCode: 1 }
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === UNDEFINED_TABLE)
    return { code: 'not_migrated', message: 'The database has no tables yet. Run `migrate`', exitCode: 1 }
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), exitCode: 1 }
}
