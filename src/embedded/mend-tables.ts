/**
 * What writes that failed (clickhouse-disk.ts) left in the embedded ClickHouse's directory, put right when it starts. The disk
 * may still be full: files are overwritten in place, cut or removed.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { glob, mkdir, open, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const FAILED = 'writes-failed'

/** For the next start; at once, for this process ends. A file with nothing in it finds room on a full disk, if anything does. */
export function noteFailedWrites(folder: string): void {
  try {
    writeFileSync(join(folder, FAILED), '')
  } catch {
    // Then an insert of which only the token could not be noted comes twice.
  }
}

/** Before the engine opens its tables: with one that it cannot open it opens none. */
export async function prepareTables(folder: string): Promise<void> {
  await dropUnwrittenMutations(folder)
  await cutTornTokens(folder)
  await setAsideUnanswered(folder)
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

/**
 * An insert of which the part could be written and the token could not: nobody was told that it was taken, and it is sent
 * again. (After a power cut a token may be missing of one that was answered.)
 */
async function setAsideUnanswered(folder: string): Promise<void> {
  if (!existsSync(join(folder, FAILED))) return
  for await (const path of glob('store/*/*/deduplication_logs', { cwd: folder })) {
    const table = join(folder, dirname(path))
    const noted = await readNotedBlocks(table)
    // Tokens of old inserts are no longer kept.
    const first = noted.values().next().value ?? 0
    for (const part of await readdir(table)) {
      const block = Number(/^all_(\d+)_\1_0$/.exec(part)?.[1])
      if (block > first && !noted.has(block))
        await rename(join(table, part), join(table, 'detached', `unanswered_${part}_${Date.now()}`))
    }
  }
  await rm(join(folder, FAILED))
}

/** The numbers of the inserts whose tokens are known, oldest first. */
async function readNotedBlocks(table: string): Promise<Set<number>> {
  const logs = (await readdir(join(table, 'deduplication_logs'))).toSorted(byNumber)
  const texts = await Promise.all(logs.map((log) => readFile(join(table, 'deduplication_logs', log), 'utf8')))
  return new Set(texts.flatMap((text) => [...text.matchAll(/^1\tall_(\d+)_/gm)].map(([, block]) => Number(block))))
}

const byNumber = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1)

/** More than 1 GiB in parts that are not whole, such as one large merge leaves, would be an error; once this file is there it is none. */
async function allowLargeLosses(folder: string): Promise<void> {
  const flags = join(folder, 'flags')
  await mkdir(flags, { recursive: true })
    .then(() => writeFile(join(flags, 'force_restore_data'), ''))
    .catch(() => undefined) // Without room it is tried at the next start.
}

/**
 * Once the engine has opened its tables, and set aside the parts that are not whole: a part of one insert that is gone is
 * still known to its table by the insert's token, and would be refused when it is sent again. True when a token was
 * forgotten: the engine has to open the tables anew.
 */
export async function forgetLostInserts(folder: string): Promise<boolean> {
  let isForgotten = false
  for (const [table, parts] of await findLostInserts(folder))
    for await (const log of glob('deduplication_logs/*.txt', { cwd: table }))
      if (await forgetIn(join(table, log), parts)) isForgotten = true
  return isForgotten
}

/** By directory of their table, the parts that held one insert each and that no other part has in it. */
async function findLostInserts(folder: string): Promise<Map<string, Set<string>>> {
  const lost = new Map<string, Set<string>>()
  for await (const path of glob('store/*/*/detached/broken-on-start_*', { cwd: folder })) {
    const [, part, block] = /^broken-on-start_(all_(\d+)_\2_0)(?:_try\d+)?$/.exec(basename(path)) ?? []
    const table = join(folder, dirname(dirname(path)))
    // The number is given again: what was set aside long ago may have a namesake.
    if (part && !(await isHeld(table, Number(block)))) lost.set(table, (lost.get(table) ?? new Set()).add(part))
  }
  return lost
}

async function isHeld(table: string, block: number): Promise<boolean> {
  const parts = (await readdir(table)).map((name) => /^all_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name))
  return parts.some((part) => part && Number(part[1]) <= block && block <= Number(part[2]))
}

/** A line is `1` for added or `2` for dropped, the part and the token, with tabs between. */
async function forgetIn(log: string, parts: Set<string>): Promise<boolean> {
  const text = await readFile(log, 'utf8')
  const forgotten = text.replaceAll(/^1\t(\w+)\t(\w+)$/gm, (line, part: string, token: string) =>
    parts.has(part) ? `1\t${part}\t${'-'.repeat(token.length)}` : line,
  )
  if (forgotten === text) return false
  const file = await open(log, 'r+')
  try {
    await file.writeFile(forgotten)
    await file.sync()
  } finally {
    await file.close()
  }
  return true
}
