/** Prints the messages of `start` on the terminal. Prints the keys only at the first start. */
import { join, relative, resolve } from 'node:path'
import { LINK_HOURS } from '../accounts/links.ts'
import { type Config, DEFAULT_DATA_DIR } from '../config.ts'
import { enginesFile } from '../stores/data-dir.ts'
import { VERSION } from '../version.ts'
import { type DemoKeys, demoKeysFile } from './demo-business.ts'

export interface Greeting {
  url: string
  config: Config
  engines: [name: string, address: string][]
  /** Set only at the first start. */
  demo: DemoKeys | undefined
  /** Sign-in link of the first operator, until they have used one. */
  link: string | undefined
}

export function printGreeting({ url, config, engines, demo, link }: Greeting): void {
  say(`Sluice ${VERSION} runs at ${url}\n`)
  const rows = [
    ['Dashboard', `${config.publicUrl ?? url}/dashboard`],
    ['API', `${url}/openapi`],
    ...engines,
    ['Data', `${here(config.dataDir)} (logs: *.log; addresses with passwords: ${here(enginesFile(config.dataDir))})`],
  ]
  for (const [name = '', text = ''] of rows) say(`  ${name.padEnd(11)}${text}`)
  if (demo) say(`\n${introduce(url, demo, here(demoKeysFile(config.dataDir)))}`)
  if (link !== undefined) say(`\n${invite(link, config.dataDir)}`)
  say('\nCtrl-C stops it all.')
}

/** Returns the path relative to the working directory, or unchanged when it is outside of it. */
const here = (path: string): string => (relative('', path).startsWith('..') ? path : relative('', path))

const introduce = (
  url: string,
  demo: DemoKeys,
  file: string,
): string => `A business "Demo" was created (${demo.businessId}). Its keys, also in ${file}:

  secret       ${demo.secretKey}
  publishable  ${demo.publishableKey}

Record an event:

  curl -X POST ${url}/api/sdk/track \\
    -H 'Authorization: Bearer ${demo.secretKey}' \\
    -H 'Content-Type: application/json' \\
    -d '{"event":"purchase","identity":{"email":"ada@example.com"},"value":49.9,"currency":"USD"}'`

const invite = (
  link: string,
  dataDir: string,
): string => `Open the dashboard as its operator. The link works once, for ${LINK_HOURS['sign-in']} hours:

  ${link}

Until it is used, each start prints a new link. After that, for another: ${nameDataDir(dataDir)}npm run admin -- user link EMAIL`

/** Returns the beginning of a command line that lets `admin` find this installation: empty for the default directory. */
function nameDataDir(dataDir: string): string {
  if (dataDir === resolve(DEFAULT_DATA_DIR)) return ''
  const word = /^[\w./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", `'\\''`)}'`
  return `DATA_DIR=${word} `
}

/**
 * Prints the log file of a process instead of its last lines. Those are JSON, which is hard to read inside another line
 * of JSON.
 */
export function printFailure(name: string, { dataDir }: Config): { error(facts: object, message: string): void } {
  const file = here(join(dataDir, `${name}.log`))
  return { error: (_facts, message) => void process.stderr.write(`${name} ${message}. Its log: ${file}\n`) }
}

/** On standard error, so that standard output has only what stays of use: addresses, keys, links. */
export function printStep(line: string): void {
  process.stderr.write(`${line}\n`)
}

export function printGoodbye(): void {
  say('\nStopping: the front door, the workers, then the engines.')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
