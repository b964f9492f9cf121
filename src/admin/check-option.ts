/** Values of options, as an operator writes them. Each throws UsageError that names the option. */
import { SettingError, readWhole } from '../businesses/settings.ts'
import { UsageError } from './command.ts'

/** Reads a setting. `what`: the option as the operator writes it. */
export function checkSetting<Text, Value>(what: string, text: Text, read: (text: Text) => Value): Value {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof SettingError) throw new UsageError(`${what} ${error.message}`, { cause: error })
    throw error
  }
}

/** A whole number from 1 to `max`. */
export const checkWhole = (what: string, text: string, max: number): number =>
  checkSetting(what, text, (given) => readWhole(given, max))

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** An id that Sluice has given out. `what` is what the operator would call it. */
export function checkId(what: string, text: string): string {
  if (UUID.test(text)) return text.toLowerCase()
  throw new UsageError(`${what} must be an id such as 0199a0f4-…, not "${text}"`)
}
