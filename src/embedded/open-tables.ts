/** Starts the embedded ClickHouse on its directory, in any state that an earlier run left. */
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
 * Replaces any `config.xml` in the user's home or in /etc, which the engine would read. Parts have all columns in one file: with
 * one file per column, a column that cannot be read becomes zeroes, and is merged so; with one file it is an error.
 * A statement cannot attach a table from a folder, or put one there: the folders that it may name do not exist.
 */
const CONFIG = `<clickhouse>
  <users_config>${USERS_FILE}</users_config>
  <user_files_path>no-files/</user_files_path>
  <custom_local_disks_base_directory>/nonexistent/</custom_local_disks_base_directory>
  <merge_tree><min_bytes_for_wide_part>1000000000000000</min_bytes_for_wide_part></merge_tree>
</clickhouse>
`

/**
 * Keep the session open for the life of the process, whose working directory is `folder`: the first connection loads the tables,
 * the last one unloads them.
 */
export async function openTables(folder: string, database: string): Promise<Session> {
  await keepText(join(folder, USERS_FILE), usersConfig(database))
  await keepText(join(folder, CONFIG_FILE), CONFIG)
  await prepareTables(folder)
  // Prevents merges: none would leave so much space.
  const unmerged = await open(folder, Number.MAX_SAFE_INTEGER)
  unmerged.close()
  await dropTokensOfLostInserts(folder)
  return await open(folder, MIN_FREE_BYTES)
}

/** This file exists while the tables are being opened. It lists the parts that were set aside before. */
const OPENING = 'opening.json'

/**
 * Rejects when parts were set aside and files could not be read: the parts may be complete, so they are put back. If this is
 * killed, or the engine aborts, the next start puts them back.
 */
async function open(folder: string, keptFree: number): Promise<Session> {
  const note = join(folder, OPENING)
  const unfinished = await readNote(note)
  if (unfinished !== undefined) await restoreSetAside(folder, unfinished)
  const before = await listSetAside(folder)
  // On a full disk it continues without the file.
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

/** The engine's message about the last file that could not be opened or read; empty when there was none, or files only were missing. */
const reportUnread = (session: Session): Promise<string> =>
  queryRow(session, 'SELECT argMax(last_error_message, last_error_time) FROM system.errors WHERE code IN (74, 76)')
