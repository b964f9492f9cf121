/** The operators' commands for channels. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Config } from '../../src/config.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { openPlatform } from '../deliveries/platform.ts'
import { type MailServer, openMailServer, openScriptedServer } from '../messages/channels/mail-server.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { runAdminQuietly } from './run-admin.ts'

let stack: Stack
let config: Config
let folder: string
let mails: MailServer
let businessId: string
/** The output of all commands so far. */
let output = ''
beforeAll(async () => {
  stack = await openStack({ SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' })
  config = stack.config
  folder = await mkdtemp(join(tmpdir(), 'sluice-channels-'))
  await writeFile(join(folder, 'password'), 'open sesame\n')
  await writeFile(join(folder, 'wrong'), 'open says me\n')
  await writeFile(join(folder, 'key'), 'a-key-of-a-file-of-its-own')
  mails = await openMailServer()
})
afterAll(async () => {
  await mails.close()
  await rm(folder, { recursive: true, force: true })
  await stack.close()
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
  output = ''
})

async function admin(command: string, ...words: string[]): Promise<Record<string, unknown>> {
  const typed = ['channel', command, '--business', businessId, ...words, '--json']
  const { exitCode, out, err } = await runAdminQuietly(typed, config)
  output += out + err
  return { exitCode, err, ...(JSON.parse(out) as Record<string, unknown>) }
}
const file = (name: string) => ['--secret-file', join(folder, name)]
const sets = (settings: Record<string, string | number>) =>
  Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`])
const EMAIL = ['--channel', 'email']
const HOOK = ['--channel', 'webhook', '--provider', 'webhook']
const addMail = (more: Record<string, string | number> = {}, ...words: string[]) =>
  admin(
    'add',
    ...EMAIL,
    '--provider',
    'smtp',
    ...sets({ host: '127.0.0.1', port: mails.port, sender: 'Shop <hello@shop.example>', ...more }),
    ...words,
  )
const TO = ['--to', 'ada@example.com']

describe('a channel', () => {
  it('is set up, listed without its secret, changed, tried and removed', async () => {
    const shown = {
      channel: 'email',
      provider: 'smtp',
      host: '127.0.0.1',
      port: mails.port,
      secure: false,
      user: 'shop',
      sender: 'Shop <hello@shop.example>',
      secrets: ['password'],
      updatedAt: expect.any(String) as string,
    }
    expect(await addMail({ user: 'shop' }, ...file('password'))).toMatchObject({ exitCode: 0, channel: shown })
    expect(await addMail()).toMatchObject({ exitCode: 1, error: { code: 'channel_exists' } })
    expect((await admin('list'))['channels']).toMatchObject([shown, { channel: 'sms', provider: 'log' }, {}, {}, {}])
    expect(await admin('update', ...EMAIL, '--set', 'replyTo=help@shop.example')).toMatchObject({
      channel: { ...shown, replyTo: 'help@shop.example' },
    })
    expect(await admin('update', ...EMAIL, '--set', 'host=localhost')).toMatchObject({
      exitCode: 2,
      error: {
        message:
          'password is required, and again when host, port or user change. Give it with --secret-file password=FILE',
      },
    })
    expect(await admin('test', ...EMAIL, ...TO)).toMatchObject({
      exitCode: 0,
      accepted: true,
      outcome: 'accepted',
      provider: 'smtp',
    })
    expect(mails.heard.at(-1)).toMatchObject({ user: 'shop', to: ['ada@example.com'] })
    const limited = await admin('update', ...EMAIL, '--set', 'perSecond=5', '--set', 'dailyBudget=1000')
    expect(limited).toMatchObject({
      channel: { ...shown, replyTo: 'help@shop.example', perSecond: 5, dailyBudget: 1000 },
    })
    expect(await admin('update', ...EMAIL, '--set', 'dailyBudget=')).toMatchObject({
      channel: { perSecond: 5, dailyBudget: null },
    })
    expect(await admin('update', ...EMAIL, '--set', 'perSecond=0')).toMatchObject({ exitCode: 2 })
    expect(await admin('update', ...EMAIL, '--set', 'replyTo=', ...file('wrong'))).toMatchObject({ channel: shown })
    expect(await admin('test', ...EMAIL, ...TO)).toMatchObject({
      exitCode: 1,
      accepted: false,
      outcome: 'temporary',
      reason: expect.stringMatching(/^535 /) as string,
    })
    expect(await admin('resume', ...EMAIL)).toMatchObject({ exitCode: 0, resumed: false })
    await stack.sql`update channels set paused_at = 1, pause_reason = 'refused' where business_id = ${businessId}`
    expect((await admin('list'))['channels']).toMatchObject([{ pauseReason: 'refused' }, {}, {}, {}, {}])
    expect(await admin('resume', ...EMAIL)).toMatchObject({ exitCode: 0, resumed: true })
    expect(await admin('remove', ...EMAIL)).toMatchObject({ exitCode: 2 })
    expect(await admin('remove', ...EMAIL, '--yes')).toMatchObject({ exitCode: 0, removed: true })
    expect(await admin('remove', ...EMAIL, '--yes')).toMatchObject({
      exitCode: 1,
      error: { code: 'channel_not_found' },
    })
    expect(await admin('update', ...EMAIL, '--set', 'port=1')).toMatchObject({ error: { code: 'channel_not_found' } })
    expect(await admin('resume', ...EMAIL)).toMatchObject({ error: { code: 'channel_not_found' } })
    for (const secret of ['open sesame', 'open says me']) expect(output).not.toContain(secret)
    const rows = await stack.sql<{ action: string; name: string; outcome: string | null }[]>`
      select action, actor_name as name, details ->> 'outcome' as outcome
      from audit_log where business_id = ${businessId} order by id`
    expect(rows.map(({ action, name, outcome }) => `${action}: ${name}${outcome ? ` ${outcome}` : ''}`)).toEqual([
      'channel.save: admin channel add',
      'channel.save: admin channel update',
      'channel.test: admin channel test accepted',
      'channel.save: admin channel update',
      'channel.save: admin channel update',
      'channel.save: admin channel update',
      'channel.test: admin channel test temporary',
      'channel.resume: admin channel resume',
      'channel.remove: admin channel remove',
    ])
  })

  it('for a webhook has a key that is made or given, and can get a new one', async () => {
    const platform = await openPlatform()
    const made = await admin('add', ...HOOK, '--set', `url=${platform.url}/in`)
    expect(made['signingKey']).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await admin('test', '--channel', 'webhook')).toMatchObject({ exitCode: 0, accepted: true })
    const changed = await admin('update', '--channel', 'webhook', '--new-signing-key')
    expect(changed['signingKey']).not.toBe(made['signingKey'])
    await admin('test', '--channel', 'webhook')
    // The former key signs as well, for a day.
    expect(platform.heard.at(-1)?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    expect(await admin('update', '--channel', 'webhook', '--new-signing-key', ...file('key'))).toMatchObject({
      exitCode: 2,
    })
    await admin('remove', '--channel', 'webhook', '--yes')
    const given = await admin('add', ...HOOK, '--set', `url=${platform.url}/in`, ...file('key'))
    expect(given).toMatchObject({ exitCode: 0 })
    expect(given).not.toHaveProperty('signingKey')
    await addMail()
    expect(await admin('update', ...EMAIL, '--new-signing-key')).toMatchObject({ exitCode: 2 })
    await platform.close()
  })

  it('has several secrets, each from a file', async () => {
    const resend = (...words: string[]) =>
      admin('add', ...EMAIL, '--provider', 'resend', ...sets({ sender: 'hello@shop.example' }), ...words)
    const named = (name: string, of: string) => ['--secret-file', `${name}=${join(folder, of)}`]
    expect(await resend(...named('apiKey', 'key'), ...file('key'))).toMatchObject({ exitCode: 2 })
    expect(await resend(...file('missing=file'))).toMatchObject({ exitCode: 2 })
    expect(await resend(...file('key'), ...named('webhookSecret', 'key'))).toMatchObject({
      exitCode: 0,
      channel: { provider: 'resend', secrets: ['apiKey', 'webhookSecret'] },
    })
    expect(output).not.toContain('a-key-of-a-file-of-its-own')
  })

  it('is tried with a template and a contact', async () => {
    const { secretKey: _, ...other } = await createBusiness(stack.sql)
    const missing = crypto.randomUUID()
    expect(await admin('test', ...EMAIL, ...TO, '--template', missing)).toMatchObject({
      error: { code: 'template_not_found' },
    })
    expect(await admin('test', ...EMAIL, ...TO, '--contact', missing)).toMatchObject({
      error: { code: 'contact_not_found' },
    })
    expect(await admin('test', ...EMAIL)).toMatchObject({
      exitCode: 2,
      error: { message: '--to is missing: say where the message goes' },
    })
    expect(await admin('test', ...EMAIL, '--to', 'ada')).toMatchObject({
      exitCode: 2,
      error: { message: '--to must be one email address, such as ada@example.com' },
    })
    const id = crypto.randomUUID()
    await stack.sql`insert into templates (business_id, id, name, channel) values (${businessId}, ${id}, 'T', 'email')`
    await stack.sql`
      insert into template_versions (business_id, template_id, version, channel, default_language, variants)
      values (${businessId}, ${id}, 1, 'email', 'en', '{"en": {"subject": "Hi {{contact.firstName}}", "text": "Hello"}}'::jsonb)`
    expect(await admin('test', ...EMAIL, ...TO, '--template', id)).toMatchObject({ exitCode: 0, provider: 'log' })
    const [row] = await stack.sql<
      { message: object }[]
    >`select message from logged_messages where business_id = ${businessId}`
    expect(row?.message).toMatchObject({ subject: 'Hi there' })
    businessId = other.businessId
    expect(await admin('test', ...EMAIL, ...TO, '--template', id)).toMatchObject({
      error: { code: 'template_not_found' },
    })
    businessId = missing
    expect(await admin('test', ...EMAIL, ...TO)).toMatchObject({ error: { code: 'business_not_found' } })
  })

  it('says what became of a message in words', async () => {
    const server = await openScriptedServer({ message: 'hang up' })
    await addMail({ port: server.port })
    const words = ['channel', 'test', '--business', businessId, ...EMAIL, ...TO]
    const { exitCode, out } = await runAdminQuietly(words, config)
    expect([exitCode, out]).toEqual([
      1,
      expect.stringMatching(/^It was handed over, but there was no answer: it may arrive \(smtp\): /),
    ])
    await server.close()
  })

  it.each([
    [['--channel', 'fax', '--provider', 'log'], '--channel must be one of email, sms, whatsapp, push, webhook'],
    [
      [...EMAIL, '--provider', 'fax'],
      '--provider must be one of log, smtp, resend, postmark, ses, twilio, meta, webpush, webhook',
    ],
    [['--channel', 'sms', '--provider', 'smtp'], 'provider must be one of log'],
    [[...EMAIL, '--provider', 'smtp'], 'host is required'],
    [
      [...EMAIL, '--provider', 'smtp', '--set', 'site=x'],
      '--set must be NAME=VALUE, with one of these names: host, port, secure, user, sender, replyTo, perSecond, dailyBudget, reserve; not "site"',
    ],
    [
      [...EMAIL, '--provider', 'smtp', ...sets({ host: 'x.io', port: 'a', sender: 'a@x.io' })],
      'port must be a port from 1 to 65535',
    ],
    [
      [...EMAIL, '--provider', 'smtp', ...sets({ host: '10.0.0.5', sender: 'a@x.io' })],
      'host: 10.0.0.5 is not allowed as a target',
    ],
    [[...EMAIL, '--provider', 'log', '--secret-file', 'x'], '--secret-file is not for log, which has no secret'],
    [
      [...EMAIL, '--provider', 'smtp', '--secret-file', '/nowhere/at/all'],
      'The file of --secret-file does not exist. Create it with the secret, or name another file',
    ],
    [[...EMAIL, '--provider', 'smtp', '--secret-file', '/'], '/ is a directory. Give a file with the secret'],
  ])('is not set up by %j', async (words, message) => {
    expect(await admin('add', ...words)).toMatchObject({
      exitCode: 2,
      error: { message: expect.stringContaining(message) as string },
    })
    expect(await stack.sql`select from channels where business_id = ${businessId}`).toHaveLength(0)
  })

  it('needs SECRETS_KEY where it has a secret', async () => {
    const without = { ...config, secretsKey: undefined }
    const add = [
      'channel',
      'add',
      '--business',
      businessId,
      ...EMAIL,
      '--provider',
      'smtp',
      ...sets({ host: 'x.io', user: 'a', sender: 'a@x.io' }),
      ...file('password'),
    ]
    await stack.sql`delete from channels`
    await stack.sql`delete from destinations`
    expect(await runAdminQuietly(add, without)).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/^SECRETS_KEY is not set: make one/) as string,
    })
    // A second factor is sealed, too.
    await stack.sql`insert into users (id, email, totp_secret) values (${randomUUID()}, 'second@x.io', 'sealed')`
    expect((await runAdminQuietly(add, without)).err).toMatch(/^SECRETS_KEY is not set: use the one/)
    await stack.sql`delete from users`
    await addMail({ user: 'shop' }, ...file('password'))
    businessId = (await createBusiness(stack.sql)).businessId
    const again = add.map((word, at) => (at === 3 ? businessId : word))
    expect(await runAdminQuietly(again, without)).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/^SECRETS_KEY is not set: use the one/) as string,
    })
  })

  it('is left alone by an update that names nothing', async () => {
    await addMail()
    expect(await admin('update', ...EMAIL)).toMatchObject({ exitCode: 2, error: { code: 'usage' } })
  })
})

it('shows how', async () => {
  for (const name of ['add', 'list', 'update', 'test', 'remove']) {
    const { exitCode, out } = await runAdminQuietly(['channel', name, '--help'], config)
    expect([exitCode, out]).toEqual([0, expect.stringContaining(`Usage: admin channel ${name}`)])
  }
  const { out } = await runAdminQuietly(['channel', 'add', '--help'], config)
  expect(out).toContain(
    'Settings for smtp: host, port, secure, user, sender, replyTo, perSecond, dailyBudget, reserve; --secret-file: password',
  )
})
