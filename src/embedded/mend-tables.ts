/** What writes that failed (clickhouse-disk.ts) left in the embedded ClickHouse's directory, put right when it starts. */
import { glob, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Before the engine opens its tables: one whose mutation is described by an empty file cannot be opened, and with it none.
 * Nobody was told that such a mutation was taken.
 */
export async function dropEmptyMutations(folder: string): Promise<void> {
  for await (const file of glob('store/*/*/mutation_*.txt', { cwd: folder }))
    if ((await stat(join(folder, file))).size === 0) await rm(join(folder, file))
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
      if (await forgetIn(join(table, log), parts, join(folder, 'kept-tokens'))) isForgotten = true
  return isForgotten
}

/** By directory of their table, the parts that held one insert each. */
async function findLostInserts(folder: string): Promise<Map<string, Set<string>>> {
  const lost = new Map<string, Set<string>>()
  for await (const path of glob('store/*/*/detached/broken-on-start_*', { cwd: folder })) {
    const part = /^broken-on-start_([^_]+_(\d+)_\2_0)(?:_|$)/.exec(basename(path))?.[1]
    const table = join(folder, dirname(dirname(path)))
    if (part) lost.set(table, (lost.get(table) ?? new Set()).add(part))
  }
  return lost
}

/** A line is `1` for added or `2` for dropped, the part and the token, with tabs between. */
async function forgetIn(log: string, parts: Set<string>, written: string): Promise<boolean> {
  const lines = (await readFile(log, 'utf8')).split('\n')
  const kept = lines.filter((line) => !parts.has(line.split('\t')[1] ?? ''))
  if (kept.length === lines.length) return false
  await writeFile(written, kept.join('\n'))
  await rename(written, log)
  return true
}
