/** Every command that changes something leaves an entry in the audit log, with the user of the operating system. */
import { userInfo } from 'node:os'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BUSINESS_COMMANDS } from '../../src/admin/business.ts'
import { type Command, parseArguments } from '../../src/admin/command.ts'
import { DEAD_LETTER_COMMANDS } from '../../src/admin/dead-letters.ts'
import { DELIVERY_COMMANDS } from '../../src/admin/deliveries.ts'
import { DESTINATION_COMMANDS } from '../../src/admin/destination.ts'
import { KEY_COMMANDS } from '../../src/admin/key.ts'
import { PARTITION_COMMANDS } from '../../src/admin/partitions.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'

const COMMANDS: Command[] = [
  ...BUSINESS_COMMANDS,
  ...KEY_COMMANDS,
  ...DESTINATION_COMMANDS,
  ...DELIVERY_COMMANDS,
  ...DEAD_LETTER_COMMANDS,
  ...PARTITION_COMMANDS,
]
const URL = 'https://hooks.example/in?token=hidden'

let stack: Stack
beforeAll(async () => {
  stack = await openStack({ SECRETS_KEY: 'a'.repeat(64) })
})
afterAll(() => stack.close())

async function run(name: string, ...argv: string[]): Promise<Record<string, unknown>> {
  const command = COMMANDS.find((one) => one.name === name)
  if (command === undefined) throw new Error(`no command ${name}`)
  return (await command.run(stack.config, parseArguments(command, argv))).json as Record<string, unknown>
}

async function entries(businessId: string | null): Promise<string[]> {
  const rows = await stack.sql<{ entry: string; kind: string; actor: string }[]>`
    select actor_name || ': ' || action || ' ' || details::text as entry, actor_kind as kind, actor_id as actor
    from audit_log where business_id is not distinct from ${businessId}::uuid order by id`
  for (const { kind, actor } of rows) expect([kind, actor]).toEqual(['command', userInfo().username])
  return rows.map(({ entry }) => entry)
}

it('those for a business', async () => {
  const { businessId } = await run('business create', '--name', 'Bookshop')
  const business = String(businessId)
  await run('business update', business, '--currency', 'EUR')
  const { keyId } = await run('key create', '--business', business)
  await run('key import', '--business', business, '--key', `sluice_live_${'k'.repeat(24)}`)
  await run('key revoke', String(keyId))
  const webhook = ['--business', business, '--kind', 'webhook', '--set', `url=${URL}`]
  const { destinationId } = await run('destination add', ...webhook)
  await run('destination update', String(destinationId), '--active', 'false')
  await run('destination remove', String(destinationId), '--yes')
  await run('deliveries retry', 'all', '--business', business)
  await run('deliveries drop', 'all', '--business', business)
  await run('dead-letters replay', 'all', '--business', business)
  await run('dead-letters drop', 'all', '--business', business)
  await run('business remove', business, '--yes')
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

it('those for the installation', async () => {
  await run('partitions set', '2')
  expect(await entries(null)).toEqual(['admin partitions set: partitions.set {"to": 2}'])
})

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
  await expect(run('dead-letters drop', 'nonsense', '--business', businessId)).rejects.toThrow('ID')
  expect(await entries(businessId)).toEqual([])
})
