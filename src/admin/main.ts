/** `admin …`: the commands for operators. */
import { ConfigError, type Config } from '../config.ts'
import { RequestError } from '../errors.ts'
import { ImportError } from '../imports/import-error.ts'
import { unreachableCode } from '../stores/require-stores.ts'
import { BUSINESS_COMMANDS } from './business.ts'
import { CHANNEL_COMMANDS } from './channel.ts'
import { type Command, CommandError, parseArguments, type Report, UsageError } from './command.ts'
import { DEAD_LETTER_COMMANDS } from './dead-letters.ts'
import { DELIVERY_COMMANDS } from './deliveries.ts'
import { DEMO_COMMANDS } from './demo.ts'
import { DESTINATION_COMMANDS } from './destination.ts'
import { IMPORT_COMMANDS } from './import/main.ts'
import { KEY_COMMANDS } from './key.ts'
import { PARTITION_COMMANDS } from './partitions.ts'
import { formatCommandList, formatHelp, withoutControls } from './format-help.ts'
import { RECOVER_COMMANDS } from './recover/main.ts'
import { SEGMENT_COMMANDS } from './segment.ts'
import { SUPPRESSION_COMMANDS } from './suppression.ts'
import { USER_COMMANDS } from './user.ts'
import { VERIFY_COMMANDS } from './verify/main.ts'

const COMMANDS: Command[] = [
  ...BUSINESS_COMMANDS,
  ...KEY_COMMANDS,
  ...USER_COMMANDS,
  ...SEGMENT_COMMANDS,
  ...DEMO_COMMANDS,
  ...DEAD_LETTER_COMMANDS,
  ...DESTINATION_COMMANDS,
  ...DELIVERY_COMMANDS,
  ...CHANNEL_COMMANDS,
  ...SUPPRESSION_COMMANDS,
  ...PARTITION_COMMANDS,
  ...IMPORT_COMMANDS,
  ...VERIFY_COMMANDS,
  ...RECOVER_COMMANDS,
]

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

/** Waits until the text is written: the process may exit right after, and a pipe may take only a part at once. */
function write(stream: NodeJS.WriteStream, text: string | undefined): Promise<void> {
  if (text === undefined) return Promise.resolve()
  return new Promise((resolve) => stream.write(`${withoutControls(text)}\n`, () => resolve()))
}

async function perform(argv: string[], config: Config): Promise<Output> {
  const command = COMMANDS.find(({ name }) => startsWith(argv, name))
  const asJson = argv.includes('--json')
  try {
    const { json, text, exitCode = 0 } = command ? await run(command, argv, config) : showCommands(argv)
    return { out: asJson ? JSON.stringify(json) : text, exitCode }
  } catch (error) {
    const { code, message, exitCode } = explain(error)
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

/** Without a command, or with the first half of one: help if it was asked for, otherwise an error that lists the commands. */
function showCommands(argv: string[]): Report {
  const group = argv[0]?.startsWith('-') ? '' : (argv[0] ?? '')
  const commands = COMMANDS.filter(({ name }) => name.split(' ')[0] === group)
  const list = formatCommandList(commands.length ? commands : COMMANDS, commands.length ? group : '')
  if (argv.includes('--help')) return help(list)
  const typed = argv.filter((word) => !word.startsWith('-')).join(' ')
  const named = COMMANDS.find(({ name }) => typed === name || typed.startsWith(`${name} `))
  if (named) throw new UsageError(`Options come after the command: admin ${named.name} …`)
  throw new UsageError(`${typed ? `There is no command "admin ${typed}"` : 'A command is missing'}\n\n${list}`)
}

const UNDEFINED_TABLE = '42P01'

/** Code and message for the operator; other errors than the expected ones keep their own message. */
function explain(error: unknown): { code: string; message: string; exitCode: number } {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, exitCode: 2 }
  if (error instanceof CommandError) return { code: error.code, message: error.message, exitCode: 1 }
  if (error instanceof ImportError)
    return { code: error.code, message: error.message, exitCode: error.code === 'usage' ? 2 : 1 }
  if (error instanceof ConfigError) return { code: 'config', message: error.message, exitCode: 1 }
  if (error instanceof RequestError) return { code: error.code, message: error.message, exitCode: 1 }
  const away = unreachableCode(error)
  if (away)
    return { code: 'unavailable', message: `Postgres does not answer (${away}). Is Sluice running?`, exitCode: 1 }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === UNDEFINED_TABLE)
    return { code: 'not_migrated', message: 'The database has no tables yet. Run `migrate`', exitCode: 1 }
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), exitCode: 1 }
}
