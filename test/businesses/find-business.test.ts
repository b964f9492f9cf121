/** Many lookups at once: each gets its own business. */
import { createHash, randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { findBusinesses, findKeyHolders } from '../../src/businesses/find-business.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex')

it('finds the holders of keys, and none for unknown and revoked ones', async () => {
  const [a, b] = [await createBusiness(stack.sql, { name: 'A' }), await createBusiness(stack.sql, { name: 'B' })]
  await stack.sql`update api_keys set revoked_at = now() where key_hash = decode(${sha256(b.publishableKey)}, 'hex')`
  const keys = ['sk_live_unknown', b.secretKey, b.publishableKey, a.publishableKey, a.secretKey].map(sha256)
  const holders = await findKeyHolders(stack.sql, keys)
  expect(Object.fromEntries([...holders].map(([hash, { kind, business }]) => [hash, [kind, business.id]]))).toEqual({
    [sha256(b.secretKey)]: ['secret', b.businessId],
    [sha256(a.publishableKey)]: ['publishable', a.businessId],
    [sha256(a.secretKey)]: ['secret', a.businessId],
  })
})

it('finds businesses by their ids, and none that is not there', async () => {
  const [a, b] = [await createBusiness(stack.sql, { name: 'A' }), await createBusiness(stack.sql, { name: 'B' })]
  const businesses = await findBusinesses(stack.sql, [randomUUID(), b.businessId, a.businessId])
  expect(Object.fromEntries([...businesses].map(([id, { name }]) => [id, name]))).toEqual({
    [a.businessId]: 'A',
    [b.businessId]: 'B',
  })
})
