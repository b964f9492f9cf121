/** Finds `redis-server` on the PATH, or installs it with the system's package manager. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Step } from '../start-steps.ts'

const run = promisify(execFile)

/**
 * Commands to run in this order, as root. The package must not start its own service; `policy-rc.d` prevents that on
 * Debian.
 */
const INSTALLERS: Record<string, string[][]> = {
  'apt-get': [
    ['apt-get', 'update', '-qq'],
    ['sh', '-c', aptInstall()],
  ],
  apk: [['apk', 'add', '--no-cache', 'redis']],
  dnf: [['dnf', 'install', '-y', '--setopt=install_weak_deps=False', 'redis']],
  brew: [['brew', 'install', 'redis']],
}

function aptInstall(): string {
  return `policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod +x "$policy" && trap 'rm -f "$policy"' EXIT; fi
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server`
}

/** Returns the path of the command. Throws an error with instructions when Redis can be neither found nor installed. */
export async function ensureRedis(step: Step): Promise<string> {
  const present = await locate('redis-server')
  if (present) return present
  const manager = await findInstaller()
  if (!manager) throw new Error(advice('no known package manager can install it here'))
  try {
    await step(`Installing Redis with ${manager}, because redis-server was not found`, () => install(manager))
  } catch (error) {
    throw new Error(advice(`${manager} could not install it: ${(error as Error).message.trim()}`), { cause: error })
  }
  const installed = await locate('redis-server')
  if (!installed) throw new Error(advice(`${manager} installed it, but it is not on the PATH`))
  return installed
}

async function install(manager: string): Promise<void> {
  for (const [command = '', ...args] of INSTALLERS[manager] ?? []) await run(command, args)
}

async function findInstaller(): Promise<string | undefined> {
  const isRoot = process.getuid?.() === 0
  for (const manager of Object.keys(INSTALLERS)) {
    const allowed = manager === 'brew' ? !isRoot : isRoot
    if (allowed && (await locate(manager))) return manager
  }
  return undefined
}

async function locate(command: string): Promise<string | undefined> {
  const found = await run('/bin/sh', ['-c', 'command -v "$1"', 'sh', command]).catch(() => undefined)
  return found?.stdout.trim() || undefined
}

const advice = (reason: string): string =>
  `Redis is needed, and ${reason}. Install redis-server (Debian, Ubuntu: sudo apt-get install redis-server; macOS: brew install redis), ` +
  'or set REDIS_URL to a Redis that runs with appendonly yes and appendfsync always.'
