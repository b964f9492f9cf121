/** `admin user …` against a real Postgres. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Config } from '../../src/config.ts'
import { enginesFile } from '../../src/stores/data-dir.ts'
import { readLink } from '../../src/accounts/links.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { USER_COMMANDS } from '../../src/admin/user.ts'
import { parseArguments } from '../../src/admin/command.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

async function run(line: string, config = stack.config): Promise<Record<string, unknown>> {
  const command = USER_COMMANDS.find(({ name }) => line === name || line.startsWith(`${name} `))
  if (command === undefined) throw new Error(`no command ${line}`)
  const argv = line.slice(command.name.length).trim().split(' ').filter(Boolean)
  return (await command.run(config, parseArguments(command, argv))).json as Record<string, unknown>
}
const tokenOf = ({ url }: Record<string, unknown>) => String(url).split('#')[1] ?? ''

it('creates a user in a business, and prints a link that signs them in', async () => {
  const { businessId } = await createBusiness(stack.sql)
  await expect(run(`user create ann@x.io --business ${businessId} --role analyst`)).rejects.toThrow(
    'has to be its owner',
  )
  const made = await run(`user create Ann@x.io --business ${businessId} --role owner`)
  expect(await readLink(stack.sql, tokenOf(made))).toMatchObject({ kind: 'sign-in', email: 'ann@x.io' })
  await expect(run('user create ann@x.io')).rejects.toThrow('already')
  expect((await run('user list'))['users']).toMatchObject([{ email: 'ann@x.io', isOperator: false }])
  const rows = await stack.sql`select action, actor_kind from audit_log where business_id = ${businessId}`
  expect([...rows]).toEqual([{ action: 'person.create', actor_kind: 'command' }])
})

it('makes operators, and links for them', async () => {
  await run('user create boss@x.io --operator')
  expect(await readLink(stack.sql, tokenOf(await run('user link boss@x.io')))).toMatchObject({ email: 'boss@x.io' })
  await expect(run('user link nobody@x.io')).rejects.toThrow('no user')
  expect(await run('user remove-second-factor boss@x.io')).toEqual({ email: 'boss@x.io', hasTotp: false })
})

it('links to the front door that `start` runs, to PUBLIC_URL if that is set, and else to PORT', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-user-link-'))
  const link = async (settings: Partial<Config>) => {
    const config = { ...stack.config, publicUrl: undefined, dataDir, port: 9001, ...settings }
    const made = await run('user link boss@x.io', config)
    return new URL(String(made['url'])).origin
  }
  expect(await link({})).toBe('http://127.0.0.1:9001')
  await writeFile(enginesFile(dataDir), JSON.stringify({ frontDoorUrl: 'http://127.0.0.1:9002' }))
  expect(await link({})).toBe('http://127.0.0.1:9002')
  expect(await link({ publicUrl: 'https://sluice.example.com/' })).toBe('https://sluice.example.com')
  await rm(dataDir, { recursive: true })
})

it.each([
  ['user create nonsense', 'EMAIL must be'],
  ['user create a@x.io --role owner', 'belong together'],
])('refuses %s', async (line, message) => {
  await expect(run(line)).rejects.toThrow(message)
})
