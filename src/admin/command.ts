/** The type of an operator's command, and the parser of its command line. */
import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { nearestWord } from '../process/nearest-word.ts'
import { optionOf } from '../process/option-of.ts'

export interface Option {
  /** Placeholder for the value in the help. A flag has none. */
  value?: string
  help: string
  /** Whether the option may be given several times. */
  repeated?: boolean
}

/**
 * Adds the default of each option to its help, for commands that create something. Commands that change something have
 * no defaults.
 */
export function showDefaults(
  options: Record<string, Option>,
  defaults: Record<string, string>,
): Record<string, Option> {
  const entries = Object.entries(options).map(([name, option]) => {
    const fallback = defaults[name]
    return [name, fallback === undefined ? option : { ...option, help: `${option.help} (${fallback})` }] as const
  })
  return Object.fromEntries(entries)
}

/** The parsed and checked arguments of one command. */
export interface CommandArguments {
  positional(index: number): string
  text(option: string): string | undefined
  texts(option: string): string[]
  flag(option: string): boolean
}

/** The output of a command: a JSON document, the same as text, and the exit code (default: 0). */
export interface Report {
  json: unknown
  text: string
  exitCode?: number
}

export interface Command {
  /** As typed, such as `business create`. */
  name: string
  summary: string
  /** Names of the positional arguments, all required. */
  positionals?: string[]
  options?: Record<string, Option>
  /** Options that must be given. */
  required?: string[]
  /** Shown by `--help` below the options. */
  notes?: string
  run(config: Config, args: CommandArguments): Promise<Report>
}

/** Masks a key that was typed in the wrong place, because the output of commands often ends up in logs. */
const hideKeys = (message: string): string => message.replaceAll(/\b[a-z]+_live_\w{4,}/gi, '…')

/** The command was mistyped; exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'

  constructor(message?: string, options?: ErrorOptions) {
    super(hideKeys(message ?? ''), options)
  }
}

/** The command was understood but failed; exit code 1. `code`: stable, in snake_case. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly code: string

  constructor(code: string, message: string) {
    super(hideKeys(message))
    this.code = code
  }
}

const COMMON: Record<string, Option> = {
  json: { help: 'Print one JSON document on one line' },
  help: { help: 'Show this help' },
}

export function listOptions(command: Command): Record<string, Option> {
  return { ...command.options, ...COMMON }
}

/** Parses the arguments after the command's name. Throws UsageError. */
export function parseArguments(command: Command, argv: string[]): CommandArguments {
  const { values, positionals } = parse(command, argv)
  const args: CommandArguments = {
    positional: (index) => positionals[index] ?? '',
    text: (option) => values[option]?.at(-1),
    texts: (option) => values[option] ?? [],
    flag: (option) => option in values,
  }
  if (!args.flag('help')) checkComplete(command, args, { positionals, argv })
  return args
}

function parse(command: Command, argv: string[]): { values: Record<string, string[]>; positionals: string[] } {
  const options = Object.fromEntries(
    Object.entries(listOptions(command)).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: true },
    ]),
  )
  try {
    const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true })
    const texts = Object.entries(values).map(([name, given]) => [name, [given].flat().map(String)] as const)
    return { values: Object.fromEntries(texts), positionals }
  } catch (error) {
    // The rest of Node's message explains how to pass the option as a positional argument.
    const [reason = ''] = (error as Error).message.split('. To specify')
    throw new UsageError(`${reason}${suggestOption(reason, Object.keys(options))}`, { cause: error })
  }
}

function suggestOption(reason: string, names: readonly string[]): string {
  const [, unknown] = /^Unknown option '--([^']+)'/.exec(reason) ?? []
  const meant = unknown === undefined ? undefined : nearestWord(unknown, names)
  return meant === undefined ? '' : `. Did you mean --${meant}?`
}

function checkComplete(
  command: Command,
  args: CommandArguments,
  { positionals, argv }: { positionals: string[]; argv: string[] },
): void {
  const names = command.positionals ?? []
  const missing = names[positionals.length]
  if (missing) throw new UsageError(`${missing} is missing`)
  const extra = positionals[names.length]
  if (extra !== undefined) throw new UsageError(describeExtra(extra, argv) + nameOptions(command, args))
  for (const [name, { value, repeated }] of Object.entries(listOptions(command))) {
    if (value && !repeated && args.texts(name).length > 1) throw new UsageError(`--${name} was given more than once`)
  }
  const absent = command.required?.find((name) => args.text(name) === undefined)
  if (absent) throw new UsageError(`--${absent} is missing`)
}

/** Names the options that take a value and were not given: the argument is probably meant for one of them. */
function nameOptions(command: Command, args: CommandArguments): string {
  const open = Object.entries(command.options ?? {}).filter(([name, { value }]) => value && !args.flag(name))
  if (open.length === 0) return ''
  return `. A value comes after its option: ${open.map(([name, { value }]) => `--${name} ${value}`).join(', ')}`
}

/** What comes after an option without a value may be a secret that the operator meant as its value. */
function describeExtra(extra: string, argv: string[]): string {
  const before = argv[argv.indexOf(extra) - 1] ?? ''
  return before.startsWith('-') ? `Unexpected argument after ${optionOf(before)}` : `Unexpected argument "${extra}"`
}
