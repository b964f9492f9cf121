/** What an operator's command is, and how its words are read from the command line. */
import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'

export interface Option {
  /** What stands for the value in the help; a flag has none. */
  value?: string
  help: string
  /** May be given several times. */
  repeated?: boolean
}

/** The options of what makes a thing, with what each is when it is left out. What changes a thing has no such defaults. */
export function showDefaults(
  options: Record<string, Option>,
  defaults: Record<string, string>,
): Record<string, Option> {
  const told = Object.entries(options).map(([name, option]) => {
    const fallback = defaults[name]
    return [name, fallback === undefined ? option : { ...option, help: `${option.help} (${fallback})` }] as const
  })
  return Object.fromEntries(told)
}

/** The words of one call, read and known to be allowed. */
export interface Words {
  positional(index: number): string
  text(option: string): string | undefined
  texts(option: string): string[]
  flag(option: string): boolean
}

/** What a command has to say: one JSON document, the same for a person, and the exit code (0 unless said). */
export interface Report {
  json: unknown
  text: string
  exitCode?: number
}

export interface Command {
  /** As typed, such as `business create`. */
  name: string
  summary: string
  /** Names of the words that are no options, all required. */
  positionals?: string[]
  options?: Record<string, Option>
  /** Options that must be given. */
  required?: string[]
  /** More for `--help`, below the options. */
  notes?: string
  run(config: Config, words: Words): Promise<Report>
}

/** A key that was typed in the wrong place is not repeated: what a command says is often kept. */
const hideKeys = (message: string): string => message.replaceAll(/\b[a-z]+_live_\w{4,}/gi, '…')

/** The command was typed wrongly: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'

  constructor(message?: string, options?: ErrorOptions) {
    super(hideKeys(message ?? ''), options)
  }
}

/** The command was understood and cannot be done: exit code 1. `code` is stable snake_case. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly code: string

  constructor(code: string, message: string) {
    super(hideKeys(message))
    this.code = code
  }
}

const COMMON: Record<string, Option> = {
  json: { help: 'Answer with one JSON document on one line' },
  help: { help: 'Show this help' },
}

export function optionsOf(command: Command): Record<string, Option> {
  return { ...command.options, ...COMMON }
}

/** Reads what follows the command's name. Throws UsageError. */
export function readWords(command: Command, argv: string[]): Words {
  const { values, positionals } = parse(command, argv)
  const words: Words = {
    positional: (index) => positionals[index] ?? '',
    text: (option) => values[option]?.at(-1),
    texts: (option) => values[option] ?? [],
    flag: (option) => option in values,
  }
  if (!words.flag('help')) checkComplete(command, words, positionals)
  return words
}

function parse(command: Command, argv: string[]): { values: Record<string, string[]>; positionals: string[] } {
  const options = Object.fromEntries(
    Object.entries(optionsOf(command)).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: true },
    ]),
  )
  try {
    const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true })
    const texts = Object.entries(values).map(([name, given]) => [name, [given].flat().map(String)] as const)
    return { values: Object.fromEntries(texts), positionals }
  } catch (error) {
    // What follows the first sentence is about how to pass the option as a positional.
    throw new UsageError((error as Error).message.split('. To specify')[0])
  }
}

function checkComplete(command: Command, words: Words, positionals: string[]): void {
  const names = command.positionals ?? []
  const missing = names[positionals.length]
  if (missing) throw new UsageError(`${missing} is missing`)
  const extra = positionals[names.length]
  if (extra !== undefined) throw new UsageError(`"${extra}" was not expected`)
  for (const [name, { value, repeated }] of Object.entries(optionsOf(command))) {
    if (value && !repeated && words.texts(name).length > 1) throw new UsageError(`--${name} was given more than once`)
  }
  const absent = command.required?.find((name) => words.text(name) === undefined)
  if (absent) throw new UsageError(`--${absent} is missing`)
}
