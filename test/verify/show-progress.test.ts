import { expect, test } from 'vitest'
import { printProgress } from '../../src/admin/verify/print-progress.ts'
import { showProgress } from '../../src/admin/verify/show-progress.ts'

function watch(total: number, isTTY: boolean) {
  const written: string[] = []
  let now = 0
  const progress = showProgress({ isTTY, write: (text) => written.push(text) }, total, () => now)
  return { written, progress, after: (ms: number) => (now += ms) }
}

test('shows done, total, rate and what is left, at intervals', () => {
  const { written, progress, after } = watch(4000, false)
  after(1000)
  progress.advance(500)
  expect(written).toEqual([])
  after(4000)
  progress.advance(500)
  expect(written).toEqual([' 25 %  1000 of 4000 contacts  200/s  15 s left\n'])
  after(5000)
  progress.showStatus('waiting')
  expect(written.at(-1)).toBe(' 25 %  1000 of 4000 contacts  100/s  30 s left  waiting\n')
})

test('says what is left once some seconds and some per cent are done, or a minute', () => {
  const { written, progress, after } = watch(300, true)
  const advance = (ms: number, contacts: number) => {
    after(ms)
    progress.advance(contacts)
    return written.at(-1)?.replace(/^[^]*\/s/, '')
  }
  expect(advance(4999, 100)).toBe('')
  expect(advance(101, 50)).toBe('  6 s left')
  const slow = watch(300, true)
  slow.after(12_000)
  slow.progress.advance(3)
  slow.after(1000)
  slow.progress.advance(11)
  expect(slow.written.map((text) => text.includes('left'))).toEqual([false, false])
  slow.after(1000)
  slow.progress.advance(1)
  expect(slow.written.at(-1)).toMatch(/ 5 % .* {2}266 s left$/)
  const slowest = watch(300, true)
  slowest.after(59_999)
  slowest.progress.advance(1)
  slowest.after(1000)
  slowest.progress.advance(1)
  expect(slowest.written.map((text) => text.includes('left'))).toEqual([false, true])
})

test('starts again when all are read again, and copes with no contacts at all', () => {
  const { written, progress, after } = watch(100, true)
  after(4000)
  progress.advance(100)
  after(1000)
  progress.advance(50)
  progress.end()
  expect(written).toEqual([
    '\r\x1b[K100 %  100 of 100 contacts  25/s',
    '\r\x1b[K 50 %  50 of 100 contacts, again  30/s  2 s left',
    '\r\x1b[K',
  ])
  const none = watch(0, true)
  none.progress.advance(0)
  expect(none.written).toEqual(['\r\x1b[K100 %  0 of 0 contacts  0/s'])
})

test('for programs it is a line of JSON, once a second at most', () => {
  const written: string[] = []
  let now = 0
  const progress = printProgress({ write: (text) => written.push(text) }, 4000, () => now)
  progress.advance(500)
  now = 999
  progress.showStatus('comparing visitors')
  now = 1000
  progress.showStatus('comparing keys')
  now = 5000
  progress.advance(1500)
  progress.end()
  expect(written).toEqual([
    '{"progress":{"contacts":0,"total":4000,"activity":""}}\n',
    '{"progress":{"contacts":500,"total":4000,"activity":"comparing keys"}}\n',
    '{"progress":{"contacts":2000,"total":4000,"activity":""}}\n',
  ])
})
