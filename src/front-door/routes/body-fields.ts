/** Fields that several bodies have, with their descriptions. */
import { Type } from '@sinclair/typebox'

export const text = (minLength: number, maxLength: number, description: string, ...examples: string[]) =>
  Type.String({ minLength, maxLength, description, examples })

export const optionalText = (maxLength: number, description: string, ...examples: string[]) =>
  Type.Optional(Type.String({ maxLength, description, examples }))

export const visitorId = optionalText(
  128,
  'Links the call to a known browser session. One visitor id belongs to at most 1,000 contacts.',
)

export const businessId = Type.Optional(
  Type.String({ description: 'Cross-check: must be the business that the key belongs to.' }),
)

export const IdentitySchema = Type.Object(
  {
    email: Type.Optional(
      Type.String({
        description:
          '3 to 320 characters; compared trimmed and in lower case. `null@null` and the like are ignored. A contact has at most 100.',
        examples: ['ada@example.com'],
      }),
    ),
    phone: Type.Optional(
      Type.Union([Type.String(), Type.Number()], {
        description:
          "Any format, at most 64 characters. Without + it is a number of the business's country, and the calling code of " +
          'that country may stand in front. One that cannot be read is found by the same digits alone. A contact has at most 100.',
        examples: ['+972501234567'],
      }),
    ),
    platformCustomerId: Type.Optional(
      Type.Union([Type.String(), Type.Number()], {
        description: 'Your own user id, 1 to 255 characters; 42 and "42" are one id.',
        examples: ['42'],
      }),
    ),
  },
  { description: 'Who it is about: at least one usable field.' },
)

export const traits = Type.Optional(
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
    description:
      'Current state, newest wins, written to custom fields. Keys are snake_case; null clears. Any other key, or a longer string than 4,096 characters, is skipped; of the others 500 are taken. A contact remembers at most 1,000 cleared keys that have no field.',
    examples: [{ plan: 'pro', seats: 5 }],
  }),
)

export const instant = (more: string) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Number()], {
      description:
        'ISO 8601 (a date, or a date and a time; UTC without an offset; the basic form, 20260301T093000Z, needs a time), or epoch milliseconds; any past ' +
        `time, at most 5 minutes ahead. Now when left out.${more}`,
      examples: ['2026-03-01T09:30:00Z', 1_772_357_400_000],
    }),
  )

export const ageMs = Type.Number({ minimum: 0, description: "Milliseconds ago, by the browser's own clock." })
