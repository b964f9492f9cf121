/** The operators' commands for suppressed addresses. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_SUPPRESSIONS } from '../../src/messages/suppressions/suppress.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { runAdminQuietly } from './run-admin.ts'

let stack: Stack
let folder: string
let businessId: string
beforeAll(async () => {
  stack = await openStack()
  folder = await mkdtemp(join(tmpdir(), 'sluice-suppressions-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await stack.close()
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql, { country: 'IL' }))
})

async function admin(command: string, ...words: string[]): Promise<Record<string, unknown>> {
  const typed = ['suppression', command, '--business', businessId, ...words, '--json']
  const { exitCode, out } = await runAdminQuietly(typed, stack.config)
  return { exitCode, ...(JSON.parse(out) as Record<string, unknown>) }
}
const listed = async (...words: string[]) =>
  ((await admin('list', ...words))['suppressions'] as { channel: string; reason: string; suppressionId: string }[]).map(
    ({ channel, reason }) => `${channel} ${reason}`,
  )

describe('addresses', () => {
  it('are suppressed, listed, found and lifted, with an entry in the audit log', async () => {
    expect(await admin('add', '--address', 'a@x.io', '--address', '054-1234567', '--reason', 'stop')).toEqual({
      exitCode: 0,
      added: 3,
      known: 0,
      overLimit: 0,
      refused: [],
    })
    expect(await admin('add', '--channel', 'email', '--address', 'A@x.io', '--reason', 'stop')).toMatchObject({
      known: 1,
    })
    expect((await listed()).toSorted()).toEqual(['email stop', 'sms stop', 'whatsapp stop'])
    expect(await listed('--address', 'a@x.io')).toEqual(['email stop'])
    expect(await listed('--address', '+972541234567', '--channel', 'sms')).toEqual(['sms stop'])
    expect(await listed('--reason', 'manual')).toEqual([])
    expect(await admin('list', '--limit', '2')).toMatchObject({ truncated: true })
    const [one] = (await admin('list', '--channel', 'email'))['suppressions'] as { suppressionId: string }[]
    const id = one?.suppressionId ?? ''
    expect(await admin('lift', '--id', id, '--yes')).toEqual({ exitCode: 0, lifted: 1 })
    expect(await admin('lift', '--id', id, '--yes')).toMatchObject({
      exitCode: 1,
      error: { code: 'suppression_not_found' },
    })
    expect(await admin('lift', '--reason', 'stop', '--channel', 'sms', '--yes')).toMatchObject({ lifted: 1 })
    expect(await admin('lift', '--reason', 'stop', '--to', '2020-01-01', '--yes')).toMatchObject({ lifted: 0 })
    expect(await admin('lift', '--reason', 'stop', '--from', '2020-01-01', '--yes')).toMatchObject({ lifted: 1 })
    expect(await listed()).toEqual([])
    const rows = await stack.sql<{ action: string; name: string }[]>`
      select action, actor_name as name from audit_log where business_id = ${businessId} order by id`
    expect(rows.map(({ action, name }) => `${action}: ${name}`)).toEqual([
      'suppression.add: admin suppression add',
      ...Array<string>(3).fill('suppression.lift: admin suppression lift'),
    ])
  })

  it('come from a file, and the lines that are none are named', async () => {
    const file = join(folder, 'addresses')
    const many = Array.from({ length: 501 }, (_, n) => `n${n}@x.io`)
    await writeFile(file, ['Email Address', '', ...many, 'no address', '12'].join('\r\n'))
    expect(await admin('add', '--file', file)).toEqual({
      exitCode: 1,
      added: 501,
      known: 0,
      overLimit: 0,
      refused: ['line 504', 'line 505'],
    })
    const both = ['suppression', 'add', '--business', businessId, '--address', 'nobody', '--file', file]
    expect(await runAdminQuietly(both, stack.config)).toMatchObject({
      exitCode: 1,
      out: 'Suppressed: 0, known already: 501\nNot an address: "nobody", line 504, line 505\n',
    })
    const missing = join(folder, 'none')
    expect(await admin('add', '--file', missing)).toMatchObject({
      exitCode: 2,
      error: {
        message: `The file of --file does not exist. Create it with one address a line, or name another file`,
      },
    })
  })

  it('are found in the lines of an export', async () => {
    const file = join(folder, 'export.csv')
    const lines = [
      'Email,Type,Source,Date',
      'gone@shop.example,HardBounce,Recipient,2024-01-15T10:00:00Z',
      'Left@Shop.example;hard',
      '"+972541234567",STOP',
      'gone@shop..example,HardBounce',
    ]
    await writeFile(file, lines.join('\n'))
    const done = await admin('add', '--file', file, '--reason', 'hard_bounce')
    expect(done).toMatchObject({ exitCode: 1, added: 4, refused: ['line 5'] })
    for (const address of ['gone@shop.example', 'left@shop.example'])
      expect(await listed('--address', address)).toEqual(['email hard_bounce'])
    expect(await listed('--address', '+972541234567', '--channel', 'whatsapp')).toEqual(['whatsapp hard_bounce'])
  })

  it('are refused beyond the limit', async () => {
    await admin('add', '--address', 'a@x.io')
    await stack.sql`update suppression_counts set many = ${MAX_SUPPRESSIONS - 1} where business_id = ${businessId}`
    expect(await admin('add', '--address', 'b@x.io', '--address', 'c@x.io')).toMatchObject({
      exitCode: 1,
      added: 1,
      overLimit: 1,
    })
  })
})

describe('a mistake', () => {
  it('is named', async () => {
    const mistyped: string[][] = [
      ['add'],
      ['add', '--address', 'a@x.io', '--channel', 'push'],
      ['add', '--address', 'a@x.io', '--reason', 'bounce'],
      ['list', '--address', 'nobody'],
      ['list', '--limit', '10001'],
      ['lift', '--yes'],
      ['lift', '--reason', 'stop'],
      ['lift', '--reason', 'stop', '--id', businessId, '--yes'],
      ['lift', '--id', businessId, '--channel', 'sms', '--yes'],
      ['lift', '--id', 'x', '--yes'],
      ['lift', '--reason', 'stop', '--from', 'soon', '--yes'],
    ]
    for (const [command = '', ...words] of mistyped)
      expect([command, ...words, (await admin(command, ...words))['exitCode']]).toEqual([command, ...words, 2])
    businessId = '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d38'
    for (const [command = '', ...words] of [
      ['list'],
      ['add', '--address', 'a@x.io'],
      ['lift', '--reason', 'stop', '--yes'],
    ])
      expect(await admin(command, ...words)).toMatchObject({ exitCode: 1, error: { code: 'business_not_found' } })
  })

  it('in the place of an address is answered with the options that take a value', async () => {
    const words = ['suppression', 'add', 'a@x.io', '--business', businessId, '--reason', 'manual']
    const { exitCode, err } = await runAdminQuietly(words, stack.config)
    expect([exitCode, err]).toEqual([
      2,
      `Unexpected argument "a@x.io". A value comes after its option: --channel email|sms|whatsapp, --address ADDRESS, --file FILE\nSee: admin suppression add --help\n`,
    ])
  })

  it('is avoided by the help', async () => {
    for (const command of ['list', 'add', 'lift']) {
      const { exitCode, out } = await runAdminQuietly(['suppression', command, '--help'], stack.config)
      expect(exitCode).toBe(0)
      expect(out).toContain(`suppression ${command}`)
    }
  })
})
