/** Suggests an environment variable when a setting was typed as a command-line option. */
import { VARIABLES, showSetting } from '../config.ts'
import { nearestWord } from './nearest-word.ts'

/**
 * Returns the setting of the first such option, which may be mistyped: `PORT=9000` for `--port 9000`, and `…` for a
 * secret. Undefined when no word names a setting.
 */
export function suggestEnvVar(words: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    const [, option = '', given] = /^--([a-z][a-z-]*)(?:=(.*))?$/.exec(word) ?? []
    const name = option === '' ? undefined : nearestWord(option.toUpperCase().replaceAll('-', '_'), VARIABLES)
    if (name === undefined) continue
    const value = given ?? words[at + 1]
    return `${name}=${showSetting(name, value?.startsWith('-') ? undefined : value)}`
  }
  return undefined
}
