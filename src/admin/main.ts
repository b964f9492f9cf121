/** `admin …`: what operators do until there is a dashboard. */
import { ConfigError, type Config } from '../config.ts'
import { BUSINESS_COMMANDS } from './business.ts'
import { type Command, CommandError, readWords, type Report, UsageError } from './command.ts'
import { DEAD_LETTER_COMMANDS } from './dead-letters.ts'
import { IMPORT_COMMANDS } from './import/main.ts'
import { KEY_COMMANDS } from './key.ts'
import { helpOf, helpOfAll } from './show-help.ts'

const COMMANDS: Command[] = [...BUSINESS_COMMANDS, ...KEY_COMMANDS, ...DEAD_LETTER_COMMANDS, ...IMPORT_COMMANDS]

/** Runs one command. Exit code: 0 done, 1 not possible, 2 typed wrongly. */
export async function runAdmin(argv: string[], config: Config): Promise<number> {
  const command = COMMANDS.find(({ name }) => startsWith(argv, name))
  const json = argv.includes('--json')
  try {
    if (!command) return showCommands(argv)
    const words = readWords(command, argv.slice(command.name.split(' ').length))
    if (words.flag('help')) return answer({ json: { help: helpOf(command) }, text: helpOf(command) }, json)
    return answer(await command.run(config, words), json)
  } catch (error) {
    return refuse(error, json, command)
  }
}

const startsWith = (argv: string[], name: string) => name.split(' ').every((word, index) => argv[index] === word)

/** No command, or the first half of one: help if it was asked for, else a fault that lists what there is. */
function showCommands(argv: string[]): number {
  const group = argv[0]?.startsWith('-') ? '' : (argv[0] ?? '')
  const commands = COMMANDS.filter(({ name }) => name.split(' ')[0] === group)
  const help = helpOfAll(commands.length ? commands : COMMANDS, commands.length ? group : '')
  if (argv.includes('--help')) return answer({ json: { help }, text: help }, argv.includes('--json'))
  const typed = argv.filter((word) => !word.startsWith('-')).join(' ')
  throw new UsageError(`${typed ? `There is no command "admin ${typed}"` : 'A command is missing'}\n\n${help}`)
}

/** With `--json` standard output holds the document alone. */
function answer({ json, text, exitCode = 0 }: Report, asJson: boolean): number {
  process.stdout.write(`${asJson ? JSON.stringify(json) : text}\n`)
  return exitCode
}

function refuse(error: unknown, asJson: boolean, command: Command | undefined): number {
  const { code, message, exitCode } = explain(error)
  const hint = exitCode === 2 && command ? `\nSee: admin ${command.name} --help` : ''
  process.stderr.write(`${message}${hint}\n`)
  if (asJson) process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`)
  return exitCode
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'CONNECT_TIMEOUT', 'CONNECTION_CLOSED'])
const UNDEFINED_TABLE = '42P01'

/** What went wrong, in an operator's words; what is not foreseen is thrown on, with its stack. */
function explain(error: unknown): { code: string; message: string; exitCode: number } {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, exitCode: 2 }
  if (error instanceof CommandError) return { code: error.code, message: error.message, exitCode: 1 }
  if (error instanceof ConfigError) return { code: 'config', message: error.message, exitCode: 1 }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (UNREACHABLE.has(code))
    return { code: 'unavailable', message: `Postgres does not answer (${code}): is Sluice running?`, exitCode: 1 }
  if (code === UNDEFINED_TABLE)
    return { code: 'not_migrated', message: 'The database has no tables yet: run `migrate`', exitCode: 1 }
  throw error
}
