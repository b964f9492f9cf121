import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { insertBusiness } from '../businesses/businesses.ts'
import { insertKey } from '../businesses/keys.ts'
import type { Sql } from '../stores/postgres.ts'
import { writeWhole } from './engine-setup.ts'

/** The content of DATA_DIR/demo-keys.json. */
export interface DemoKeys {
  businessId: string
  secretKey: string
  publishableKey: string
}

export const demoKeysFile = (dataDir: string): string => join(dataDir, 'demo-keys.json')

/** Creates a business "Demo" with its keys if there is no business yet; otherwise returns undefined. */
export async function ensureDemo(sql: Sql, dataDir: string): Promise<DemoKeys | undefined> {
  const known = await readFile(demoKeysFile(dataDir), 'utf8').catch(() => '')
  const [business] = await sql`select 1 from businesses limit 1`
  // If `start` was killed between these steps, there is a business without keys: then another one is created.
  const [key] = await sql`select 1 from api_keys limit 1`
  if (known ? business : key) return undefined
  const businessId = await insertBusiness(sql, { name: 'Demo' })
  const secret = await insertKey(sql, businessId, 'secret')
  const publishable = await insertKey(sql, businessId, 'publishable')
  const keys = { businessId, secretKey: secret.key, publishableKey: publishable.key }
  await writeWhole(demoKeysFile(dataDir), `${JSON.stringify(keys, null, 2)}\n`)
  return keys
}
