/** A made-up person for a simulation: the form's values, and the contact that is sent. */

export const PROFILE = ['name', 'email', 'phone', 'language', 'country', 'timezone'] as const

export type MadeUp = Record<(typeof PROFILE)[number], string> & {
  /** Separated by commas. */
  tags: string
  customFields: Record<string, string | number | boolean | null>
}

export const emptyPerson = (): MadeUp => ({
  name: '',
  email: '',
  phone: '',
  language: '',
  country: '',
  timezone: '',
  tags: '',
  customFields: {},
})

/** Leaves out empty fields. */
export function contactOf({ tags, customFields, ...profile }: MadeUp) {
  const filled = Object.entries(profile).filter(([, text]) => text.trim() !== '')
  const names = tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  return {
    ...(Object.fromEntries(filled) as Partial<Record<(typeof PROFILE)[number], string>>),
    ...(names.length > 0 && { tags: names }),
    ...(Object.keys(customFields).length > 0 && { customFields }),
  }
}
