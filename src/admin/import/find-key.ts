import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { CommandError, UsageError } from '../command.ts'

/**
 * Returns the given key, otherwise SLUICE_API_KEY, otherwise that of the Demo business. Throws CommandError when there
 * is none.
 */
export async function findKey(config: Config, businessId: string, given: string | undefined): Promise<string> {
  const key = given ?? config.apiKey ?? (await demoKey(config.dataDir, businessId))
  if (key === undefined)
    throw new CommandError(
      'no_key',
      `There is no key for the business ${businessId}. Give --key or SLUICE_API_KEY. To create one: admin key create --business ${businessId} --kind secret`,
    )
  if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError('The key has invalid characters. Copy it again')
  return key
}

async function demoKey(dataDir: string, businessId: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, 'demo-keys.json'), 'utf8').catch(() => undefined)
  const demo = text === undefined ? undefined : (JSON.parse(text) as { businessId: string; secretKey: string })
  return demo?.businessId === businessId ? demo.secretKey : undefined
}
