/** How the embedded ClickHouse is started on its directory, whatever was left there. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Session } from 'chdb'
import { usersConfig } from './analyst-role.ts'
import { KEPT_FREE_BYTES, keepFree } from './clickhouse-disk.ts'
import { forgetLostInserts, listSetAside, prepareTables, putBack } from './repair-tables.ts'
import { ask } from './watch-files.ts'

const CONFIG_FILE = 'engine.xml'
const USERS_FILE = 'users.xml'
/**
 * In place of any `config.xml` in the user's home or in /etc, which the engine would take. Parts keep all columns in one file:
 * where each has its own, a column that cannot be read comes out as zeroes, and so it is merged; here it is an error.
 * No table is attached from, or put into, a folder that a statement names: those that it may name are not there.
 */
const CONFIG = `<clickhouse>
  <users_config>${USERS_FILE}</users_config>
  <user_files_path>no-files/</user_files_path>
  <custom_local_disks_base_directory>/nonexistent/</custom_local_disks_base_directory>
  <merge_tree><min_bytes_for_wide_part>1000000000000000</min_bytes_for_wide_part></merge_tree>
</clickhouse>
`
/** The engine looks at its memory twenty times a second by default, which is half of what it costs at rest. */
const OPTIONS = ['--memory_worker_period_ms=2000', `--config-file=${CONFIG_FILE}`]

/**
 * To be kept open for the life of the process, whose working directory it is: the first connection loads the tables, the
 * last one unloads them.
 */
export async function openTables(folder: string, database: string): Promise<Session> {
  await keepText(join(folder, USERS_FILE), usersConfig(database))
  await keepText(join(folder, CONFIG_FILE), CONFIG)
  await prepareTables(folder)
  // Nothing is merged that would leave so little.
  const unmerged = await open(folder, Number.MAX_SAFE_INTEGER)
  unmerged.close()
  await forgetLostInserts(folder)
  return await open(folder, KEPT_FREE_BYTES)
}

/** While it is there, an opening has not come to its end: it holds what was set aside before. */
const OPENING = 'opening.json'

/**
 * Rejects when something was set aside and files could not be read: it may be whole, and is put back, by the next opening
 * where this one is killed or the engine itself gives up.
 */
async function open(folder: string, keptFree: number): Promise<Session> {
  const note = join(folder, OPENING)
  const unfinished = await readNote(note)
  if (unfinished !== undefined) await putBack(folder, unfinished)
  const before = await listSetAside(folder)
  // Without room it does without.
  await writeFile(note, JSON.stringify(before)).catch(() => undefined)
  const session = new Session(folder, { connectionArgs: [...OPTIONS, keepFree(keptFree)] })
  const doubted = (await listSetAside(folder)).filter((path) => !before.includes(path))
  const unread = await reportUnread(session)
  if (doubted.length === 0 || unread === '') {
    await rm(note, { force: true })
    return session
  }
  session.close()
  await putBack(folder, before)
  throw new Error(`Files could not be read while the tables were opened: ${unread}. Put back: ${doubted.join(', ')}`)
}

/** Undefined when there is none, or none that is whole. */
async function readNote(note: string): Promise<string[] | undefined> {
  try {
    return JSON.parse(await readFile(note, 'utf8')) as string[]
  } catch {
    return undefined
  }
}

/** What is there already needs no room. */
async function keepText(path: string, text: string): Promise<void> {
  const present = await readFile(path, 'utf8').catch(() => undefined)
  if (present !== text) await writeFile(path, text)
}

/** The last file that could not be opened or read, as the engine tells it; empty when all could, or were not there. */
const reportUnread = (session: Session): Promise<string> =>
  ask(session, 'SELECT argMax(last_error_message, last_error_time) FROM system.errors WHERE code IN (74, 76)')
