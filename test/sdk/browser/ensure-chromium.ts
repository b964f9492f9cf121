/**
 * A real Chromium for the tests: the one that CHROMIUM names, else the one on the PATH, else Debian's package. A machine that
 * cannot have one fails these tests and says why; it never passes them in silence.
 */
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
/** Two test files may ask at once: the second waits, and finds it there. */
const INSTALL = `command -v chromium ||
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; }`

/** Resolves to the command's path. */
export async function ensureChromium(): Promise<string> {
  const present = process.env['CHROMIUM'] ?? (await locate())
  if (present) return present
  if (process.getuid?.() !== 0) throw new Error(advice('only root can install it from here'))
  console.warn('Chromium is missing: installing it with apt-get')
  try {
    await run('flock', [join(tmpdir(), 'sluice-chromium.lock'), 'sh', '-c', INSTALL])
  } catch (error) {
    throw new Error(advice(`apt-get could not install it: ${(error as Error).message.trim()}`), { cause: error })
  }
  const installed = await locate()
  if (!installed) throw new Error(advice('apt-get installed it, but it is not on the PATH'))
  return installed
}

async function locate(): Promise<string | undefined> {
  for (const name of NAMES) {
    const found = await run('/bin/sh', ['-c', 'command -v "$1"', 'sh', name]).catch(() => undefined)
    if (found) return found.stdout.trim()
  }
  return undefined
}

const advice = (reason: string): string =>
  `The browser script is tested in Chromium, and ${reason}. Install it (Debian: sudo apt-get install chromium), or set CHROMIUM to its path.`
