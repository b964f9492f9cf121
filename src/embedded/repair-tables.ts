/**
 * What writes that failed (watch-files.ts), or a kill in the middle of an insert, left in the embedded ClickHouse's
 * directory, put right when it starts. The disk may still be full: files are overwritten in place, cut or removed.
 */
import { existsSync } from 'node:fs'
import { glob, mkdir, open, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Before the engine opens its tables: with one that it cannot open it opens none. */
export async function prepareTables(folder: string): Promise<void> {
  await dropUnwrittenMutations(folder)
  await cutTornTokens(folder)
  await allowLargeLosses(folder)
}

/** A mutation whose file does not tell what to do keeps its table from being opened. Nobody was told that it was taken. */
async function dropUnwrittenMutations(folder: string): Promise<void> {
  for await (const path of glob('store/*/*/mutation_*.txt', { cwd: folder })) {
    const file = join(folder, path)
    if (!/\ncommands: .+\n/.test(await readFile(file, 'utf8'))) await rm(file)
  }
}

/** The engine would go on in the line that is not whole, and could not read what comes after. */
async function cutTornTokens(folder: string): Promise<void> {
  for await (const path of glob('store/*/*/deduplication_logs/*.txt', { cwd: folder })) {
    const log = await readFile(join(folder, path))
    const whole = log.lastIndexOf('\n') + 1
    if (whole < log.length) await truncate(join(folder, path), whole)
  }
}

/** More than 1 GiB in parts that are not whole, such as one large merge leaves, would be an error; once this file is there it is none. */
async function allowLargeLosses(folder: string): Promise<void> {
  const flags = join(folder, 'flags')
  await mkdir(flags, { recursive: true })
    .then(() => writeFile(join(flags, 'force_restore_data'), ''))
    .catch(() => undefined) // Without room it is tried at the next start.
}

const SET_ASIDE = 'broken-on-start_'

/** The parts that the engine has set aside when it opened the tables, by their paths below `folder`. */
export async function listSetAside(folder: string): Promise<string[]> {
  return await Array.fromAsync(glob(`store/*/*/detached/${SET_ASIDE}*`, { cwd: folder }))
}

/** Undoes that for all that were not set aside `before`. */
export async function putBack(folder: string, before: string[]): Promise<void> {
  for (const path of await listSetAside(folder)) {
    if (before.includes(path)) continue
    // The second of one name is a second try.
    const name = basename(path)
      .replace(SET_ASIDE, '')
      .replace(/_try\d+$/, '')
    const part = join(folder, dirname(dirname(path)), name)
    if (!existsSync(part)) await rename(join(folder, path), part)
  }
}

/**
 * Forgets the tokens of inserts whose rows are not there, so that they are taken when they are sent again: the engine notes
 * a token before the part has its name, and sets parts aside that are not whole. To be called once the engine has set
 * them aside, and before it merges: a part that reaches across a gap would be taken to fill it. The engine has to open the
 * tables anew.
 */
export async function forgetLostInserts(folder: string): Promise<void> {
  for await (const path of glob('store/*/*/deduplication_logs', { cwd: folder })) {
    const table = join(folder, dirname(path))
    const isHeld = readHeld((await readdir(table)).flatMap(readPart))
    for (const log of await readdir(join(table, 'deduplication_logs')))
      await forgetIn(join(table, 'deduplication_logs', log), isHeld)
  }
}

/** The inserts from number `first` to number `last` of a partition (`all` where there are none). */
interface Part {
  partition: string
  first: number
  last: number
}

function readPart(name: string): Part[] {
  const [, partition, first, last] = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name) ?? []
  return partition === undefined ? [] : [{ partition, first: Number(first), last: Number(last) }]
}

/** Of an insert's part: whether one of these has it. Most of thousands lie within a few that came of them. */
function readHeld(parts: Part[]): (insert: Part) => boolean {
  const widest: Part[] = []
  for (const part of parts.toSorted((a, b) => a.first - b.first || b.last - a.last))
    if (!widest.some((wide) => holds(wide, part))) widest.push(part)
  return (insert) => widest.some((wide) => holds(wide, insert))
}

const holds = (wide: Part, part: Part): boolean =>
  wide.partition === part.partition && wide.first <= part.first && part.last <= wide.last

/** A line is `1` for added or `2` for dropped, the part and the token, with tabs between. */
async function forgetIn(log: string, isHeld: (insert: Part) => boolean): Promise<void> {
  const text = await readFile(log, 'utf8')
  const forgotten = text.replaceAll(/^1\t(\S+)\t(\w+)$/gm, (line, part: string, token: string) =>
    readPart(part).every(isHeld) ? line : `1\t${part}\t${'-'.repeat(token.length)}`,
  )
  if (forgotten === text) return
  const file = await open(log, 'r+')
  try {
    await file.writeFile(forgotten)
    await file.sync()
  } finally {
    await file.close()
  }
}
