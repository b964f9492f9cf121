/** A DATA_DIR that contains the address of `analyst` in the ClickHouse of the tests, in the format of `start`. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { enginesFile } from '../../src/stores/data-dir.ts'

/** Creates the folder. The caller removes it. */
export async function makeAnalystFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-analyst-'))
  const { clickhouseUrl, clickhouseAnalystUrl } = inject('stores')
  await writeFile(enginesFile(folder), JSON.stringify({ clickhouseUrl, clickhouseAnalystUrl }))
  return folder
}
