import type { TSchema } from '@sinclair/typebox'
import type { ErrorCode } from '../../errors.ts'

export interface Operation {
  summary: string
  description?: string
  tag: 'Events' | 'Contacts' | 'Campaigns' | 'Analytics' | 'Operation'
  /** Which key the caller needs; `optional` a secret or publishable one, `publishable` that alone, if any. */
  key: 'secret' | 'optional' | 'publishable'
  query?: Record<string, { schema: object; description: string; example?: string }>
  /** `media`: what it may be sent as; JSON alone when left out. */
  body?: { schema: TSchema; example: object; media?: readonly string[] }
  /** Successes by status; `message` and `example` are those of one answer. */
  replies: Record<number, { message: string; description: string; data: TSchema; example: object }>
  errors: readonly ErrorCode[]
}
