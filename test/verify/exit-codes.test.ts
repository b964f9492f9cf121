/** `admin verify` as an operator runs it once: its output and its exit code. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { makePeople, openVerifyLab, type People, type VerifyLab } from './verify-lab.ts'

let lab: VerifyLab
let people: People
afterAll(() => lab?.close())
beforeAll(async () => {
  lab = await openVerifyLab()
  people = await makePeople(lab)
  await lab.shipped()
})

const admin = (words: string, config = lab.config) =>
  runAdminQuietly(['verify', ...words.split(' ').filter(Boolean)], config)

test('says in words what the result is and what to do next', async () => {
  const only = `--business ${people.businessId}`
  const well = await admin(only)
  expect([well.exitCode, well.out]).toEqual([
    0,
    expect.stringMatching(
      /^Postgres and ClickHouse agree: 3 contacts and 2 visitors of 1 business in [\d.]+ s\.\n$/,
    ) as string,
  ])
  await lab.damage(`alter table contact_snapshots delete where contact_id = '${people.ann}'`)
  const ill = await admin(only)
  expect(ill.exitCode).toBe(1)
  expect(ill.out).toContain('1 contact differs: snapshot 1')
  expect(ill.out).toContain(`snapshot contact ${people.ann}: Postgres revision 1, ClickHouse none: no snapshot`)
  expect(ill.out).toContain('Next: admin verify --repair')
  const repaired = await admin(`${only} --repair`)
  expect([repaired.exitCode, repaired.out.split('\n')[0]]).toEqual([0, 'Repaired: 1 contact sent again.'])
  expect(repaired.out).toContain('agree')
})

test('says that the stores could not be compared, and does not say that they differ', async () => {
  const away = await admin('--json --wait 1s', { ...lab.config, clickhouseUrl: 'http://x:y@127.0.0.1:9/none' })
  const message = expect.stringMatching(
    /^ClickHouse has not answered for \d+ s \(ECONNREFUSED\)\. Start it, /,
  ) as string
  expect([away.exitCode, JSON.parse(away.out)]).toEqual([
    3,
    { agree: null, error: { code: 'clickhouse_away', message } },
  ])
})

test.each(['', ' --every 1s'])('says that there is no such business, as other commands do%s', async (every) => {
  const nobody = '01990000-0000-7000-8000-000000000000'
  const { exitCode, err, out } = await admin(`--json --business ${nobody}${every}`)
  const message = `There is no business ${nobody}. To see all: admin business list`
  expect([exitCode, err]).toEqual([1, `${message}\n`])
  expect(JSON.parse(out)).toEqual({ error: { code: 'business_not_found', message } })
})
