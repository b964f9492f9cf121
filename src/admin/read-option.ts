/** Checks the values of options. Each function throws a UsageError that names the option. */
import { SettingError, readWhole } from '../businesses/settings.ts'
import { readIso } from '../rules/events/read-iso.ts'
import { type CommandArguments, UsageError } from './command.ts'

/** Reads a setting. `what`: the option as the operator types it, such as `--name`. */
export function readOption<Text, Value>(what: string, text: Text, read: (text: Text) => Value): Value {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof SettingError) throw new UsageError(`${what} ${error.message}`, { cause: error })
    throw error
  }
}

/** Reads a whole number from 1 to `max`. */
export const readInteger = (what: string, text: string, max: number): number =>
  readOption(what, text, (given) => readWhole(given, max))

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns a UUID in lower case. `what`: the option or argument, as the help names it. */
export function checkId(what: string, text: string): string {
  if (UUID.test(text)) return text.toLowerCase()
  throw new UsageError(`${what} must be an id such as 0199a0f4-…, not "${text}"`)
}

/** Returns epoch milliseconds; null when the option is absent. */
export function readInstant(args: CommandArguments, option: string): number | null {
  const typed = args.text(option)
  if (typed === undefined) return null
  const at = readIso(typed)
  if (at === undefined) throw new UsageError(`--${option} must be an ISO 8601 date or date-time`)
  return at
}
