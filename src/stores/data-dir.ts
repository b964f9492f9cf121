/**
 * Files in DATA_DIR by which `start` shares the addresses of its engines and its front door, and SECRETS_KEY, with the
 * other commands.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ConfigError, SECRETS_KEY_PATTERN } from '../config.ts'

export interface StoreUrls {
  databaseUrl: string
  redisUrl: string
  clickhouseUrl: string
}

/** The file in which `start` records the addresses of what it runs (mode 600: they contain passwords). */
export const enginesFile = (dataDir: string): string => join(dataDir, 'engines.json')

/**
 * Returns the addresses of the stores: from the environment, otherwise from the running engines of DATA_DIR. Throws
 * ConfigError.
 */
export async function resolveStores(config: Config): Promise<StoreUrls> {
  const { databaseUrl, redisUrl, clickhouseUrl } = config
  if (databaseUrl && redisUrl && clickhouseUrl) return { databaseUrl, redisUrl, clickhouseUrl }
  const engines = await readEngines(config.dataDir)
  const urls = {
    databaseUrl: databaseUrl ?? engines.databaseUrl,
    redisUrl: redisUrl ?? engines.redisUrl,
    clickhouseUrl: clickhouseUrl ?? engines.clickhouseUrl,
  }
  if (!urls.databaseUrl || !urls.redisUrl || !urls.clickhouseUrl)
    throw new ConfigError(howToGetStores(config.dataDir, urls))
  return { databaseUrl: urls.databaseUrl, redisUrl: urls.redisUrl, clickhouseUrl: urls.clickhouseUrl }
}

/** For commands that need what `start` runs. */
export const NOT_RUNNING = 'Sluice is not running. Start it: npm start'

/** The file in which `start` stores the key that it makes when SECRETS_KEY is not set (mode 600). */
export const secretsKeyFile = (dataDir: string): string => join(dataDir, 'secrets-key')

/** Adds SECRETS_KEY: from the environment, otherwise the one that `start` made in DATA_DIR. Throws ConfigError. */
export async function withSecretsKey(config: Config): Promise<Config> {
  if (config.secretsKey !== undefined) return config
  const file = secretsKeyFile(config.dataDir)
  // A file that this user may not read counts as missing.
  const key = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (key === '') return config
  if (!SECRETS_KEY_PATTERN.test(key)) throw new ConfigError(`${file} must hold 64 hexadecimal digits`)
  return Object.freeze({ ...config, secretsKey: key })
}

/** Whether SECRETS_KEY is the one that `start` keeps in DATA_DIR, and so the one of its front door and workers. */
export async function isKeyOfStart({ dataDir, secretsKey }: Pick<Config, 'dataDir' | 'secretsKey'>): Promise<boolean> {
  if (secretsKey === undefined) return false
  return (await readFile(secretsKeyFile(dataDir), 'utf8').catch(() => '')).trim() === secretsKey
}

interface EngineUrls extends StoreUrls {
  clickhouseAnalystUrl: string
  frontDoorUrl: string
}

/**
 * The address of the front door on this machine: the one that `start` runs in DATA_DIR, otherwise the one that PORT
 * names. A file that is damaged, or that this user may not read, counts as missing.
 */
export async function findFrontDoorUrl({ dataDir, port }: Pick<Config, 'dataDir' | 'port'>): Promise<string> {
  const engines = await readEngines(dataDir).catch(() => undefined)
  return engines?.frontDoorUrl ?? `http://127.0.0.1:${port}`
}

/**
 * The address for the user `analyst` in the ClickHouse of `start`; undefined when `clickhouseUrl` is another
 * ClickHouse.
 */
export async function findAnalystUrl({ dataDir }: Config, clickhouseUrl: string): Promise<string | undefined> {
  const engines = await readEngines(dataDir)
  return engines.clickhouseUrl === clickhouseUrl ? engines.clickhouseAnalystUrl : undefined
}

async function readEngines(dataDir: string): Promise<Partial<EngineUrls>> {
  try {
    return JSON.parse(await readFile(enginesFile(dataDir), 'utf8')) as Partial<EngineUrls>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    // The error message of a JSON parser could contain a password.
    const reason = error instanceof SyntaxError ? 'it is not valid JSON' : (error as Error).message
    throw new ConfigError(`${enginesFile(dataDir)} cannot be read: ${reason}`)
  }
}

function howToGetStores(dataDir: string, urls: Partial<StoreUrls>): string {
  const names = { databaseUrl: 'DATABASE_URL', redisUrl: 'REDIS_URL', clickhouseUrl: 'CLICKHOUSE_URL' }
  const missing = Object.entries(names).filter(([key]) => !urls[key as keyof StoreUrls])
  const listed = missing.map(([, name]) => name).join(', ')
  const elsewhere = `If it runs elsewhere, set DATA_DIR to the directory of the running \`start\`, or set ${listed}.`
  // Where some of the addresses are set, `start` is not meant to run the stores.
  const isUnset = missing.length === Object.keys(names).length
  return isUnset
    ? `${NOT_RUNNING}\nNothing is started in DATA_DIR=${dataDir}. ${elsewhere}`
    : `No address for ${listed}, and nothing is started in DATA_DIR=${dataDir}. ${elsewhere}`
}
