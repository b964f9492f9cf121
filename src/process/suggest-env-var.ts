/** For who types a setting as if it were an option. */
import { VARIABLES } from '../config.ts'

/**
 * The setting that the first such option is meant for, as the environment takes it: `PORT=9000` for `--port 9000`. An address
 * or a key is not repeated. Undefined when none of the words names one.
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
