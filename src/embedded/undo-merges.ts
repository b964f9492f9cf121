/**
 * Merges and mutations of the embedded ClickHouse beside which reads of files failed (watch-files.ts): what they made is
 * whole by its checksums, and may hold zeroes where there was something. They are undone when the engine starts: what they
 * replaced is kept for minutes (0008_keep_replaced.sql), and becomes the table again when what was made of it is gone.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { glob, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Part, holds, readPart, widest } from './part-names.ts'

const NOTE = 'suspect-since'

/** `since`: epoch ms. To be called right before the process ends. Parts are dated to the second. */
export function noteSuspects(folder: string, since: number): void {
  const note = openSync(join(folder, NOTE), 'w')
  writeSync(note, String(since - (since % 1000)))
  fsyncSync(note)
  closeSync(note)
}

/** To be called before the engine opens its tables. What it takes away is in the tables' `detached`. */
export async function undoMerges(folder: string): Promise<void> {
  const note = await readFile(join(folder, NOTE), 'utf8').catch(() => undefined)
  if (note === undefined) return
  for await (const path of glob('store/*/*/format_version.txt', { cwd: folder }))
    await undoIn(join(folder, dirname(path)), Number(note))
  await rm(join(folder, NOTE))
}

interface Kept extends Part {
  rows: number
}

async function undoIn(table: string, since: number): Promise<void> {
  const suspects: Kept[] = []
  const others: Kept[] = []
  for (const part of (await readdir(table)).flatMap(readPart)) {
    const kept = { ...part, rows: await readRows(join(table, part.name)) }
    const isSuspect = part.isMade && (await stat(join(table, part.name))).mtimeMs >= since
    const list = isSuspect ? suspects : others
    list.push(kept)
  }
  for (const suspect of suspects) {
    const replaced = widest(others.filter((other) => holds(suspect, other)))
    const rows = replaced.reduce((sum, part) => sum + part.rows, 0)
    // With fewer some of it is gone: a part with zeroes is better than none.
    if (replaced.length > 0 && rows >= suspect.rows) await setAside(table, suspect.name)
    else process.stderr.write(`${join(table, suspect.name)} may be wrong, and what it was made of is gone\n`)
  }
}

/** Of one that is broken none is known. */
const readRows = async (part: string): Promise<number> =>
  Number(await readFile(join(part, 'count.txt'), 'utf8').catch(() => '0'))

async function setAside(table: string, name: string): Promise<void> {
  await mkdir(join(table, 'detached'), { recursive: true })
  await rename(join(table, name), join(table, 'detached', `suspect_${name}_${Date.now()}`))
}
