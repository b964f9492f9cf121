/** The commands with which Bun, Deno and a current Node from npm run a source file. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const inModules = (path: string) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url))

/** The Node of the development dependencies if there is one for this platform, otherwise the one on the PATH. */
const packagedNode = inModules(`node-${process.platform}-${process.arch}/bin/node`)

export const RUNTIMES: Record<string, [command: string, ...args: string[]]> = {
  bun: [inModules('bun/bin/bun.exe')],
  deno: [inModules('deno/deno'), 'run', '--allow-all', '--quiet', '--no-prompt'],
  node: [existsSync(packagedNode) ? packagedNode : 'node'],
}
