/** Fields that several bodies share, with their descriptions. */
import { Type } from '@sinclair/typebox'

export const text = (minLength: number, maxLength: number, description: string, ...examples: string[]) =>
  Type.String({ minLength, maxLength, description, examples })

export const optionalText = (maxLength: number, description: string, ...examples: string[]) =>
  Type.Optional(Type.String({ maxLength, description, examples }))

export const visitorId = optionalText(128, 'Links the call to a browser. A visitor id links to at most 1,000 contacts.')

export const businessId = Type.Optional(
  Type.String({ description: 'A cross-check: must be the id of the business that the key belongs to.' }),
)

export const IdentitySchema = Type.Object(
  {
    email: Type.Optional(
      Type.String({
        description:
          '3 to 320 characters. Trimmed and compared in lower case. Placeholders such as `null@null` are ignored. A contact has at most 100.',
        examples: ['ada@example.com'],
      }),
    ),
    phone: Type.Optional(
      Type.Union([Type.String(), Type.Number()], {
        description:
          "Any format, at most 64 characters. Without + it is a number of the business's country, and the calling code of " +
          'that country may precede it. A number that cannot be parsed matches by its digits only. A contact has at most 100.',
        examples: ['+972501234567'],
      }),
    ),
    platformCustomerId: Type.Optional(
      Type.Union([Type.String(), Type.Number()], {
        description: 'Your own user id, 1 to 255 characters; 42 and "42" are the same id.',
        examples: ['42'],
      }),
    ),
  },
  { description: 'The person: at least one usable field.' },
)

export const traits = Type.Optional(
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
    description:
      'Current values, stored in custom fields; the newest value wins. Keys are snake_case; null clears. Other keys, and strings longer than 4,096 characters, are skipped. At most 500 traits are stored per call. A contact remembers at most 1,000 cleared keys that have no field.',
    examples: [{ plan: 'pro', seats: 5 }],
  }),
)

export const instant = (more: string) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Number()], {
      description:
        'ISO 8601 (a date, or a date and a time; UTC without an offset; the basic form, 20260301T093000Z, needs a time), or epoch milliseconds. Any time in ' +
        `the past, and at most 5 minutes in the future. When left out: now.${more}`,
      examples: ['2026-03-01T09:30:00Z', 1_772_357_400_000],
    }),
  )

export const ageMs = Type.Number({ minimum: 0, description: "How many milliseconds ago, by the browser's own clock." })
