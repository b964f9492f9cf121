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
