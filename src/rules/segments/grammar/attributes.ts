import type { ValueType } from './operators.ts'

/** The attributes of a contact, with the types of their values. A contact can have several emails, phones and ids. */
export const ATTRIBUTES = {
  firstName: 'text',
  lastName: 'text',
  country: 'text',
  city: 'text',
  language: 'text',
  timezone: 'text',
  email: 'text',
  phone: 'text',
  platformCustomerId: 'text',
  stage: 'stage',
  revenue: 'number',
  orderCount: 'number',
  createdAt: 'date',
  subscribed: 'boolean',
} as const satisfies Record<string, ValueType>

export type Attribute = keyof typeof ATTRIBUTES
export const ATTRIBUTE_NAMES = Object.keys(ATTRIBUTES) as Attribute[]
