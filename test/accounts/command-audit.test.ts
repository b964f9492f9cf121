/** Every command that changes something leaves an entry in the audit log, with the user of the operating system. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BUSINESS_COMMANDS } from '../../src/admin/business.ts'
import { type Command, parseArguments } from '../../src/admin/command.ts'
import { CAMPAIGN_COMMANDS } from '../../src/admin/campaign.ts'
import { CHANNEL_COMMANDS } from '../../src/admin/channel.ts'
import { DEAD_LETTER_COMMANDS } from '../../src/admin/dead-letters.ts'
import { DELIVERY_COMMANDS } from '../../src/admin/deliveries.ts'
import { DESTINATION_COMMANDS } from '../../src/admin/destination.ts'
import { KEY_COMMANDS } from '../../src/admin/key.ts'
import { PARTITION_COMMANDS } from '../../src/admin/partitions.ts'
import { RECOVER_COMMANDS } from '../../src/admin/recover/main.ts'
import { SEGMENT_COMMANDS } from '../../src/admin/segment.ts'
import { SUPPRESSION_COMMANDS } from '../../src/admin/suppression.ts'
import { SENDER_COMMANDS } from '../../src/admin/sender.ts'
import { USER_COMMANDS } from '../../src/admin/user.ts'
import { VERIFY_COMMANDS } from '../../src/admin/verify/main.ts'
import { draftCampaign } from '../support/campaigns.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'

const COMMANDS: Command[] = [
  ...BUSINESS_COMMANDS,
  ...KEY_COMMANDS,
  ...DESTINATION_COMMANDS,
  ...DELIVERY_COMMANDS,
  ...DEAD_LETTER_COMMANDS,
  ...PARTITION_COMMANDS,
  ...USER_COMMANDS,
  ...CHANNEL_COMMANDS,
  ...SENDER_COMMANDS,
  ...CAMPAIGN_COMMANDS,
  ...SEGMENT_COMMANDS,
  ...SUPPRESSION_COMMANDS,
  ...VERIFY_COMMANDS,
  ...RECOVER_COMMANDS,
]
/** `verify` changes something only with --repair. */
const ONLY_READ = [
  'business list',
  'key list',
  'user list',
  'destination list',
  'destination test',
  'deliveries list',
  'dead-letters list',
  'partitions show',
  'channel list',
  'sender list',
  'campaign list',
  'campaign show',
  'campaign report',
  'segment list',
  'segment explain',
  'segment sql',
  'suppression list',
]
const tried = new Set<string>()
const URL = 'https://hooks.example/in?token=hidden'

/** Bun does not know the user's name when `USER` is not set. */
const OS_USER = userInfo().username === 'unknown' ? `uid ${process.getuid?.()}` : userInfo().username

let stack: Stack
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-command-audit-'))
  stack = await openStack({ SECRETS_KEY: 'a'.repeat(64), DATA_DIR: folder }, { ownClickHouse: true })
})
afterAll(async () => {
  await stack.close()
  await rm(folder, { recursive: true })
})

async function run(name: string, ...argv: string[]): Promise<Record<string, unknown>> {
  const command = COMMANDS.find((one) => one.name === name)
  if (command === undefined) throw new Error(`no command ${name}`)
  tried.add(name)
  return (await command.run(stack.config, parseArguments(command, argv))).json as Record<string, unknown>
}

async function entries(businessId: string | null): Promise<string[]> {
  const rows = await stack.sql<{ entry: string; kind: string; actor: string }[]>`
    select actor_name || ': ' || action || ' ' || details::text as entry, actor_kind as kind, actor_id as actor
    from audit_log where business_id is not distinct from ${businessId}::uuid order by id`
  for (const { kind, actor } of rows) expect([kind, actor]).toEqual(['command', OS_USER])
  return rows.map(({ entry }) => entry)
}

it('those for a business', async () => {
  const { businessId } = await run('business create', '--name', 'Bookshop')
  const business = String(businessId)
  await run('business update', business, '--currency', 'EUR')
  await run('business update', business, '--currency', 'EUR', '--bots', 'ignore')
  const { keyId } = await run('key create', '--business', business)
  await run('key import', '--business', business, '--key', `sluice_live_${'k'.repeat(24)}`)
  for (let time = 1; time <= 2; time += 1) await run('key revoke', String(keyId))
  const webhook = ['--business', business, '--kind', 'webhook', '--set', `url=${URL}`]
  const { destinationId } = await run('destination add', ...webhook)
  await run('destination update', String(destinationId), '--active', 'false')
  await run('destination remove', String(destinationId), '--yes')
  await run('deliveries retry', 'all', '--business', business)
  await run('deliveries drop', 'all', '--business', business)
  await run('dead-letters replay', 'all', '--business', business)
  await run('dead-letters drop', 'all', '--business', business)
  await run('business remove', business, '--yes')
  await expect(run('business update', business, '--currency', 'USD')).rejects.toThrow('no business')
  const found = await entries(business)
  expect(found).toEqual([
    'admin business create: business.create {"name": "Bookshop"}',
    'admin business update: business.update {"currency": "EUR"}',
    'admin key create: key.create {"kind": "secret"}',
    'admin key import: key.import {"kind": "secret"}',
    'admin key revoke: key.revoke {}',
    expect.stringMatching(/^admin destination add: destination.add .*"kind": "webhook"/),
    expect.stringMatching(/^admin destination update: destination.update .*"active"/),
    expect.stringMatching(/^admin destination remove: destination.remove .*"webhook"/),
    'admin deliveries retry: delivery.retry {}',
    'admin deliveries drop: delivery.drop {}',
    'admin dead-letters replay: dead-letter.replay {}',
    'admin dead-letters drop: dead-letter.drop {}',
    'admin business remove: business.remove {}',
  ])
  expect(found.join()).not.toContain('hidden')
})

it('those for the data of a business', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const ofChannel = ['--business', businessId, '--channel', 'webhook']
  await run('channel add', ...ofChannel, '--provider', 'webhook', '--set', `url=${URL}`)
  await run('channel update', ...ofChannel, '--new-signing-key')
  await stack.sql`update channels set paused_at = 1, pause_reason = 'refused' where business_id = ${businessId}`
  await run('channel resume', ...ofChannel)
  await run('channel remove', ...ofChannel, '--yes')
  await run('channel test', '--business', businessId, '--channel', 'email', '--to', 'ann@x.io')
  const ofSender = ['--business', businessId, '--channel', 'webhook', '--key', 'spare']
  await run('sender add', ...ofSender, '--provider', 'log')
  await run('sender update', ...ofSender, '--set', 'perSecond=5')
  await run('sender pause', ...ofSender)
  await run('sender resume', ...ofSender)
  await run('sender remove', ...ofSender, '--yes')
  const file = join(folder, 'rule.json')
  await writeFile(
    file,
    JSON.stringify({ all: [{ event: 'lesson', metric: 'count', operator: 'between', value: [1, 5] }] }),
  )
  await run('segment create', '--business', businessId, '--name', 'Students', '--rule-file', file)
  await run('suppression add', '--business', businessId, '--address', 'bob@x.io')
  await run('suppression lift', '--business', businessId, '--reason', 'manual', '--yes')
  const campaign = { name: 'Welcome', trigger: { event: 'signup' }, canEnterAgain: false, goalEvent: null }
  const campaignId = await draftCampaign(stack.sql, businessId, campaign)
  await stack.sql`update campaigns set status = 'published' where id = ${campaignId}`
  // No command creates a campaign.
  await stack.sql`delete from audit_log where target = ${campaignId}`
  await run('campaign pause', campaignId)
  await run('campaign resume', campaignId)
  await run('campaign archive', campaignId, '--yes')
  const found = await entries(businessId)
  expect(found.map((entry) => entry.replace(/ \{.*/s, ''))).toEqual([
    'admin channel add: channel.save',
    'admin channel update: channel.save',
    'admin channel resume: channel.resume',
    'admin channel remove: channel.remove',
    'admin channel test: channel.test',
    'admin sender add: sender.save',
    'admin sender update: sender.save',
    'admin sender pause: sender.pause',
    'admin sender resume: sender.resume',
    'admin sender remove: sender.remove',
    'admin segment create: segment.create',
    'admin suppression add: suppression.add',
    'admin suppression lift: suppression.lift',
    'admin campaign pause: campaign.pause',
    'admin campaign resume: campaign.resume',
    'admin campaign archive: campaign.archive',
  ])
  for (const secret of ['hidden', 'whsec', 'bob@x.io']) expect(found.join()).not.toContain(secret)
})

it('those for the installation', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const role = ['--business', businessId, '--role', 'owner']
  await run('partitions set', '2')
  await run('user create', 'ann@x.io', ...role)
  await run('user create', 'boss@x.io', '--operator')
  await run('user link', 'boss@x.io')
  await stack.sql`update users set totp_secret = 'sealed', totp_confirmed = true where email = 'boss@x.io'`
  for (let time = 1; time <= 2; time += 1) await run('user remove-second-factor', 'boss@x.io')
  for (let time = 1; time <= 2; time += 1) await run('user set-role', 'boss@x.io', ...role)
  await run('user remove-role', 'boss@x.io', '--business', businessId)
  for (let time = 1; time <= 2; time += 1) await run('user grant-operator', 'ann@x.io')
  await run('user revoke-operator', 'ann@x.io')
  await run('user end-sessions', 'boss@x.io')
  await run('user delete', 'boss@x.io', '--yes')
  await run('recover')
  await run('verify')
  await run('verify', '--repair')
  expect(await entries(null)).toEqual([
    'admin partitions set: partitions.set {"to": 2}',
    'admin user create: person.create {"email": "boss@x.io", "isOperator": true}',
    'admin user link: person.link {"email": "boss@x.io"}',
    'admin user remove-second-factor: person.remove-second-factor {"email": "boss@x.io"}',
    'admin user grant-operator: person.grant-operator {"email": "ann@x.io"}',
    'admin user revoke-operator: person.revoke-operator {"email": "ann@x.io"}',
    'admin user end-sessions: person.end-sessions {"email": "boss@x.io"}',
    'admin user delete: person.delete {"email": "boss@x.io"}',
    'admin recover: stores.recover {}',
    'admin verify --repair: stores.repair {}',
  ])
  expect(await entries(businessId)).toEqual([
    'admin user create: person.create {"role": "owner", "email": "ann@x.io"}',
    'admin user set-role: person.role {"role": "owner", "email": "boss@x.io"}',
    'admin user remove-role: person.remove {"email": "boss@x.io"}',
  ])
}, 120_000)

it('a command that changes nothing, or is refused, leaves none', async () => {
  const { businessId } = await createBusiness(stack.sql)
  await run('business list')
  await run('key list', '--business', businessId)
  await run('destination list', '--business', businessId)
  await run('deliveries list', '--business', businessId)
  await run('dead-letters list', '--business', businessId)
  const unknown = '01a20885-0000-7000-8000-000000000000'
  await expect(run('key revoke', unknown)).rejects.toThrow('no key')
  await expect(run('business update', unknown, '--currency', 'EUR')).rejects.toThrow('no business')
  for (const command of ['deliveries retry', 'deliveries drop'])
    await expect(run(command, unknown, '--business', businessId)).rejects.toThrow('does not exist')
  await expect(run('dead-letters drop', 'nonsense', '--business', businessId)).rejects.toThrow('ID')
  expect(await entries(businessId)).toEqual([])
})

/** `demo` and `import` need a running service: see service-command-audit.test.ts. */
it('no other command changes anything', () => {
  const all = COMMANDS.map(({ name }) => name)
  expect(all.filter((name) => !tried.has(name) && !ONLY_READ.includes(name))).toEqual([])
})
