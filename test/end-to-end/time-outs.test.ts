import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTimeOuts } from '../../src/time-outs.ts'

function setUp(ms: number) {
  const timeOuts = createTimeOuts(ms)
  const late: string[] = []
  return { timeOuts, late, begin: (name: string) => timeOuts.begin(() => late.push(name)) }
}

it('ends each when its own time is over, in the order in which they began', async () => {
  const { late, begin } = setUp(100)
  begin('a')
  begin('b')
  await sleep(60)
  begin('c')
  expect(late).toEqual([])
  await sleep(70)
  expect(late).toEqual(['a', 'b'])
  await sleep(70)
  expect(late).toEqual(['a', 'b', 'c'])
})

it('says nothing of those that ended before, and goes on with those that begin later', async () => {
  const { timeOuts, late, begin } = setUp(50)
  timeOuts.end(begin('a'))
  await sleep(80)
  begin('b')
  const c = begin('c')
  timeOuts.end(c)
  timeOuts.end(c)
  await sleep(80)
  expect(late).toEqual(['b'])
})

it('takes in what begins as another ends, and keeps nobody waiting for it', async () => {
  const { timeOuts, late, begin } = setUp(100)
  timeOuts.begin(() => begin('next'))
  await sleep(50)
  begin('other')
  await sleep(120)
  expect(late).toEqual(['other'])
  await sleep(80)
  expect(late).toEqual(['other', 'next'])
})

it('ends nothing once it is closed', async () => {
  const { timeOuts, late, begin } = setUp(20)
  begin('a')
  timeOuts.close()
  await sleep(50)
  expect(late).toEqual([])
})
