import type { DataOf } from '../../data-of.ts'

type ListedContact = DataOf<'/dashboard/api/b/{businessId}/contacts'>['contacts'][number]

/** Journey stages in their order (decisions, "Journey stage"). */
export const STAGES = [
  'Awareness',
  'Consideration',
  'Decision',
  'Retention',
  'Advocacy',
] as const satisfies readonly ListedContact['stage'][]

export type Stage = (typeof STAGES)[number]

interface Named {
  firstName: string | null
  lastName: string | null
  identities: { email: string[]; phone: string[]; platformCustomerId: string[] }
}

/** Returns the name, or another identity that people know the contact by. */
export function nameOf({ firstName, lastName, identities }: Named): string | undefined {
  const name = [firstName, lastName].filter(Boolean).join(' ')
  return name || (identities.email[0] ?? identities.phone[0] ?? identities.platformCustomerId[0])
}
