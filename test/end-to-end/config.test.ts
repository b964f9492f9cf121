/** Environments as an operator may set them. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { VARIABLES, readConfig, showSetting } from '../../src/config.ts'
import { suggestEnvVar } from '../../src/process/suggest-env-var.ts'
import { withSecretsKey } from '../../src/stores/data-dir.ts'

test.each([
  ['90m', 5_400_000],
  ['7d', 604_800_000],
  ['99999d', 8_639_913_600_000],
  ['604800000ms', 604_800_000],
])('OUTBOX_KEEP of %s', (duration, ms) => {
  expect(readConfig({ OUTBOX_KEEP: duration }).outboxKeepMs).toBe(ms)
})

test.each(['for ever', '7', '-1d', '1.5h', '9999999d', '99999999h'])('not OUTBOX_KEEP=%s', (duration) => {
  expect(() => readConfig({ OUTBOX_KEEP: duration })).toThrow('OUTBOX_KEEP must be a duration')
})

test.each([
  ['1d', 1],
  ['9999d', 9999],
])('WEB_EVENTS_KEEP of %s', (text, days) => {
  expect(readConfig({ WEB_EVENTS_KEEP: text }).webEventsKeepDays).toBe(days)
})

test.each(['0d', '10000d', '7', '12h'])('not WEB_EVENTS_KEEP=%s', (text) => {
  expect(() => readConfig({ WEB_EVENTS_KEEP: text })).toThrow('WEB_EVENTS_KEEP must be a number of days')
})

test.each([
  [undefined, 90 * 86_400_000],
  ['0d', 0],
  ['1ms', 1],
  ['99999d', 8_639_913_600_000],
])('MESSAGE_KEEP of %s', (duration, ms) => {
  expect(readConfig({ MESSAGE_KEEP: duration }).messageKeepMs).toBe(ms)
})

test.each(['100000d', '-1d', '90', '1.5d'])('not MESSAGE_KEEP=%s', (duration) => {
  expect(() => readConfig({ MESSAGE_KEEP: duration })).toThrow('MESSAGE_KEEP must be a duration')
})

test.each([
  ['true', 1],
  ['false', 0],
  ['0', 0],
  ['2', 2],
  ['16', 16],
])('TRUST_PROXY of %s', (text, proxies) => {
  expect(readConfig({ TRUST_PROXY: text }).trustProxy).toBe(proxies)
})

test.each(['17', '-1', 'yes'])('not TRUST_PROXY=%s', (text) => {
  expect(() => readConfig({ TRUST_PROXY: text })).toThrow('TRUST_PROXY must be')
})

test.each([
  { DATABASE_URL: 'postgres://user:secret@host:port/db' },
  { DATABASE_URL: 'postgres://user:secret%zz@host/db' },
  { REDIS_URL: 'redis://:secret@host:99999/0' },
  { CLICKHOUSE_URL: 'http://user:secret@ho st/db' },
  { CLICKHOUSE_URL: 'http://user:secret%@host/db' },
])('an address that a driver would quote in an error, with its password, is refused first: %j', (environment) => {
  const [name = ''] = Object.keys(environment)
  expect(() => readConfig(environment)).toThrow(`${name} must be a URL`)
  expect(() => readConfig(environment)).not.toThrow('secret')
})

test.each([
  'postgres://user:p%40ss@host/db',
  'postgres://user:p,ss@one:5432,two:5433/db?sslmode=require',
  'postgresql://[::1]:5432/db',
])('takes %s', (url) => {
  expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url)
})

test('reports all faults at once, and no address', () => {
  const faulty = { PORT: '70000', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://user:secret@host' }
  expect(() => readConfig(faulty)).toThrow(/PORT[^]*DATABASE_URL[^]*LOG_LEVEL/)
  expect(() => readConfig(faulty)).not.toThrow('secret')
})

test.each(['ab'.repeat(32), '0123456789'.repeat(6) + 'ABCD'])('SECRETS_KEY of 64 hexadecimal digits', (key) => {
  expect(readConfig({ SECRETS_KEY: key }).secretsKey).toBe(key)
})

test.each(['ab'.repeat(31), `${'ab'.repeat(32)}a`, 'xy'.repeat(32)])(
  'not SECRETS_KEY=%s, which is not repeated',
  (key) => {
    expect(() => readConfig({ SECRETS_KEY: key })).toThrow('SECRETS_KEY must be 64 hexadecimal digits')
    expect(() => readConfig({ SECRETS_KEY: key })).not.toThrow(key)
  },
)

test('a password that is too short is not repeated', () => {
  expect(() => readConfig({ ANALYST_PASSWORD: 'hunter2' })).toThrow('must be 8 to 128 characters, not "…"')
})

test('no message shows the value of a secret', () => {
  const secrets = VARIABLES.filter((name) => showSetting(name, 'shown') === '…')
  expect(secrets).toEqual(VARIABLES.filter((name) => /URL|TOKEN|KEY|PASSWORD|SECRET/.test(name)))
  for (const name of secrets) {
    const option = `--${name.toLowerCase().replaceAll('_', '-')}`
    for (const words of [[option, 'hidden'], [`${option}=hidden`]]) expect(suggestEnvVar(words)).toBe(`${name}=…`)
  }
  expect(suggestEnvVar(['--port', '9000'])).toBe('PORT=9000')
  expect(suggestEnvVar(['--port', '--host'])).toBe('PORT=…')
})

test('DELIVERY_TRIES from 1 to 1000', () => {
  expect(['1', '1000'].map((tries) => readConfig({ DELIVERY_TRIES: tries }).deliveryTries)).toEqual([1, 1000])
  for (const tries of ['0', '1001', '1.5'])
    expect(() => readConfig({ DELIVERY_TRIES: tries })).toThrow('DELIVERY_TRIES')
})

describe('without SECRETS_KEY, the key of DATA_DIR', () => {
  const inDataDir = async (content?: string) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'sluice-key-'))
    if (content !== undefined) await writeFile(join(dataDir, 'secrets-key'), content)
    return { DATA_DIR: dataDir }
  }

  test('counts, and the one of the environment comes first', async () => {
    const environment = await inDataDir(`${'ab'.repeat(32)}\n`)
    expect((await withSecretsKey(readConfig(environment))).secretsKey).toBe('ab'.repeat(32))
    const SECRETS_KEY = 'cd'.repeat(32)
    expect((await withSecretsKey(readConfig({ ...environment, SECRETS_KEY }))).secretsKey).toBe(SECRETS_KEY)
  })

  test('may be missing, and must be whole', async () => {
    expect((await withSecretsKey(readConfig(await inDataDir()))).secretsKey).toBeUndefined()
    const cut = readConfig(await inDataDir('ab'.repeat(31)))
    await expect(withSecretsKey(cut)).rejects.toThrow('secrets-key must hold 64 hexadecimal digits')
  })
})
