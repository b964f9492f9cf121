/** Suggests an environment variable when a setting was typed as a command-line option. */
import { VARIABLES } from '../config.ts'
import { nearestWord } from './nearest-word.ts'

/**
 * The setting for the first such option, also for a mistyped one, as an environment variable: `PORT=9000` for `--port 9000`. Values of
 * addresses, keys and passwords are left out. Undefined when no word names a setting.
 */
export function suggestEnvVar(words: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    const [, option = '', given] = /^--([a-z][a-z-]*)(?:=(.*))?$/.exec(word) ?? []
    const name = option === '' ? undefined : nearestWord(option.toUpperCase().replaceAll('-', '_'), VARIABLES)
    if (name === undefined) continue
    const value = given ?? words[at + 1]
    const isShown = value !== undefined && !value.startsWith('-') && !/_(URL|TOKEN|KEY|PASSWORD)$/.test(name)
    return `${name}=${isShown ? value : '…'}`
  }
  return undefined
}
