import { expect, test } from 'vitest'
import { chooseBuffers } from '../../src/embedded/postgres/choose-buffers.ts'

test.each([
  [512, 128],
  [2048, 512],
  [4096, 512],
  [4104, 513],
  [32_760, 4095],
  [32_768, 4096],
  [1_000_000, 4096],
  [1001.9, 250],
])('with %d MB of memory, %d MB are for the buffers', (memory, buffers) => expect(chooseBuffers(memory)).toBe(buffers))
