/** Combines the queries of the messages in flight. */
import { type Batcher, createBatcher } from '../../../async/batcher.ts'
import type { Logger } from '../../../log.ts'
import { type StoredTemplate, loadTemplate } from '../../../messages/templates/load-template.ts'
import type { Sql } from '../../../stores/postgres.ts'
import { type FactsKey, type MessageFacts, loadMessageFacts } from './load-message-facts.ts'
import type { AttemptRecord } from '../settle/record-attempts.ts'
import { recordTogether } from '../claim/record-together.ts'

export interface TemplateKey {
  businessId: string
  templateId: string
}

export interface MessageBatches {
  facts: Batcher<FactsKey, MessageFacts | null>
  templates: Batcher<TemplateKey, StoredTemplate | null>
  /** False when it was not recorded because others hold its rows. */
  attempts: Batcher<AttemptRecord, boolean>
}

/** Shared by all messages that one worker has in flight. */
const MOST = { most: 64 }
/** Recording the outcome of one message costs nearly as much as recording those of many. */
const GATHER = { enough: 16, ms: 20 }

export function createMessageBatches({ sql, log }: { sql: Sql; log: Logger }): MessageBatches {
  return {
    facts: createBatcher((keys) => loadMessageFacts(sql, keys), MOST),
    templates: createBatcher((keys) => loadOnce(keys, (key) => loadTemplate(sql, key)), MOST),
    attempts: createBatcher((records) => recordTogether({ sql, log }, records), { ...MOST, gather: GATHER }),
  }
}

/** Loads each distinct key once. Returns results in the order of the keys. */
async function loadOnce<Key extends object, Loaded>(
  keys: readonly Key[],
  load: (key: Key) => Promise<Loaded>,
): Promise<Loaded[]> {
  const loading = new Map<string, Promise<Loaded>>()
  return Promise.all(
    keys.map((key) => {
      const name = JSON.stringify(key)
      const known = loading.get(name) ?? load(key)
      loading.set(name, known)
      return known
    }),
  )
}
