/**
 * What writes that failed (watch-files.ts), or a kill in the middle of an insert, left in the embedded ClickHouse's
 * directory, put right when it starts. The disk may still be full: files are overwritten in place, cut or removed.
 */
import { glob, mkdir, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Part, holds, readPart, widest } from './part-names.ts'
import { undoMerges } from './undo-merges.ts'

/** Before the engine opens its tables: with one that it cannot open it opens none. */
export async function prepareTables(folder: string): Promise<void> {
  await dropUnwrittenMutations(folder)
  await cutTornTokens(folder)
  await allowLargeLosses(folder)
  await undoMerges(folder)
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

/** Of an insert's part: whether one of these has it. */
function readHeld(parts: Part[]): (insert: Part) => boolean {
  const wide = widest(parts)
  return (insert) => wide.some((part) => holds(part, insert))
}

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
