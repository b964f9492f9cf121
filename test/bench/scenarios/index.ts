import { analytics } from './analytics.ts'
import { batch } from './batch.ts'
import { businesses } from './businesses.ts'
import { contactTable } from './contact-table.ts'
import { dashboard } from './dashboard.ts'
import { features } from './features.ts'
import { identityMesh } from './identity-mesh.ts'
import { idle } from './idle.ts'
import { largeProperties } from './large-properties.ts'
import { latencyByRate } from './latency-by-rate.ts'
import { liveBesideBackfill } from './live-beside-backfill.ts'
import { newContacts } from './new-contacts.ts'
import { oneContact } from './one-contact.ts'
import { track1000, track4000 } from './open-loop.ts'
import { overload } from './overload.ts'
import { saturation } from './saturation.ts'
import type { Scenario } from './scenario.ts'
import { segments } from './segments.ts'
import { sends } from './sends.ts'
import { visibility } from './visibility.ts'

/** In order of execution; cold ones run before the others. */
export const SCENARIOS: readonly Scenario[] = [
  idle,
  contactTable,
  track1000,
  track4000,
  saturation,
  batch,
  liveBesideBackfill,
  oneContact,
  newContacts,
  identityMesh,
  largeProperties,
  businesses,
  overload,
  visibility,
  dashboard,
  features,
  ...segments,
  sends,
  analytics,
  latencyByRate,
]
