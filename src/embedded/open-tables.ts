/** How the embedded ClickHouse is started on its directory, whatever was left there. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Session } from 'chdb'
import { KEPT_FREE_BYTES, keepFree } from './clickhouse-disk.ts'
import { forgetLostInserts, listSetAside, prepareTables, putBack } from './mend-tables.ts'
import { countFailures, tellLastRead } from './watch-files.ts'

const CONFIG_FILE = 'engine.xml'
/**
 * In place of any `config.xml` in the user's home or in /etc, which the engine would take. Parts keep all columns in one file:
 * where each has its own, a column that cannot be read comes out as zeroes, and so it is merged; here it is an error.
 */
const CONFIG = `<clickhouse>
  <merge_tree><min_bytes_for_wide_part>1000000000000000</min_bytes_for_wide_part></merge_tree>
</clickhouse>
`
/** The engine looks at its memory twenty times a second by default, which is half of what it costs at rest. */
const OPTIONS = ['--memory_worker_period_ms=2000', `--config-file=${CONFIG_FILE}`]

/**
 * To be kept open for the life of the process, whose working directory it is: the first connection loads the tables, the
 * last one unloads them.
 */
export async function openTables(folder: string): Promise<Session> {
  await writeFile(join(folder, CONFIG_FILE), CONFIG)
  await prepareTables(folder)
  // Nothing is merged that would leave so little.
  const unmerged = await open(folder, Number.MAX_SAFE_INTEGER)
  unmerged.close()
  await forgetLostInserts(folder)
  return await open(folder, KEPT_FREE_BYTES)
}

/** Rejects when files could not be read: what the engine has set aside for that is put back, for it may be whole. */
async function open(folder: string, keptFree: number): Promise<Session> {
  const before = await listSetAside(folder)
  const session = new Session(folder, { connectionArgs: [...OPTIONS, keepFree(keptFree)] })
  const { reads } = await countFailures(session)
  if (reads === 0) return session
  const last = await tellLastRead(session)
  session.close()
  await putBack(folder, before)
  throw new Error(`${reads} reads of files failed while the tables were opened, the last: ${last}`)
}
