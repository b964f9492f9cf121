/** The operators' commands for destinations and deliveries. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Config } from '../../src/config.ts'
import { findDestination, updateDestination } from '../../src/deliveries/destinations.ts'
import { openSecret, sealSecret } from '../../src/stores/seal-secret.ts'
import { SECRETS, SECRETS_KEY, readDeliveries } from '../deliveries/delivery-lab.ts'
import { OK, type Platform, json, openPlatform } from '../deliveries/platform.ts'
import { type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { runAdminQuietly } from './run-admin.ts'

let stack: Stack
let pipeline: Pipeline
let config: Config
let folder: string
let businessId: string
let platform: Platform
/** The output of all commands so far. */
let output = ''
beforeAll(async () => {
  stack = await openStack({ SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' }, { ownClickHouse: true })
  config = stack.config
  pipeline = await openPipeline(stack.sql)
  folder = await mkdtemp(join(tmpdir(), 'sluice-destinations-'))
  await writeFile(join(folder, 'meta'), `${SECRETS.meta.accessToken}\n`)
  await writeFile(join(folder, 'google'), JSON.stringify(SECRETS.google))
  await writeFile(join(folder, 'short'), 'short')
  await writeFile(join(folder, 'part'), JSON.stringify({ ...SECRETS.google, developerToken: undefined }))
  await writeFile(join(folder, 'key'), 'whsec_of_a_file_of_its_own')
  await writeFile(join(folder, 'broken'), `{"developerToken": "${SECRETS.google.clientSecret}"`)
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await stack.close()
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
  platform = await openPlatform()
  output = ''
})
afterEach(() => platform.close())

async function admin(...words: string[]): Promise<Record<string, unknown>> {
  const { exitCode, out, err } = await runAdminQuietly([...words, '--json'], config)
  output += out + err
  return { exitCode, err, ...(JSON.parse(out) as Record<string, unknown>) }
}
async function add(kind: string, ...words: string[]): Promise<string> {
  const { destinationId, err } = await admin('destination', 'add', '--business', businessId, '--kind', kind, ...words)
  expect(err).toBe('')
  return String(destinationId)
}
const secretFile = (name: string) => ['--secret-file', join(folder, name)]
const list = async () => (await admin('destination', 'list', '--business', businessId))['destinations']
const buy = () => pipeline.track(track(businessId, eventFact('purchase', { email: 'a@x.io' }, { value: 5 })))

describe('a destination', () => {
  it('is added, whatever its kind, listed without its secret, and kept sealed', async () => {
    const meta = await add('meta', '--set', 'pixelId=77', ...secretFile('meta'), '--types', 'lead,purchase')
    const google = await add(
      'google',
      '--set',
      'customerId=12',
      '--set',
      'conversionActions.lead=5',
      ...secretFile('google'),
    )
    const webhook = await admin(
      'destination',
      'add',
      '--business',
      businessId,
      '--kind',
      'webhook',
      '--name',
      'CRM',
      '--set',
      'url=https://crm.example/in',
      '--set',
      'all=true',
    )
    expect(webhook['signingKey']).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    output = output.replace(String(webhook['signingKey']), '')
    const shared = { businessId, active: true, createdAt: expect.any(String) as string }
    expect(await list()).toEqual([
      {
        ...shared,
        destinationId: meta,
        kind: 'meta',
        name: 'meta',
        types: ['purchase', 'lead'],
        settings: { pixelId: '77' },
      },
      {
        ...shared,
        destinationId: google,
        kind: 'google',
        name: 'google',
        types: ['lead'],
        settings: { customerId: '12', conversionActions: { lead: '5' } },
      },
      {
        ...shared,
        destinationId: webhook['destinationId'],
        kind: 'webhook',
        name: 'CRM',
        types: ['purchase', 'lead', 'booking'],
        settings: { url: 'https://crm.example/in', all: true },
      },
    ])
    const stored = JSON.stringify(await stack.sql`select * from destinations`)
    for (const secret of [
      ...Object.values(SECRETS.meta),
      ...Object.values(SECRETS.google),
      String(webhook['signingKey']),
    ].filter((word) => word.length > 3)) {
      expect(output).not.toContain(secret)
      expect(stored).not.toContain(secret)
    }
    const found = await findDestination(stack.sql, google)
    expect(openSecret(found!.secret, google, SECRETS_KEY)).toEqual(SECRETS.google)
    expect(() => openSecret(found!.secret, meta, SECRETS_KEY)).toThrow('SECRETS_KEY')
  })

  it('is changed in what is named alone, and takes settings back', async () => {
    const id = await add('webhook', '--set', 'url=https://crm.example/in', '--set', 'all=true')
    const before = await findDestination(stack.sql, id)
    await admin('destination', 'update', id, '--set', 'all=', '--name', 'New', '--active', 'false')
    expect(await list()).toMatchObject([{ name: 'New', active: false, settings: { url: 'https://crm.example/in' } }])
    expect((await findDestination(stack.sql, id))?.secret).toBe(before?.secret)
    const [row] = await stack.sql<
      { click_ids: string[] }[]
    >`select to_json(click_ids) as click_ids from destinations where id = ${id}`
    expect(row?.click_ids).toContain('ttclid')
  })

  it('that is a webhook gets a new signing key, and the former one signs for a day beside it', async () => {
    const id = await add('webhook', '--set', 'url=https://crm.example/in', ...secretFile('key'))
    const secretOf = async () => openSecret((await findDestination(stack.sql, id))!.secret, id, SECRETS_KEY)
    const former = {
      signingKey: 'whsec_of_a_file_of_its_own',
      until: expect.closeTo(Date.now() + 86_400_000, -5) as number,
    }
    const changed = await admin('destination', 'update', id, '--new-signing-key')
    expect(changed).toMatchObject({
      destinationId: id,
      signingKey: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
    })
    const { signingKey } = changed
    expect(await secretOf()).toEqual({ signingKey, former })
    // A second change ends the first key at once: at most two keys are in force.
    await admin('destination', 'update', id, ...secretFile('key'))
    expect(await secretOf()).toMatchObject({ signingKey: former.signingKey, former: { signingKey } })
  })

  it('gets a new signing key although the former one cannot be opened', async () => {
    const id = await add('webhook', '--set', 'url=https://crm.example/in', ...secretFile('key'))
    const otherKey = 'cd'.repeat(32)
    await stack.sql`update destinations set secret = ${sealSecret({ signingKey: 'x'.repeat(16) }, id, otherKey)} where id = ${id}`
    const { signingKey } = await admin('destination', 'update', id, '--new-signing-key')
    expect(openSecret((await findDestination(stack.sql, id))!.secret, id, SECRETS_KEY)).toEqual({ signingKey })
  })

  it('that is not a webhook has no signing key; and a key is either made or given', async () => {
    const [meta, hook] = [
      await add('meta', '--set', 'pixelId=77', ...secretFile('meta')),
      await add('webhook', '--set', 'url=https://crm.example/in'),
    ]
    expect(await admin('destination', 'update', meta, '--new-signing-key')).toMatchObject({ exitCode: 2 })
    expect(await admin('destination', 'update', hook, '--new-signing-key', ...secretFile('key'))).toMatchObject({
      exitCode: 2,
    })
  })

  it('is changed by two at once, and neither undoes the other', async () => {
    const id = await add('webhook', '--set', 'url=https://crm.example/in', ...secretFile('key'))
    const before = (await findDestination(stack.sql, id))!
    // An operator who is slow to enter the secret.
    const person = join(folder, 'person')
    execFileSync('mkfifo', [person])
    const first = admin('destination', 'update', id, '--set', 'all=true', '--secret-file', person)
    const typing = await open(person, 'w')
    const change = {
      name: 'New',
      active: false,
      types: ['lead' as const],
      settings: { url: 'https://crm.example/new' },
    }
    expect(await updateDestination(stack.sql, before, change)).toBe(true)
    await typing.writeFile('whsec_of_a_person_who_types')
    await typing.close()
    expect(await first).toMatchObject({ exitCode: 0, err: '' })
    expect(await list()).toMatchObject([{ ...change, settings: { url: 'https://crm.example/new', all: true } }])
    const { secret } = (await findDestination(stack.sql, id))!
    expect(openSecret(secret, id, SECRETS_KEY)).toMatchObject({ signingKey: 'whsec_of_a_person_who_types' })
    // A change by another operator in between is not overwritten.
    expect(await updateDestination(stack.sql, before, { settings: { url: 'https://crm.example/stale' } })).toBe(false)
  })

  it('is left alone by an update that names nothing', async () => {
    const id = await add('webhook', '--set', 'url=https://crm.example/in')
    const version = async () =>
      (await stack.sql`select config_version from businesses where id = ${businessId}`)[0]?.[
        'config_version'
      ] as unknown
    const before = await version()
    expect(await admin('destination', 'update', id)).toMatchObject({ exitCode: 2, error: { code: 'usage' } })
    expect(await version()).toBe(before)
  })

  it('for Google wants what has a conversion action', async () => {
    const id = await add(
      'google',
      '--set',
      'customerId=12',
      '--set',
      'conversionActions.booking=5',
      ...secretFile('google'),
    )
    await admin('destination', 'update', id, '--set', 'conversionActions.purchase=6')
    expect(await list()).toMatchObject([{ types: ['purchase', 'booking'] }])
    await admin('destination', 'update', id, '--set', 'conversionActions.booking=')
    expect(await list()).toMatchObject([{ types: ['purchase'] }])
    expect(await admin('destination', 'update', id, '--set', 'conversionActions.purchase=')).toMatchObject({
      exitCode: 2,
    })
    expect(await admin('destination', 'update', id, '--types', 'lead')).toMatchObject({ exitCode: 2 })
  })

  it('is removed with what waits for it, when the operator confirms', async () => {
    const id = await add('webhook', '--set', 'url=https://crm.example/in', '--set', 'all=true')
    await buy()
    expect((await admin('destination', 'remove', id))['exitCode']).toBe(2)
    expect(await readDeliveries(stack.sql, businessId)).toHaveLength(1)
    expect(await admin('destination', 'remove', id, '--yes')).toMatchObject({ exitCode: 0, removed: true })
    expect([await list(), await readDeliveries(stack.sql, businessId)]).toEqual([[], []])
    expect(await admin('destination', 'test', id)).toMatchObject({
      exitCode: 1,
      error: { code: 'destination_not_found' },
    })
  })

  it.each([
    [['--kind', 'fax'], '--kind must be one of meta, google, webhook'],
    [['--kind', 'meta', '--set', 'pixelId=7'], '--secret-file is missing'],
    [
      ['--kind', 'meta', '--set', 'pixelId=7', '--secret-file', '/nowhere/at/all'],
      'The file of --secret-file does not exist. Create it with the secret, or name another file',
    ],
    [
      ['--kind', 'webhook', '--set', 'url=https://x.io', '--secret-file', 'SHORT'],
      '--secret-file: signingKey must be a key of 16 to 256 characters',
    ],
    [
      ['--kind', 'google', '--set', 'customerId=1', '--secret-file', 'BROKEN'],
      '--secret-file must hold {"developerToken"',
    ],
    [['--kind', 'webhook'], '--set: url is missing: it must be an http or https address'],
    [['--kind', 'webhook', '--set', 'url=x.io'], '--set: url must be an http or https address'],
    [
      ['--kind', 'google', '--set', 'customerId=1', '--set', 'conversionActions.lead=5', '--secret-file', 'PART'],
      '--secret-file: developerToken is missing: it must be 1 to 4,096 characters',
    ],
    [
      ['--kind', 'webhook', '--set', 'site=https://x.io'],
      '--set must be NAME=VALUE, with one of these names: url, all; not "site"',
    ],
    [['--kind', 'webhook', '--set', 'all'], '--set must be NAME=VALUE, with one of these names: url, all'],
    [
      ['--kind', 'webhook', '--set', 'url=https://x.io', '--types', 'lead,refund'],
      '--types must be a comma-separated list of purchase, lead, booking',
    ],
  ])('is refused when it is typed wrongly: %j', async (words, message) => {
    const files: Record<string, string> = {
      SHORT: join(folder, 'short'),
      BROKEN: join(folder, 'broken'),
      PART: join(folder, 'part'),
    }
    const typed = words.map((word) => files[word] ?? word)
    expect(await admin('destination', 'add', '--business', businessId, ...typed)).toMatchObject({
      exitCode: 2,
      error: { code: 'usage', message: expect.stringContaining(message) as string },
    })
    expect(output).not.toContain(SECRETS.google.clientSecret)
  })

  it('needs SECRETS_KEY, and a business', async () => {
    const words = ['destination', 'add', '--kind', 'webhook', '--set', 'url=https://x.io', '--business']
    await stack.sql`delete from destinations`
    const without = await runAdminQuietly([...words, businessId], { ...config, secretsKey: undefined })
    expect([without.exitCode, without.err]).toEqual([1, expect.stringMatching(/^SECRETS_KEY is not set: make one/)])
    const id = await add('webhook', '--set', 'url=https://x.io', ...secretFile('key'))
    const other = { ...config, secretsKey: undefined }
    for (const again of [
      [...words, businessId],
      ['destination', 'update', id, ...secretFile('key')],
      ['destination', 'test', id],
    ])
      expect(await runAdminQuietly(again, other)).toMatchObject({
        exitCode: 1,
        err: expect.stringMatching(/^SECRETS_KEY is not set: use the one that Sluice was started with/) as string,
      })
    expect(await admin(...words, crypto.randomUUID())).toMatchObject({ error: { code: 'business_not_found' } })
  })

  it('reminds of SECRETS_KEY where the operator has set it, and not where `start` has made it', async () => {
    const dataDir = await mkdtemp(join(folder, 'key-'))
    const words = ['destination', 'add', '--business', businessId, '--kind', 'webhook', '--set', 'url=https://x.io']
    const run = async () => (await runAdminQuietly(words, { ...config, dataDir })).out
    const key = /^Destination webhook: [\w-]+\. Copy its signing key now, it is shown only once:\nwhsec_\S+\n/
    expect(await run()).toMatch(
      new RegExp(`${key.source}Start the workers with the same SECRETS_KEY as this command\\.\n$`),
    )
    await writeFile(join(dataDir, 'secrets-key'), `${SECRETS_KEY}\n`)
    expect(await run()).toMatch(new RegExp(`${key.source}$`))
    await writeFile(join(dataDir, 'secrets-key'), `${'cd'.repeat(32)}\n`)
    expect(await run()).toContain('SECRETS_KEY')
  })

  it.each([
    ['webhook', 'url=http://169.254.169.254/latest', 'url'],
    ['webhook', 'url=http://10.0.0.5:9000', 'url'],
    ['webhook', 'url=http://127.0.0.1:9', 'url'],
    ['meta', 'baseUrl=http://[::1]:9', 'baseUrl'],
    ['google', 'tokenUrl=http://localhost:9/token', 'tokenUrl'],
  ] as const)('is not saved with an address that is not allowed as a target: %s, %s', async (kind, setting, name) => {
    const needed = {
      webhook: [],
      meta: ['--set', 'pixelId=77', ...secretFile('meta')],
      google: ['--set', 'customerId=12', '--set', 'conversionActions.lead=5', ...secretFile('google')],
    }
    const strict = { ...config, allowLoopbackTargets: undefined }
    const words = ['destination', 'add', '--business', businessId, '--kind', kind, ...needed[kind], '--set', setting]
    const refused = expect.stringMatching(`^--set ${name}: .* is not allowed as a target: `) as string
    expect(await runAdminQuietly(words, strict)).toMatchObject({ exitCode: 2, err: refused })
    expect(await list()).toEqual([])
    const id = await add('webhook', '--set', 'url=https://crm.example/in')
    const change = ['destination', 'update', id, '--set', 'url=http://192.168.1.1']
    expect(await runAdminQuietly(change, strict)).toMatchObject({ exitCode: 2 })
    expect(await list()).toMatchObject([{ settings: { url: 'https://crm.example/in' } }])
    // Changes that do not affect the address are allowed.
    expect(await runAdminQuietly(['destination', 'update', id, '--name', 'CRM'], strict)).toMatchObject({ exitCode: 0 })
  })

  it('may be on this machine while `start` runs there, but not be one of its stores', async () => {
    const words = ['destination', 'add', '--business', businessId, '--kind', 'webhook', '--set']
    const started = { ...config, allowLoopbackTargets: undefined, dataDir: folder }
    await writeFile(join(folder, 'engines.json'), '{}')
    await stack.sql`update businesses set removed_at = now() where id <> ${businessId} and removed_at is null`
    const add = () => runAdminQuietly([...words, `url=${platform.url}`], started)
    expect(await add()).toMatchObject({ exitCode: 0 })
    // A second business ends it, but not that of the demo.
    const { businessId: second } = await createBusiness(stack.sql)
    const shared = expect.stringContaining(
      'which several businesses share (ALLOW_LOOPBACK_TARGETS=true allows it)',
    ) as string
    expect(await add()).toMatchObject({ exitCode: 2, err: shared })
    const explicit = { ...started, allowLoopbackTargets: true }
    expect(await runAdminQuietly([...words, `url=${platform.url}`], explicit)).toMatchObject({ exitCode: 0 })
    await stack.sql`update businesses set demo = true where id = ${second}`
    expect(await add()).toMatchObject({ exitCode: 0 })
    for (const store of [stack.databaseUrl, stack.redisUrl, stack.clickhouseUrl]) {
      const url = `url=http://127.0.0.1:${new URL(store).port}`
      expect(await runAdminQuietly([...words, url], started)).toMatchObject({
        exitCode: 2,
        err: expect.stringMatching('belongs to this installation') as string,
      })
    }
    await rm(join(folder, 'engines.json'))
    expect(await runAdminQuietly([...words, `url=${platform.url}`], started)).toMatchObject({ exitCode: 2 })
  })

  it('is tried out with a conversion that counts nowhere', async () => {
    platform.reply = (response, heard) =>
      heard.path === '/token'
        ? json(200, { access_token: 'ya29', expires_in: 60 })(response, heard)
        : OK(response, heard)
    const webhook = await add('webhook', '--set', `url=${platform.url}/hook`)
    expect(await admin('destination', 'test', webhook)).toMatchObject({ exitCode: 0, taken: true, reason: null })
    const google = await add(
      'google',
      '--set',
      'customerId=12',
      '--set',
      'conversionActions.lead=5',
      '--set',
      `baseUrl=${platform.url}`,
      '--set',
      `tokenUrl=${platform.url}/token`,
      ...secretFile('google'),
    )
    expect(await admin('destination', 'test', google)).toMatchObject({ taken: true })
    const meta = await add('meta', '--set', 'pixelId=77', '--set', `baseUrl=${platform.url}`, ...secretFile('meta'))
    expect(await admin('destination', 'test', meta)).toMatchObject({ exitCode: 2 })
    await admin('destination', 'update', meta, '--set', 'testEventCode=TEST1')
    expect(await admin('destination', 'test', meta)).toMatchObject({ taken: true })
    const bodies = platform.heard.filter(({ path }) => path !== '/token').map(({ body }) => JSON.parse(body) as unknown)
    expect(bodies).toMatchObject([
      { type: 'test' },
      { validateOnly: true, conversions: [{ conversionAction: 'customers/12/conversionActions/5' }] },
      { test_event_code: 'TEST1' },
    ])
    platform.reply = json(400, {})
    expect(await admin('destination', 'test', webhook)).toMatchObject({ exitCode: 1, taken: false, reason: 'HTTP 400' })
  })
})

describe('deliveries', () => {
  it('are listed, tried again and dropped: those given up, or the one that is named', async () => {
    const id = await add('webhook', '--set', 'url=https://crm.example/in', '--set', 'all=true', '--name', 'CRM')
    await buy()
    await buy()
    await buy()
    const shown = (await admin('deliveries', 'list', '--destination', id))['deliveries'] as { deliveryId: string }[]
    expect(shown).toMatchObject([
      { state: 'queued', type: 'purchase', attempts: 0, lastError: null, settledAt: null, destinationName: 'CRM' },
      {},
      {},
    ])
    const { out } = await runAdminQuietly(['deliveries', 'list', '--destination', id], config)
    expect(out).toMatch(/^ {2}DELIVERY .* DESTINATION +STATE +TYPE +EVENT .*\n.* CRM +queued +purchase +purchase /)
    const cut = async (limit: string) => {
      const { deliveries, truncated } = await admin('deliveries', 'list', '--destination', id, '--limit', limit)
      return [(deliveries as object[] | undefined)?.length, truncated]
    }
    expect([await cut('2'), await cut('3'), await cut('10000')]).toEqual([
      [2, true],
      [3, false],
      [3, false],
    ])
    expect(await admin('deliveries', 'list', '--limit', '10001')).toMatchObject({ exitCode: 2 })
    const [first, second, third] = shown.map(({ deliveryId }) => deliveryId)
    const settle = (state: string, delivery = '') =>
      stack.sql`update deliveries set state = ${state}, attempts = 9, last_error = 'HTTP 400', settled_at = now() where id = ${delivery}`
    await settle('dead', first)
    await settle('sent', second)
    expect(await admin('deliveries', 'list', '--business', businessId, '--state', 'dead')).toMatchObject({
      deliveries: [{ deliveryId: first, lastError: 'HTTP 400', nextAttemptAt: null }],
    })
    expect(await admin('deliveries', 'retry', 'all', '--business', crypto.randomUUID())).toMatchObject({
      deliveries: 0,
    })
    expect(await admin('deliveries', 'retry', 'all', '--business', businessId)).toMatchObject({ deliveries: 1 })
    const states = async () =>
      (await readDeliveries(stack.sql, businessId)).map(({ state, attempts }) => [state, attempts])
    expect(await states()).toEqual([
      ['queued', 0],
      ['sent', 9],
      ['queued', 0],
    ])
    expect(await admin('deliveries', 'retry', second!)).toMatchObject({
      exitCode: 1,
      error: { code: 'delivery_not_found' },
    })
    expect(await admin('deliveries', 'drop', 'all', '--business', businessId)).toMatchObject({ deliveries: 0 })
    expect(await admin('deliveries', 'drop', third!)).toMatchObject({ deliveries: 1 })
    expect(await states()).toEqual([
      ['queued', 0],
      ['sent', 9],
    ])
    expect(await admin('deliveries', 'list', '--state', 'lost')).toMatchObject({ exitCode: 2 })
  })
})

it('explains its options', async () => {
  for (const name of [
    'destination add',
    'destination update',
    'destination list',
    'destination remove',
    'destination test',
    'deliveries list',
    'deliveries retry',
    'deliveries drop',
  ]) {
    const { exitCode, out } = await runAdminQuietly([...name.split(' '), '--help'], config)
    expect([exitCode, out]).toEqual([0, expect.stringContaining(`Usage: admin ${name}`)])
  }
  const changing = await runAdminQuietly(['destination', 'update', '--help'], config)
  expect(changing.out).not.toMatch(/\((all|its kind|required; for a webhook a key is generated)\)/)
  const { out } = await runAdminQuietly(['destination', 'add', '--help'], config)
  expect(out).toMatch(/--types LIST .*\(all\)\n/)
  expect(out).toContain(
    'Settings for google: customerId, loginCustomerId, conversionActions.purchase, conversionActions.lead, conversionActions.booking, consent, baseUrl, tokenUrl, apiVersion',
  )
})
