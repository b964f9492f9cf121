/** The operators' commands against a real Postgres. */
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { speakTo } from '../front-door/http-client.ts'
import { eventFact, track } from '../support/facts.ts'
import { openService } from '../support/service.ts'
import { createBusiness as makeBusiness, openStack } from '../support/stack.ts'
import { type Ran, runAdminQuietly } from './run-admin.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(() => openStack({}, { ownClickHouse: true }))

/** Runs a command. Words in single quotes stay together. */
function admin(command: string, config = stack.config): Promise<Ran> {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
  return runAdminQuietly(words, config)
}

/** Returns the JSON document, which must be the only line of standard output. */
async function adminJson<T>(command: string): Promise<T> {
  const { exitCode, out, err } = await admin(`${command} --json`)
  expect([exitCode, err]).toEqual([0, ''])
  expect(out).toMatch(/^[^\n]+\n$/)
  return JSON.parse(out) as T
}

const createBusiness = async (options = '--name Shop'): Promise<string> =>
  (await adminJson<{ businessId: string }>(`business create ${options}`)).businessId

interface Listed {
  businesses: { businessId: string }[]
  keys: { keyId: string; hint: string; kind: string; revokedAt: string | null }[]
}
const NOBODY = '0199a0f4-0000-7000-8000-000000000000'

test('control characters are escaped in lists, errors and JSON', async () => {
  const businessId = await createBusiness()
  const name = 'Shop\u001b]0;owned\u0007\u009b2J\u202egnp\r\n  other  row'
  await stack.sql`update businesses set name = ${name} where id = ${businessId}`
  const { out } = await admin('business list')
  expect(out).toContain(String.raw`Shop\u001b]0;owned\u0007\u009b2J\u202egnp\u000d\u000a  other  row`)
  expect(out).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
  const listed = await admin('business list --json')
  expect(listed.out).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
  const { businesses } = JSON.parse(listed.out) as { businesses: { businessId: string; name: string }[] }
  expect(businesses.find((one) => one.businessId === businessId)?.name).toBe(name)
  expect((await admin('business update \u001b[2J --name x')).err).not.toContain('\u001b')
})

describe('businesses', () => {
  test('are made with a word about the next step, which JSON does not have', async () => {
    const { out } = await admin('business create --name Shop')
    const [, businessId = ''] = /^Business Shop: (\S+)$/m.exec(out) ?? []
    const command = `key create --business ${businessId} --kind secret`
    expect(out).toBe(`Business Shop: ${businessId}\nNext, create its secret key: admin ${command}\n`)
    expect(Object.keys(await adminJson<object>(command))).toContain('key')
    expect(Object.keys(await adminJson<object>('business create --name Shop'))).toEqual(['businessId'])
  })

  test('are made with defaults, changed and listed', async () => {
    const businessId = await createBusiness("--name 'Shop of Zoë'")
    const find = async () => {
      const { businesses } = await adminJson<Listed>('business list')
      return businesses.find((one) => one.businessId === businessId)
    }
    expect(await find()).toEqual({
      businessId,
      name: 'Shop of Zoë',
      active: true,
      rateLimit: 120,
      currency: 'USD',
      country: null,
      timezone: 'UTC',
      origins: [],
      pageIdentify: 'open',
      bots: 'ignore',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    })
    const change = '--active false --rate-limit 500 --currency eur --country il --timezone Asia/Jerusalem'
    const origins = '--origin https://Shop.example/page --origin http://localhost:3000'
    expect((await admin(`business update ${businessId} ${change} ${origins}`)).exitCode).toBe(0)
    expect(await find()).toMatchObject({
      name: 'Shop of Zoë',
      active: false,
      rateLimit: 500,
      currency: 'EUR',
      country: 'IL',
      timezone: 'Asia/Jerusalem',
      origins: ['https://shop.example', 'http://localhost:3000'],
    })
    await admin(`business update ${businessId} --origin any --page-identify confirmed --bots allow`)
    expect(await find()).toMatchObject({ origins: [], currency: 'EUR', pageIdentify: 'confirmed', bots: 'allow' })
    expect((await admin('business list')).out).toMatch(/^ {2}BUSINESS +STATE [^]*Shop of Zoë/)
    await createBusiness('--name Confirmed --page-identify confirmed')
    expect((await admin('business list')).out).toMatch(/ confirmed +ignore +Confirmed$/m)
  })

  test.each([
    ['--currency U$D', '--currency must be'],
    ['--currency ABCDEFGHI', '--currency must be'],
    ['--country UK', '--country must be'],
    ['--country USA', '--country must be'],
    ['--timezone Mars/Olympus', '--timezone must be'],
    ['--timezone +02:00', '--timezone must be'],
    ['--rate-limit 0', '--rate-limit must be'],
    ['--rate-limit 1.5', '--rate-limit must be'],
    ['--origin shop.example', '--origin must be'],
    ['--bots deny', '--bots must be one of ignore, allow'],
    ['--page-identify closed', '--page-identify must be one of open, confirmed'],
    ["--name ' '", '--name'],
    ['--colour red', "Unknown option '--colour'"],
    ['more words', 'Unexpected argument "more"'],
  ])('create refuses %s', async (options, message) => {
    const { exitCode, out, err } = await admin(`business create --name x ${options}`)
    expect([exitCode, out]).toEqual([2, ''])
    expect(err).toContain(message)
    expect(err).toContain('admin business create --help')
  })

  test('a missing one is reported as missing, in JSON too', async () => {
    const { exitCode, out, err } = await admin(`business update ${NOBODY} --name x --json`)
    const message = `There is no business ${NOBODY}. To see all: admin business list`
    expect([exitCode, err]).toEqual([1, `${message}\n`])
    expect(JSON.parse(out)).toEqual({ error: { code: 'business_not_found', message } })
  })

  test('are removed for good, with a yes; their keys answer 404 within a second', async () => {
    const { businessId, secretKey: key } = await makeBusiness(stack.sql)
    const frontDoor = await runFrontDoor(stack.config)
    const ask = async () => (await speakTo(frontDoor.url)('GET', '/api/custom-fields', { key })).status
    try {
      expect(await admin(`business remove ${businessId}`)).toMatchObject({
        exitCode: 2,
        err: expect.stringContaining('--yes') as string,
      })
      expect(await ask()).toBe(200)
      expect(await adminJson(`business remove ${businessId} --yes`)).toEqual({ businessId, removed: true })
      await sleep(1000)
      expect(await ask()).toBe(404)
    } finally {
      await frontDoor.close()
    }
    const { businesses } = await adminJson<Listed>('business list')
    expect(businesses.map((one) => one.businessId)).not.toContain(businessId)
    for (const command of [`remove ${businessId} --yes`, `update ${businessId} --name x`])
      expect((await admin(`business ${command}`)).exitCode).toBe(1)
  })
})

describe('keys', () => {
  const stored = (key: string) =>
    stack.sql`select * from api_keys where key_hash = ${createHash('sha256').update(key).digest()}`

  test.each(['secret', 'publishable'])('a %s key is long, shown once and stored as its hash', async (kind) => {
    const businessId = await createBusiness()
    const { key, keyId } = await adminJson<{ key: string; keyId: string }>(
      `key create --business ${businessId} --kind ${kind}`,
    )
    expect(key).toMatch(kind === 'secret' ? /^sk_live_[0-9a-f]{40,}$/ : /^pk_live_[0-9a-f]{40,}$/)
    expect(await stored(key)).toMatchObject([{ id: keyId, business_id: businessId, kind, hint: key.slice(-4) }])
    const { out } = await admin(`key list --business ${businessId} --json`)
    expect(out).not.toContain(key)
    expect((await admin(`key list --business ${businessId}`)).out).toMatch(/^ {2}KEY +KIND +ENDS WITH /)
    expect((JSON.parse(out) as Listed).keys).toMatchObject([{ keyId, hint: key.slice(-4), kind, revokedAt: null }])
  })

  test('an older key is brought in once, as a secret one', async () => {
    const businessId = await createBusiness()
    const command = `key import --business ${businessId} --key sluice_live_0123456789abcdef`
    expect(await adminJson(command)).toMatchObject({ kind: 'secret' })
    expect(await stored('sluice_live_0123456789abcdef')).toHaveLength(1)
    expect(await admin(command)).toMatchObject({ exitCode: 1, err: expect.stringContaining('already known') as string })
  })

  test('a key of another shape is refused without being repeated', async () => {
    const { exitCode, err } = await admin(`key import --business ${NOBODY} --key other_0123456789abcdef`)
    expect([exitCode, err.includes('other_')]).toEqual([2, false])
  })

  test('a revoked key stays revoked since then', async () => {
    const businessId = await createBusiness()
    const { keyId } = await adminJson<{ keyId: string }>(`key create --business ${businessId}`)
    const revokedAt = async () => (await adminJson<Listed>(`key list --business ${businessId}`)).keys[0]?.revokedAt
    await adminJson(`key revoke ${keyId}`)
    const first = await revokedAt()
    expect(first).toMatch(/Z$/)
    await adminJson(`key revoke ${keyId}`)
    expect(await revokedAt()).toBe(first)
    expect(await admin(`key revoke ${NOBODY}`)).toMatchObject({
      exitCode: 1,
      err: `There is no key ${NOBODY}. To see all: admin key list\n`,
    })
  })

  test.each(['create', 'import --key sluice_live_fedcba9876543210', 'list'])(
    'key %s needs a business that is there',
    async (command) => {
      expect(await admin(`key ${command} --business ${NOBODY}`)).toMatchObject({
        exitCode: 1,
        err: `There is no business ${NOBODY}. To see all: admin business list\n`,
      })
    },
  )
})

describe('dead letters', () => {
  test('are listed without the payload unless it is asked for, and dropped', async () => {
    const businessId = await createBusiness()
    const id = '0199a0f4-0000-7000-8000-00000000000d'
    await stack.sql`
      insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload, received_at)
      values (${id}, ${businessId}, 'live-0', '1-1', 'track', 'a rule failed', '{"who":"ann"}', 1700000000000)`
    const list = `dead-letters list --business ${businessId}`
    expect(await adminJson(list)).toEqual({
      deadLetters: [
        {
          deadLetterId: id,
          businessId,
          kind: 'track',
          reason: 'a rule failed',
          partition: 'live-0',
          streamId: '1-1',
          receivedAt: '2023-11-14T22:13:20.000Z',
          createdAt: expect.any(String) as string,
        },
      ],
      truncated: false,
    })
    expect((await admin(list)).out).not.toContain('ann')
    expect((await admin(`${list} --payload`)).out).toContain('{"who":"ann"}')
    expect(await adminJson(`dead-letters drop ${id}`)).toEqual({ dropped: [id] })
    expect(await admin(`dead-letters drop ${id}`)).toMatchObject({ exitCode: 1 })
    expect(await adminJson(list)).toEqual({ deadLetters: [], truncated: false })
  })

  test('one that cannot be read cannot be replayed, and stays', async () => {
    const id = '0199a0f4-0000-7000-8000-00000000000e'
    await stack.sql`
      insert into dead_letters (id, partition, stream_id, kind, reason, payload)
      values (${id}, 'live-0', '1-2', 'unreadable', 'no JSON', 'x')`
    const { exitCode, out } = await admin(`dead-letters replay ${id} --json`)
    expect(exitCode).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      results: [{ deadLetterId: id, outcome: expect.stringContaining('not replayable') as string }],
    })
    await adminJson(`dead-letters drop ${id}`)
  })

  test('all are replayed except those that are gone already', async () => {
    const businessId = await createBusiness()
    const request = track(businessId, eventFact('purchase', { email: 'ann@b.example' }))
    const payload = JSON.stringify({ ...request, n: 1, requestId: 'r' })
    const [first, second] = ['0199a0f4-0000-7000-8000-00000000001a', '0199a0f4-0000-7000-8000-00000000001b']
    for (const id of [first, second])
      await stack.sql`
        insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
        values (${id}, ${businessId}, 'live-0', '1-1', 'track', 'a rule failed', ${payload})`
    const all = `dead-letters replay all --business ${businessId} --json`
    const replaying = admin(all, { ...stack.config, answerTimeoutMs: 1500 })
    await expect.poll(() => stack.redis.keys(streamKey('live-*')), { timeout: PATIENCE_MS }).not.toEqual([])
    await stack.sql`delete from dead_letters where id = ${second}`
    const { exitCode, out } = await replaying
    const results = [{ deadLetterId: first, outcome: 'queued' }]
    expect([exitCode, JSON.parse(out)]).toEqual([0, { results }])
    await stack.sql`delete from dead_letters where id = ${first}`
  })

  test(
    'are listed up to 10,000, with a note that there are more; all are replayed, and dropped',
    { timeout: 600_000 },
    async () => {
      const businessId = await createBusiness()
      const add = (count: number) => stack.sql`
      insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
      select gen_random_uuid(), ${businessId}, 'live-0', '1-1', 'unreadable', 'no JSON', 'x'
      from generate_series(1, ${count})`
      const only = `--business ${businessId}`
      const list = async (limit: number) => {
        const command = `dead-letters list --limit ${limit} ${only}`
        const said = await adminJson<{ deadLetters: object[]; truncated: boolean }>(command)
        return [said.deadLetters.length, said.truncated]
      }
      await add(10_001)
      expect(await admin(`dead-letters list --limit 10001 ${only}`)).toMatchObject({ exitCode: 2 })
      expect(await list(10_000)).toEqual([10_000, true])
      const listed = await admin(`dead-letters list --limit 1 ${only}`)
      expect(listed.out).toMatch(/\nThere are more: these are the oldest 1\n$/)
      const replayed = await admin(`dead-letters replay all ${only} --json`)
      const { results } = JSON.parse(replayed.out) as { results: { deadLetterId: string }[] }
      expect(new Set(results.map(({ deadLetterId }) => deadLetterId)).size).toBe(10_001)
      expect((await admin(`dead-letters drop all ${only}`)).out).toBe('Dropped: 10001\n')
      // Exactly one page.
      await add(5000)
      expect(await list(10_000)).toEqual([5000, false])
      expect((await admin(`dead-letters drop all ${only}`)).out).toBe('Dropped: 5000\n')
      expect((await admin(`dead-letters drop all ${only}`)).out).toBe('Dropped: 0\n')
      expect(await list(10_000)).toEqual([0, false])
    },
  )
})

test('a dead letter is replayed to the workers, once', async () => {
  const service = await openService({}, { ownClickHouse: true })
  try {
    const { businessId, secretKey } = await makeBusiness(service.sql)
    const fact = eventFact('purchase', { email: 'ann@b.example' })
    const request = { ...track(businessId, fact), n: 1, requestId: 'r' }
    const id = '0199a0f4-0000-7000-8000-00000000000f'
    await service.sql`
      insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
      values (${id}, ${businessId}, 'live-0', '1-1', 'track', 'a rule failed', ${JSON.stringify(request)})`
    const replayed = await admin('dead-letters replay all --json', service.config)
    expect(replayed).toMatchObject({ exitCode: 0, err: '' })
    expect(JSON.parse(replayed.out)).toEqual({ results: [{ deadLetterId: id, outcome: 'applied' }] })
    expect(await admin(`dead-letters replay ${id}`, service.config)).toMatchObject({ exitCode: 1 })
    const response = await fetch(`${service.url}/api/contacts?email=ann@b.example`, {
      headers: { authorization: `Bearer ${secretKey}` },
    })
    const { data } = (await response.json()) as { data: { contacts: object[] } }
    expect(data.contacts).toMatchObject([{ events: [{ event: 'purchase', count: 1 }] }])
  } finally {
    await service.close()
  }
})

describe('help and faults', () => {
  test('the help for creating a business shows defaults, the help for updating one shows none', async () => {
    expect((await admin('business create --help')).out).toContain('Requests a minute (120)')
    expect((await admin('business update --help')).out).not.toMatch(/\((120|USD|UTC|any)\)/)
  })

  test.each(['', 'business', 'key', 'dead-letters'])('admin %s --help lists commands', async (group) => {
    const { exitCode, out } = await admin(`${group} --help`)
    expect([exitCode, out.includes('Commands:')]).toEqual([0, true])
  })

  test.each([
    'business create',
    'business update',
    'business list',
    'key create',
    'key import',
    'key revoke',
    'key list',
    'dead-letters list',
    'dead-letters replay',
    'dead-letters drop',
    'partitions show',
    'partitions set',
    'import',
  ])('admin %s --help lists its options, and needs no database', async (command) => {
    const { exitCode, out } = await admin(`${command} --help`, readConfig({}))
    expect(exitCode).toBe(0)
    expect(out).toContain(`Usage: admin ${command}`)
    expect(out).toContain('--json')
  })

  test.each(['nothing', 'business remove'])('"admin %s" is not a command', async (command) => {
    expect(await admin(command)).toMatchObject({ exitCode: 2, out: '' })
  })

  test.each([
    ['nonsense', 'There is no command "admin nonsense". To see all: admin --help'],
    ['nonsense --help', 'There is no command "admin nonsense". To see all: admin --help'],
    ['busines', 'There is no command "admin busines". Did you mean "admin business"? To see all: admin --help'],
    [
      'Busines lst',
      'There is no command "admin Busines". Did you mean "admin business list"? To see all: admin --help',
    ],
    [
      `dmeo --business ${NOBODY}`,
      'There is no command "admin dmeo". Did you mean "admin demo"? To see all: admin --help',
    ],
    [
      'business craete --name x',
      'There is no command "admin business craete". Did you mean "admin business create"? To see all: admin business --help',
    ],
    [
      `user revoke ann@x.io`,
      'There is no command "admin user revoke". Did you mean "admin user revoke-operator"? To see all: admin user --help',
    ],
    ['key eat', 'There is no command "admin key eat". To see all: admin key --help'],
    ['--token hidden key create', 'Options come after the command: admin key create …'],
    ['--json business list', 'Options come after the command: admin business list …'],
    ['business create --nmae x', "Unknown option '--nmae'. Did you mean --name?\nSee: admin business create --help"],
    ['business list --colour', "Unknown option '--colour'\nSee: admin business list --help"],
  ])('"admin %s" is refused in few words', async (command, message) => {
    const { exitCode, err } = await admin(command)
    expect([exitCode, err]).toEqual([2, `${message}\n`])
  })

  test.each([
    '--token hidden',
    '--token=hidden',
    '--json --token hidden',
    'key --token hidden',
    'key create --token hidden',
    'key list --json hidden',
    'demo --business --token=hidden',
  ])('"admin %s" is refused without the value of the option', async (command) => {
    const { exitCode, out, err } = await admin(command)
    expect([exitCode, out + err]).toEqual([2, expect.not.stringContaining('hidden') as string])
  })

  test.each(['', 'business', `key --business ${NOBODY}`])(
    '"admin %s" lacks a command, and lists them',
    async (command) => {
      const { exitCode, err } = await admin(command)
      expect([exitCode, err]).toEqual([
        2,
        expect.stringMatching(/^A command is missing\n\nUsage: admin [^]*Commands:/) as string,
      ])
    },
  )

  test('a Postgres that is away is reported in one line', async () => {
    const config = readConfig({ DATABASE_URL: 'postgres://sluice:x@127.0.0.1:1/none' })
    const { exitCode, err } = await admin('business list', config)
    expect([exitCode, err]).toEqual([1, 'Postgres does not answer (ECONNREFUSED). Is Sluice running?\n'])
  })

  test('where nothing was started, or `start` was killed, it first says how to start Sluice', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'sluice-not-started-'))
    const config = readConfig({ DATA_DIR: dataDir })
    const first = 'Sluice is not running. Start it: npm start\n'
    const never = await admin('business list', config)
    expect([never.exitCode, never.err]).toEqual([
      1,
      `${first}Nothing is started in DATA_DIR=${dataDir}. If it runs elsewhere, set DATA_DIR to the directory of the running \`start\`, or set DATABASE_URL, REDIS_URL, CLICKHOUSE_URL.\n`,
    ])
    const url = 'redis://127.0.0.1:1'
    const left = { databaseUrl: 'postgres://sluice:x@127.0.0.1:1/none', redisUrl: url, clickhouseUrl: url }
    await writeFile(join(dataDir, 'engines.json'), JSON.stringify(left))
    const killed = await admin('business list', config)
    expect([killed.exitCode, killed.err]).toEqual([1, `${first}Postgres does not answer (ECONNREFUSED)\n`])
    // Some addresses of your own: Sluice may well be running.
    await rm(dataDir, { recursive: true })
    const own = await admin('demo', readConfig({ DATA_DIR: dataDir, DATABASE_URL: left.databaseUrl }))
    expect(own.err).toMatch(/^No address for REDIS_URL, CLICKHOUSE_URL, and nothing is started in DATA_DIR=/)
  })

  test('an unexpected error too is one line of JSON when JSON was asked for', async () => {
    const url = new URL(stack.databaseUrl)
    url.password = 'wrong'
    const { exitCode, out } = await admin('business list --json', readConfig({ DATABASE_URL: url.href }))
    expect(exitCode).toBe(1)
    expect(out).toMatch(/^[^\n]+\n$/)
    const { error } = JSON.parse(out) as { error: { code: string; message: string } }
    expect(error).toEqual({ code: 'internal', message: expect.stringContaining('authentication failed') as string })
  })

  test('a Postgres without tables asks for the migrations', async () => {
    const url = new URL(stack.databaseUrl)
    url.pathname = 'postgres'
    const { exitCode, err } = await admin('business list', readConfig({ DATABASE_URL: url.href }))
    expect([exitCode, err]).toEqual([1, 'The database has no tables yet. Run `migrate`\n'])
  })
})
