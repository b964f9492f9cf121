/** What a read of a person returns. */
import { expect, it } from 'vitest'
import { readContact } from '../../src/contacts/read/read-contact.ts'
import { NOW, identify, identifyFact, openPipeline } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

it.each([100, 101])('lists the newest hundred browsers, oldest first: of %i', async (many) => {
  const { businessId } = await createBusiness(stack.sql)
  const pipeline = await openPipeline(stack.sql)
  const visitorIds = Array.from({ length: many }, (_, n) => `v${n}`)
  const came = (visitorId: string, n: number) => ({
    ...identify(businessId, identifyFact({ email: 'ann@x.io' }, { visitorId })),
    receivedAt: NOW + n,
  })
  const [answer] = await pipeline.apply(...visitorIds.map(came))
  const { contactId } = answer as { contactId: string }
  const contact = await readContact(stack.sql, { businessId, contactId, currency: 'USD' })
  expect(contact?.visitorIds).toEqual(visitorIds.slice(-100))
  expect(contact?.visitors.map(({ visitorId }) => visitorId)).toEqual(visitorIds.slice(-100))
})
