/** Puts another revision of the product into a folder of its own, with the packages of its lock file. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface Build {
  /** Abbreviated id of the commit. */
  commit: string
  /** Folder of the sources. */
  folder: string
}

/** Builds `revision`, which is any name that Git knows, below `parent`. Throws when there is no such revision. */
export async function buildRevision(revision: string, parent: string, say: (text: string) => void): Promise<Build> {
  const commit = await findCommit(revision)
  const folder = join(parent, `build-${commit}`)
  await mkdir(folder, { recursive: true, mode: 0o755 })
  if ((await readdir(folder)).length > 0) return { commit, folder }
  say(`building ${commit} in ${folder}`)
  await run('bash', ['-o', 'pipefail', '-c', 'git archive "$0" | tar -x -C "$1"', commit, folder], ROOT)
  await run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'], folder)
  return { commit, folder }
}

/** Throws an error that names the revision when Git does not know it. */
export async function findCommit(revision: string): Promise<string> {
  try {
    return (
      await run('git', ['rev-parse', '--verify', '--short=8', '--end-of-options', `${revision}^{commit}`], ROOT)
    ).trim()
  } catch {
    throw new Error(`There is no revision ${revision}. Name a commit, a branch or a tag of this repository.`)
  }
}

/** Returns what the command writes. Throws with its complaints when it fails. */
export async function run(command: string, args: string[], cwd: string, environment = process.env): Promise<string> {
  const child = spawn(command, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let complaints = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-4000)))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${complaints.trim()}`)
  return output
}
