import { ClickHouseError } from '@clickhouse/client'
import { expect, it } from 'vitest'
import { readFault } from '../../src/embedded/clickhouse/clickhouse-statement.ts'
import { isFullDiskError } from '../../src/stores/full-disk.ts'
import { describeFault } from '../../src/stores/insert-lines.ts'

it.each([
  // Messages of each engine on a full disk.
  'MISCONF Errors writing to the AOF file: No space left on device',
  'Short write while writing to the AOF file: (nwritten=71234, expected=100061)',
  'PANIC:  could not write to file "pg_wal/xlogtemp.99": No space left on device',
  'ENOSPC: no space left on device, write',
  'Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space. (NOT_ENOUGH_SPACE)',
  Object.assign(new Error('could not extend file "base/5/1259"'), { code: '53100' }),
])('knows a full disk: %s', (words) => {
  expect(isFullDiskError(words)).toBe(true)
})

it.each([
  'connect ECONNREFUSED 127.0.0.1:6379',
  new Error('out of memory'),
  Object.assign(new Error('deadlock detected'), { code: '40P01' }),
])('takes no other error for one: %s', (words) => {
  expect(isFullDiskError(words)).toBe(false)
})

it('names it where ClickHouse fails, and keeps the data out', () => {
  const { text, code } = readFault(
    Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
  )
  expect([code, text]).toEqual(['243', expect.stringMatching(/\(NOT_ENOUGH_SPACE\)$/)])
  const full = new ClickHouseError({
    message: 'Cannot reserve 1 MiB, not enough space',
    code: '243',
    type: 'NOT_ENOUGH_SPACE',
  })
  expect(describeFault(full)).toBe('ClickHouse: NOT_ENOUGH_SPACE (243): its disk is full')
  const other = new ClickHouseError({ message: 'Memory limit exceeded', code: '241', type: 'MEMORY_LIMIT_EXCEEDED' })
  expect(describeFault(other)).toBe('ClickHouse: MEMORY_LIMIT_EXCEEDED (241)')
})
