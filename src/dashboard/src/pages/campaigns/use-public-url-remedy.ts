import { useMe } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'

/** Returns what the reader can do where PUBLIC_URL is missing. */
export function usePublicUrlRemedy(): string {
  const { remedies } = textsOf('campaigns').needsPublicUrl
  return useMe().user.isOperator ? remedies.operator : remedies.member
}
