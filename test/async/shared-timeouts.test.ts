// @serial
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createSharedTimeouts } from '../../src/async/shared-timeouts.ts'

function setUp(ms: number) {
  const timeouts = createSharedTimeouts(ms)
  const late: string[] = []
  return { timeouts, late, begin: (name: string) => timeouts.begin(() => late.push(name)) }
}

it('ends each when its own time is over, in the order in which they began', async () => {
  const { late, begin } = setUp(400)
  begin('a')
  begin('b')
  await sleep(240)
  begin('c')
  expect(late).toEqual([])
  await sleep(280)
  expect(late).toEqual(['a', 'b'])
  await sleep(280)
  expect(late).toEqual(['a', 'b', 'c'])
})

it('says nothing of those that ended before, and goes on with those that begin later', async () => {
  const { timeouts, late, begin } = setUp(200)
  timeouts.end(begin('a'))
  await sleep(320)
  begin('b')
  const c = begin('c')
  timeouts.end(c)
  timeouts.end(c)
  await sleep(320)
  expect(late).toEqual(['b'])
})

it('takes in what begins as another ends, and keeps nobody waiting for it', async () => {
  const { timeouts, late, begin } = setUp(400)
  timeouts.begin(() => begin('next'))
  await sleep(200)
  begin('other')
  await sleep(480)
  expect(late).toEqual(['other'])
  await sleep(320)
  expect(late).toEqual(['other', 'next'])
})

it('ends nothing once it is closed', async () => {
  const { timeouts, late, begin } = setUp(80)
  begin('a')
  timeouts.close()
  await sleep(200)
  expect(late).toEqual([])
})
