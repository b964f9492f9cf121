import { expect, test } from 'vitest'
import { post } from '../../src/outbound/post.ts'
import { LOOPBACK_GUARD } from '../deliveries/delivery-lab.ts'
import { openPlatform } from '../deliveries/platform.ts'

test.each([
  [65_535, 65_535],
  [65_536, 65_536],
  [65_537, 65_536],
  [1_000_000, 65_536],
])('an answer of %i bytes is read up to byte %i', async (bytes, read) => {
  const platform = await openPlatform((response) => void response.end('x'.repeat(bytes)))
  try {
    const { status, text } = await post(
      { url: platform.url, headers: {}, body: '{}' },
      LOOPBACK_GUARD,
      AbortSignal.timeout(10_000),
    )
    expect([status, text.length]).toEqual([200, read])
  } finally {
    await platform.close()
  }
})
