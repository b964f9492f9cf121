/** Caches the versions of published campaigns, which never change. */
import type { Definition } from '../../../rules/campaigns/definition.ts'
import type { SendStep } from '../../../rules/campaigns/steps.ts'
import { valuesIn, walkSteps } from '../../../rules/campaigns/walk-steps.ts'
import type { MessageChannel } from '../../../rules/messages/message-channel.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import { type VersionKey, namesAwaitedIn, readVersion } from '../../versions.ts'

/** Maximum number of versions: each can have a few hundred kilobytes. */
const MAX_CACHED = 300

export interface Version {
  definition: Definition
  /** Channels of its messages. */
  channels: readonly MessageChannel[]
  /** Its messages. */
  sends: readonly SendStep[]
  /** Keys of the topics of its messages. */
  topics: readonly string[]
  /** Events that its steps wait for, whatever they say. */
  awaited: readonly string[]
  hasBranches: boolean
}

export interface VersionCache {
  /** Null when there is none. */
  read(sql: Queryable, key: VersionKey): Promise<Version | null>
}

export function createVersionCache(): VersionCache {
  const known = new Map<string, Version>()
  return {
    async read(sql, key) {
      const name = `${key.businessId} ${key.campaignId} ${key.version}`
      const cached = known.get(name)
      known.delete(name)
      const version = cached ?? digest(await readVersion(sql, key))
      if (version === null) return null
      known.set(name, version)
      const [oldest] = known.keys()
      if (known.size > MAX_CACHED && oldest !== undefined) known.delete(oldest)
      return version
    },
  }
}

function digest(definition: Definition | null): Version | null {
  if (definition === null) return null
  const { steps } = definition
  return {
    definition,
    channels: [...new Set(valuesIn(steps, 'channel'))],
    sends: walkSteps(steps).flatMap(({ step }) => (step.type === 'send' ? [step] : [])),
    topics: [...new Set([...valuesIn(steps, 'topic'), ...(definition.topic === undefined ? [] : [definition.topic])])],
    awaited: namesAwaitedIn(steps),
    hasBranches: valuesIn(steps, 'rule').length > 0,
  }
}
