import { CHANNELS, type Channel } from '../../src/rules/events/facts.ts'
import type { Queryable } from '../../src/stores/postgres.ts'

interface Wanted {
  defaultOn?: boolean
  channels?: readonly Channel[]
  isPublic?: boolean
}

/** Writes topics for email and SMS as saves and claims see them after their creation. */
export async function addTopics(sql: Queryable, businessId: string, topics: Record<string, Wanted>): Promise<void> {
  for (const [position, [key, wanted]] of Object.entries(topics).entries()) {
    const { defaultOn = false, channels = ['email', 'sms'], isPublic = true } = wanted
    const sorted = CHANNELS.filter((one) => channels.includes(one))
    const names = JSON.stringify({ en: { name: `The ${key}` } })
    await sql`
      insert into topics (business_id, key, channels, default_on, is_public, names, default_language, position)
      values (${businessId}, ${key}, ${`{${sorted.join(',')}}`}::text[], ${defaultOn}, ${isPublic}, ${names}::text::jsonb, 'en',
        ${position})
      on conflict do nothing`
  }
  await sql`update businesses set has_topics = true, config_version = config_version + 1 where id = ${businessId}`
}
