/** A DATA_DIR that says where `analyst` is in the ClickHouse of the tests, as `start` writes it. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { enginesFile } from '../../src/stores/data-dir.ts'

/** The folder; the caller removes it. */
export async function makeAnalystFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-analyst-'))
  const { clickhouseUrl, clickhouseAnalystUrl } = inject('stores')
  await writeFile(enginesFile(folder), JSON.stringify({ clickhouseUrl, clickhouseAnalystUrl }))
  return folder
}
