/**
 * Repairs the directory of the embedded ClickHouse when it starts, after failed writes (watch-files.ts) or a kill
 * during an insert. The disk may still be full, so files are only overwritten in place, truncated or removed.
 */
import { existsSync } from 'node:fs'
import { glob, mkdir, open, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Runs before ClickHouse opens its tables: if it cannot open one, it opens none. */
export async function prepareTables(folder: string): Promise<void> {
  await dropUnwrittenMutations(folder)
  await cutTornTokens(folder)
  await allowLargeLosses(folder)
}

/** Removes mutations with an incomplete file, because their table could not be opened. They were never acknowledged. */
async function dropUnwrittenMutations(folder: string): Promise<void> {
  for await (const path of glob('store/*/*/mutation_*.txt', { cwd: folder })) {
    const file = join(folder, path)
    if (!/\ncommands: .+\n/.test(await readFile(file, 'utf8'))) await rm(file)
  }
}

/** Removes an incomplete last line. Otherwise ClickHouse would append to it, and could not read the following lines. */
async function cutTornTokens(folder: string): Promise<void> {
  for await (const path of glob('store/*/*/deduplication_logs/*.txt', { cwd: folder })) {
    const log = await readFile(join(folder, path))
    const whole = log.lastIndexOf('\n') + 1
    if (whole < log.length) await truncate(join(folder, path), whole)
  }
}

/**
 * Without this file, ClickHouse does not start when incomplete parts, such as those of one large merge, exceed 1 GiB.
 */
async function allowLargeLosses(folder: string): Promise<void> {
  const flags = join(folder, 'flags')
  await mkdir(flags, { recursive: true })
    .then(() => writeFile(join(flags, 'force_restore_data'), ''))
    .catch(() => undefined) // On a full disk, the next start tries again.
}

const SET_ASIDE = 'broken-on-start_'

/** Returns the paths, below `folder`, of the parts that ClickHouse has set aside while opening the tables. */
export async function listSetAside(folder: string): Promise<string[]> {
  return await Array.fromAsync(glob(`store/*/*/detached/${SET_ASIDE}*`, { cwd: folder }))
}

/** Puts back the parts that were set aside, except those in `before`. */
export async function restoreSetAside(folder: string, before: string[]): Promise<void> {
  for (const path of await listSetAside(folder)) {
    if (before.includes(path)) continue
    // The name of a part that is set aside again gets the suffix _tryN.
    const name = basename(path)
      .replace(SET_ASIDE, '')
      .replace(/_try\d+$/, '')
    const part = join(folder, dirname(dirname(path)), name)
    if (!existsSync(part)) await rename(join(folder, path), part)
  }
}

/**
 * Removes the tokens of inserts whose rows are missing, so that ClickHouse accepts these inserts when they are sent
 * again: it stores a token before it renames the part, and sets incomplete parts aside. Call this after ClickHouse has
 * set them aside and before it merges: a merged part that spans a gap would seem to contain the missing rows.
 * ClickHouse must open the tables again afterwards.
 */
export async function dropTokensOfLostInserts(folder: string): Promise<void> {
  for await (const path of glob('store/*/*/deduplication_logs', { cwd: folder })) {
    const table = join(folder, dirname(path))
    const isHeld = readHeld((await readdir(table)).flatMap(readPart))
    for (const log of await readdir(join(table, 'deduplication_logs')))
      await forgetIn(join(table, 'deduplication_logs', log), isHeld)
  }
}

/** The inserts number `first` to `last` of a partition (`all` for a table without partitions). */
interface Part {
  partition: string
  first: number
  last: number
}

function readPart(name: string): Part[] {
  const [, partition, first, last] = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name) ?? []
  return partition === undefined ? [] : [{ partition, first: Number(first), last: Number(last) }]
}

/**
 * Returns a function that checks whether one of `parts` contains the part of an insert. Keeps only the widest parts,
 * because merged parts contain most of the others.
 */
function readHeld(parts: Part[]): (insert: Part) => boolean {
  const widest: Part[] = []
  for (const part of parts.toSorted((a, b) => a.first - b.first || b.last - a.last))
    if (!widest.some((wide) => holds(wide, part))) widest.push(part)
  return (insert) => widest.some((wide) => holds(wide, insert))
}

const holds = (wide: Part, part: Part): boolean =>
  wide.partition === part.partition && wide.first <= part.first && part.last <= wide.last

/** A line is `1` (added) or `2` (dropped), the part and the token, separated by tabs. */
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
