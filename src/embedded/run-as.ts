/** Who runs an engine. One that is started by root runs as a user of its own, who may read nothing else. */
import { execFile } from 'node:child_process'
import { chown, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Logger } from '../log.ts'

const run = promisify(execFile)

export interface Owner {
  uid: number
  gid: number
}

/** `prefix` goes in front of the command. Without root there is nobody else to run it as. */
export interface Runner {
  prefix: string[]
  owner: Owner | undefined
}

const ATTEMPTS = 10
const AGAIN_MS = 200

/** `reach`: what the user must be able to run or enter. Rejects when it cannot, whatever is done. */
export async function chooseRunner(user: string, reach: string[], log: Logger): Promise<Runner> {
  if (process.getuid?.() !== 0) return { prefix: [], owner: undefined }
  const owner = await ensureUser(user)
  const asUser = ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
  const withoutRights = [...asUser, '--no-new-privs']
  if (await reaches(withoutRights, reach)) return { prefix: withoutRights, owner }
  // Below /root or another closed folder: no right is changed there; the process alone may pass.
  const pass = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  const passing = [...asUser, ...pass]
  if (await reaches(passing, reach)) {
    log.warn(
      { user, reach },
      'the user of an engine cannot enter a folder that it needs: its process may read all files',
    )
    return { prefix: passing, owner }
  }
  throw new Error(
    `The user ${user} cannot reach ${reach.join(' or ')}: ` +
      'run as another user than root, choose a DATA_DIR that others may enter, or set the URL of a store of your own.',
  )
}

async function reaches(prefix: string[], paths: string[]): Promise<boolean> {
  const [command = '', ...args] = prefix
  const tests = paths.flatMap((path) => ['-a', '-x', path]).slice(1)
  return await run(command, [...args, 'test', ...tests]).then(
    () => true,
    () => false,
  )
}

/** Made when there is none. Another process may be making it, or a user with another name, at the same time. */
async function ensureUser(user: string): Promise<Owner> {
  for (let attempt = 1; ; attempt++) {
    const known = await findUser(user)
    if (known) return known
    try {
      await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', user])
    } catch (error) {
      if (attempt === ATTEMPTS)
        throw new Error(`The user ${user} cannot be made: ${(error as Error).message}`, { cause: error })
      await sleep(AGAIN_MS)
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

/** Also of a directory that root has filled. Its own owner changes last, so that one that was cut short is repeated. */
export async function giveFolder(folder: string, { owner }: Runner): Promise<void> {
  if (!owner) return
  const { uid, gid } = await stat(folder)
  if (uid === owner.uid && gid === owner.gid) return
  const change = ['-exec', 'chown', '-h', `${owner.uid}:${owner.gid}`, '{}', '+']
  await run('find', [folder, '-depth', ...change])
}

export async function giveFile(file: string, { owner }: Runner): Promise<void> {
  if (owner) await chown(file, owner.uid, owner.gid)
}
