/**
 * Debian programs that some tests need: uses the one on the PATH, or installs the package. On a machine where neither
 * is possible, these tests fail with the reason; they are never skipped silently.
 */
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Prevents a package from starting its service. When two test files install it at once, the second one waits and finds
 * it there.
 */
const INSTALL = `command -v "$1" ||
  { apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2"; }`

/**
 * Resolves to the command's path. `names`: acceptable commands, the best one first; the package provides the first one.
 */
export async function ensureCommand(names: readonly [string, ...string[]], debianPackage: string): Promise<string> {
  const present = await locate(names)
  if (present) return present
  const advice = (reason: string) =>
    `${names[0]} is missing, and ${reason}. Debian: sudo apt-get install ${debianPackage}`
  if (process.getuid?.() !== 0) throw new Error(advice('only root can install it from here'))
  console.warn(`${names[0]} is missing: installing it with apt-get`)
  try {
    await run('flock', [join(tmpdir(), 'sluice-apt.lock'), 'sh', '-c', INSTALL, 'sh', names[0], debianPackage])
  } catch (error) {
    throw new Error(advice(`apt-get could not install it: ${(error as Error).message.trim()}`), { cause: error })
  }
  const installed = await locate(names)
  if (!installed) throw new Error(advice('apt-get installed it, but it is not on the PATH'))
  return installed
}

async function locate(names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const found = await run('/bin/sh', ['-c', 'command -v "$1"', 'sh', name]).catch(() => undefined)
    if (found) return found.stdout.trim()
  }
  return undefined
}
