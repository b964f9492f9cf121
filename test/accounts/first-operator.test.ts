/** The operator that is created on the first start, and the links that are printed. */
import { expect, it } from 'vitest'
import { ensureOperator } from '../../src/accounts/first-operator.ts'
import { readLink, redeemLink } from '../../src/accounts/links.ts'
import { listMembers } from '../../src/accounts/members.ts'
import { PLACEHOLDER_EMAIL, listUsers, updateUser } from '../../src/accounts/users.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

it('owns the new business, and gets a link at every start until one was opened', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const tokens = [await ensureOperator(stack.sql, businessId), await ensureOperator(stack.sql, undefined)]
  expect(new Set(tokens).size).toBe(2)
  for (const token of tokens)
    expect(await readLink(stack.sql, token ?? '')).toMatchObject({ kind: 'sign-in', email: PLACEHOLDER_EMAIL })
  const [operator, ...others] = await listUsers(stack.sql)
  expect([operator?.isOperator, operator?.hasPassword, others]).toEqual([true, false, []])
  expect(await listMembers(stack.sql, businessId)).toMatchObject([{ userId: operator?.id, role: 'owner' }])

  expect(await redeemLink(stack.sql, tokens[0] ?? '')).toBe(true)
  await updateUser(stack.sql, operator?.id ?? '', { email: 'boss@x.io' })
  expect(await ensureOperator(stack.sql, undefined)).toBeUndefined()
  expect(await listUsers(stack.sql)).toHaveLength(1)
})

it('is created again when no operator is left', async () => {
  await stack.sql`update users set is_operator = false`
  expect(await ensureOperator(stack.sql, undefined)).toBeTypeOf('string')
  expect(await listUsers(stack.sql)).toMatchObject([{ email: 'boss@x.io' }, { email: PLACEHOLDER_EMAIL }])
})
