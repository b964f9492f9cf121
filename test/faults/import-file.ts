/** `admin import` of a file while others send events and manage a business. A run that gives up is started again. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from './ledger.ts'
import { type Managed, type Thing, addressOf } from './managers.ts'
import { startAdmin } from './run-admin.ts'
import type { Traffic } from './traffic.ts'
import type { World } from './world.ts'

const ROWS = 600
/** For a front door that is away: a run ends after 5 s without a connection. */
const GIVE_UP_MS = 120_000

/** `stop` resolves when all rows are sent. */
export function startImport(world: World, { business, things }: Managed): Traffic {
  // Some answers only say that rows are queued.
  const attempt: Attempt = { sentAt: Date.now(), endedAt: Infinity, outcome: 'unknown', answer: 'under way', data: {} }
  const rows = Array.from({ length: ROWS }, (): Thing => ({
    kind: 'row',
    mark: crypto.randomUUID(),
    made: [attempt],
    removed: [],
  }))
  things.push(...rows)
  const run = async (): Promise<void> => {
    const { businessId, secretKey } = business
    const file = join(world.folder, `${businessId}.csv`)
    await writeFile(file, `mail,at\n${rows.map(({ mark }) => `${addressOf(mark)},2026-01-02T03:04:05Z\n`).join('')}`)
    const source = ['import', file, '--business', businessId, '--url', world.url, '--key', secretKey]
    const fields = ['--map', 'email=mail', '--map', 'occurredAt=at', '--set', 'event=imported']
    let code: number | null = null
    const deadline = Date.now() + GIVE_UP_MS
    while (code !== 0 && Date.now() < deadline)
      code = await startAdmin(world, [...source, ...fields, '--batch-size', '5', '--parallel', '2']).ended
    const ended: Partial<Attempt> =
      code === 0
        ? { outcome: 'queued', answer: '202 for all rows of a file' }
        : { outcome: 'rejected', answer: `500 for a file: exit code ${code}` }
    Object.assign(attempt, ended, { endedAt: Date.now() })
  }
  const running = run()
  return { stop: () => running }
}
