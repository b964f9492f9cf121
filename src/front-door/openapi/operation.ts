import type { TSchema } from '@sinclair/typebox'
import type { ErrorCode } from '../../errors.ts'

export interface Operation {
  summary: string
  description?: string
  tag:
    | 'Events'
    | 'Contacts'
    | 'Segments'
    | 'Campaigns'
    | 'Messages'
    | 'Analytics'
    | 'Operation'
    | 'Account'
    | 'Settings'
  /**
   * The credentials of the caller. `secret`: a secret key. `optional`: a key of either kind, or none. `publishable`: a
   * publishable key, or none. `session`: the cookie of the dashboard. `none`: none.
   */
  key: 'secret' | 'optional' | 'publishable' | 'session' | 'none'
  query?: Record<string, { schema: object; description: string; example?: string; required?: true }>
  /** `media`: accepted media types. Default: JSON only. */
  body?: { schema: TSchema; example?: object; media?: readonly string[] }
  /** Successful answers by status; `message` and `example` belong to one example answer. */
  replies: Record<number, { message: string; description: string; data: TSchema; example?: object }>
  errors: readonly ErrorCode[]
}
