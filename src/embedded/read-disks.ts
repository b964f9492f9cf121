/** Reads the free disk space of the engines on this machine. */
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreUrls } from '../stores/data-dir.ts'
import { hostOf } from '../stores/require-stores.ts'

export interface Disk {
  store: 'redis' | 'postgres' | 'clickhouse'
  freeBytes: number
  /** True below 5 % of the disk and below 1 GiB. */
  isLow: boolean
}

const LOW_SHARE = 1 / 20
const LOW_BYTES = 1024 ** 3

/** Reads only the disks of engines with data below DATA_DIR; the disks of other stores are not visible from here. */
export async function readDisks(dataDir: string, urls: StoreUrls): Promise<Disk[]> {
  const stores = { redis: urls.redisUrl, postgres: urls.databaseUrl, clickhouse: urls.clickhouseUrl }
  const here = Object.entries(stores).filter(([, url]) => /^127\.0\.0\.1(:\d+)?$/.test(hostOf(url)))
  const disks = here.map(async ([store]) => {
    const disk = await statfs(join(dataDir, store)).catch(() => undefined)
    if (!disk) return []
    const freeBytes = disk.bavail * disk.bsize
    const isLow = freeBytes < Math.min(LOW_BYTES, disk.blocks * disk.bsize * LOW_SHARE)
    return [{ store: store as Disk['store'], freeBytes, isLow }]
  })
  return (await Promise.all(disks)).flat()
}
