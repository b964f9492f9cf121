/** Password hashes are computed one at a time, and only a few callers may wait. */
import { expect, it } from 'vitest'
import { PasswordsBusy, hashPassword, verifyPassword } from '../../src/accounts/passwords.ts'

it('proves the password that was hashed, and no other; without a hash it proves none', async () => {
  const stored = await hashPassword('correct horse battery')
  expect(stored).toMatch(/^\$argon2id\$/)
  expect(await verifyPassword(stored, 'correct horse battery')).toBe(true)
  expect(await verifyPassword(stored, 'correct horse')).toBe(false)
  expect(await verifyPassword(null, 'correct horse battery')).toBe(false)
})

it('refuses at once what is more than may wait', async () => {
  const answers = await Promise.allSettled(Array.from({ length: 60 }, () => verifyPassword(null, 'guess')))
  const refused = answers.filter((answer) => answer.status === 'rejected')
  expect(refused).toHaveLength(40)
  for (const { reason } of refused) expect(reason).toBeInstanceOf(PasswordsBusy)
  expect(await verifyPassword(null, 'guess')).toBe(false)
})
