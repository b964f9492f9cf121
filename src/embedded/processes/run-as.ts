/**
 * Chooses the user of an engine. If root starts the engine, it runs as a user of its own, which cannot read anything
 * else.
 */
import { execFile } from 'node:child_process'
import { chown, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Logger } from '../../log.ts'

const run = promisify(execFile)

export interface Owner {
  uid: number
  gid: number
}

/** `prefix`: words before the command. Without root, the engine runs as the current user. */
export interface Runner {
  prefix: string[]
  owner: Owner | undefined
}

const ATTEMPTS = 10
const RETRY_MS = 200

/** `reach`: paths that the user must be able to execute or enter. Rejects when that is impossible. */
export async function chooseRunner(user: string, reach: string[], log: Logger): Promise<Runner> {
  if (process.getuid?.() !== 0) return { prefix: [], owner: undefined }
  const owner = await ensureUser(user)
  const asUser = ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
  const withoutRights = [...asUser, '--no-new-privs']
  if (await reaches(withoutRights, reach)) return { prefix: withoutRights, owner }
  // Below /root or another closed folder, the process gets the capability to enter it, so that the folder's mode need
  // not change.
  const pass = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  const passing = [...asUser, ...pass]
  if (await reaches(passing, reach)) {
    log.warn(
      { user, reach },
      'the user of an engine cannot enter a folder that it needs, so its process gets the right to read all files',
    )
    return { prefix: passing, owner }
  }
  throw new Error(
    `The user ${user} cannot reach ${reach.join(' or ')}. ` +
      'Start Sluice as another user than root, choose a DATA_DIR that other users may enter, or set the URL of your own store.',
  )
}

async function reaches(prefix: string[], paths: string[]): Promise<boolean> {
  const [command = '', ...args] = prefix
  const tests = paths.flatMap((path) => ['-a', '-x', path]).slice(1)
  try {
    await run(command, [...args, 'test', ...tests])
    return true
  } catch (error) {
    // Ctrl-C also ends this test, but that means nothing for the folders.
    return (error as { signal?: string | null }).signal ? await reaches(prefix, paths) : false
  }
}

/** Creates the user if it does not exist. Another process may be creating this or another user at the same time. */
async function ensureUser(user: string): Promise<Owner> {
  for (let attempt = 1; ; attempt++) {
    const known = await findUser(user)
    if (known) return known
    try {
      await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', user])
    } catch (error) {
      if (attempt === ATTEMPTS)
        throw new Error(`The user ${user} cannot be created: ${(error as Error).message}`, { cause: error })
      await sleep(RETRY_MS)
    }
  }
}

async function findUser(user: string): Promise<Owner | undefined> {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (which) => Number((await run('id', [which, user])).stdout)),
    )
    return uid === undefined || gid === undefined ? undefined : { uid, gid }
  } catch {
    return undefined
  }
}

/**
 * Changes the owner of a folder and its content. Changes the folder itself last, so that an interrupted change is
 * repeated.
 */
export async function changeFolderOwner(folder: string, { owner }: Runner): Promise<void> {
  if (!owner) return
  const { uid, gid } = await stat(folder)
  if (uid === owner.uid && gid === owner.gid) return
  const change = ['-exec', 'chown', '-h', `${owner.uid}:${owner.gid}`, '{}', '+']
  await run('find', [folder, '-depth', ...change])
}

export async function changeFileOwner(file: string, { owner }: Runner): Promise<void> {
  if (owner) await chown(file, owner.uid, owner.gid)
}
