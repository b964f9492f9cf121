/** Starts the embedded ClickHouse on its directory, whatever state an earlier run has left. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Session } from 'chdb'
import { usersConfig } from './analyst-role.ts'
import { MIN_FREE_BYTES, minFreeOption } from './clickhouse-disk.ts'
import { dropTokensOfLostInserts, listSetAside, prepareTables, restoreSetAside } from './repair-tables.ts'
import { queryRow } from './watch-files.ts'

const CONFIG_FILE = 'engine.xml'
const USERS_FILE = 'users.xml'
/**
 * Replaces any `config.xml` in the user's home or in /etc, which ClickHouse would read. Each part stores all columns in
 * one file: an unreadable file is then an error. With one file per column, an unreadable column would become zeroes,
 * and would be merged like that. The folders from which a statement may attach a table, or in which it may create one,
 * do not exist.
 */
const CONFIG = `<clickhouse>
  <users_config>${USERS_FILE}</users_config>
  <user_files_path>no-files/</user_files_path>
  <custom_local_disks_base_directory>/nonexistent/</custom_local_disks_base_directory>
  <merge_tree><min_bytes_for_wide_part>1000000000000000</min_bytes_for_wide_part></merge_tree>
</clickhouse>
`

/**
 * Opens the tables. Keep the session open for the life of the process, whose working directory is `folder`: the first
 * connection loads the tables, and closing the last one unloads them.
 */
export async function openTables(folder: string, database: string): Promise<Session> {
  await keepText(join(folder, USERS_FILE), usersConfig(database))
  await keepText(join(folder, CONFIG_FILE), CONFIG)
  await prepareTables(folder)
  // Prevents merges, because no disk has this much free space.
  const unmerged = await open(folder, Number.MAX_SAFE_INTEGER)
  unmerged.close()
  await dropTokensOfLostInserts(folder)
  return await open(folder, MIN_FREE_BYTES)
}

/** This file exists while the tables are being opened. It lists the parts that had been set aside before. */
const OPENING = 'opening.json'

/**
 * Opens the tables. Rejects when parts were set aside and files could not be read: the parts may be complete, so they
 * are put back. If this process is killed, or ClickHouse aborts, the next start puts them back.
 */
async function open(folder: string, keptFree: number): Promise<Session> {
  const note = join(folder, OPENING)
  const unfinished = await readNote(note)
  if (unfinished !== undefined) await restoreSetAside(folder, unfinished)
  const before = await listSetAside(folder)
  // On a full disk, opening continues without the file.
  await writeFile(note, JSON.stringify(before)).catch(() => undefined)
  const session = new Session(folder, { connectionArgs: [`--config-file=${CONFIG_FILE}`, minFreeOption(keptFree)] })
  const suspects = (await listSetAside(folder)).filter((path) => !before.includes(path))
  const unread = await reportUnread(session)
  if (suspects.length === 0 || unread === '') {
    await rm(note, { force: true })
    return session
  }
  session.close()
  await restoreSetAside(folder, before)
  throw new Error(`Files could not be read while the tables were opened: ${unread}. Put back: ${suspects.join(', ')}`)
}

/** Undefined when the file does not exist or is incomplete. */
async function readNote(note: string): Promise<string[] | undefined> {
  try {
    return JSON.parse(await readFile(note, 'utf8')) as string[]
  } catch {
    return undefined
  }
}

/** Writes the file only if its content differs, because the disk may be full. */
async function keepText(path: string, text: string): Promise<void> {
  const present = await readFile(path, 'utf8').catch(() => undefined)
  if (present !== text) await writeFile(path, text)
}

/**
 * Returns ClickHouse's message about the last file that could not be opened or read; empty when there is none, or when
 * files were only missing.
 */
const reportUnread = (session: Session): Promise<string> =>
  queryRow(session, 'SELECT argMax(last_error_message, last_error_time) FROM system.errors WHERE code IN (74, 76)')
