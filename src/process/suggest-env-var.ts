/** Suggests an environment variable when a setting was typed as a command-line option. */
import { VARIABLES } from '../config.ts'

/**
 * Returns the environment variable for the first such option: `PORT=9000` for `--port 9000`. Omits the values of
 * addresses and keys. Undefined when no word names a setting.
 */
export function suggestEnvVar(words: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    const [, option = '', given] = /^--([a-z][a-z-]*)(?:=(.*))?$/.exec(word) ?? []
    const name = option.toUpperCase().replaceAll('-', '_')
    if (!VARIABLES.includes(name)) continue
    const value = given ?? words[at + 1]
    const isShown = value !== undefined && !value.startsWith('-') && !/_(URL|TOKEN|KEY)$/.test(name)
    return `${name}=${isShown ? value : '…'}`
  }
  return undefined
}
