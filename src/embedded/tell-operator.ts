/** What `start` says on the terminal: little, and the keys on the first start alone. */
import { relative } from 'node:path'
import { type Config, enginesFile } from '../config.ts'
import { type DemoKeys, demoKeysFile } from './demo-business.ts'

export interface Greeting {
  url: string
  config: Config
  engines: [name: string, address: string][]
  /** Of the first start. */
  demo: DemoKeys | undefined
}

export function greet({ url, config, engines, demo }: Greeting): void {
  const here = (path: string) => (relative('', path).startsWith('..') ? path : relative('', path))
  say(`Sluice runs at ${url}\n`)
  const rows = [
    ['API', `${url}/openapi`],
    ...engines,
    ['Data', `${here(config.dataDir)} (logs: *.log; addresses with passwords: ${here(enginesFile(config.dataDir))})`],
  ]
  for (const [name = '', text = ''] of rows) say(`  ${name.padEnd(11)}${text}`)
  if (demo) say(`\n${introduce(url, demo, here(demoKeysFile(config.dataDir)))}`)
  say('\nCtrl-C stops it all.')
}

const introduce = (
  url: string,
  demo: DemoKeys,
  file: string,
): string => `A business "Demo" was made (${demo.businessId}). Its keys, kept in ${file}:

  secret       ${demo.secretKey}
  publishable  ${demo.publishableKey}

Record an event:

  curl -X POST ${url}/api/sdk/track \\
    -H 'Authorization: Bearer ${demo.secretKey}' \\
    -H 'Content-Type: application/json' \\
    -d '{"event":"purchase","identity":{"email":"ada@example.com"},"value":49.9,"currency":"USD"}'`

export function farewell(): void {
  say('\nStopping: the front door, the workers, then the engines.')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
