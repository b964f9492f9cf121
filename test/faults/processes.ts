/** Reads processes from Linux's /proc. Finds nothing on other systems. */
import { readFile, readdir, readlink, realpath } from 'node:fs/promises'

/** Returns the children that the process has started so far. */
export async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Boolean)
  const parents = await Promise.all(
    pids.map(async (pid) => [pid, parentOf(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))] as const),
  )
  return parents.filter(([, of]) => of === parent).map(([pid]) => pid)
}

/** Parses `pid (name) state parent …`; the name may contain any characters. */
const parentOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])

/** Returns whether it is running with a working directory in this folder or below. */
export async function isBelow(pid: number, folder: string): Promise<boolean> {
  const place = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  const real = await realpath(folder).catch(() => folder)
  return place === real || place.startsWith(`${real}/`)
}
