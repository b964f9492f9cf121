/** The configuration of a business at one version, as the rules read it. */
import type { ConversionType, FieldType } from './events/facts.ts'
import type { KeyReader } from './campaigns/enrolment-key.ts'
import type { WhileActive } from './campaigns/while-active.ts'
import type { CompiledCondition, EventCondition } from './campaigns/event-condition.ts'
import type { TriggerTest } from './campaigns/event-trigger.ts'
import type { WebTest, WebTriggerName } from './campaigns/web-trigger.ts'
import type { CompiledSegments, SegmentRule } from './segments/compile/compile-segments.ts'
import type { TopicRules } from './topics/topic.ts'

/** Entering or leaving this segment starts a campaign. */
export interface SegmentTrigger {
  segmentId: string
  on: 'enter' | 'leave'
}

/** The step at which an enrolment begins. */
export interface FirstStep {
  id: string
  /** The event that the step waits for, if any. */
  listensFor: string | null
  /** The step waits for events that meet conditions. */
  condition?: EventCondition | null
}

/** A published or paused campaign. */
export interface Campaign {
  id: string
  /** While it is paused, contacts cannot enter. Goals and awaited events still apply. */
  isPaused: boolean
  version: number
  /** Null when it has no steps. */
  firstStep: FirstStep | null
  /**
   * The event that starts it. A segment or a browser capture may start it instead. All three are null for a broadcast,
   * which no item starts.
   */
  triggerEvent: string | null
  /** Selects the events of that name that start it. Null: all of them. */
  triggerTest: TriggerTest | null
  triggerSegment: SegmentTrigger | null
  /** The automatic browser capture that starts it. */
  triggerWeb: { name: WebTriggerName; test: WebTest } | null
  goalEvent: string | null
  canEnterAgain: boolean
  /** Absent: the campaign enrols once for each contact, its goal has no conditions, and trigger events are ignored meanwhile. */
  keyed?: KeyedCampaign
}

/** What a campaign has that enrols once for each key, whose goal has conditions, or that follows its trigger events. */
export interface KeyedCampaign {
  /** Reads the key of a trigger event. Null: the campaign enrols once for each contact. */
  readKey: KeyReader | null
  /** The path of the key. */
  keyPath: string | null
  /** Null: every event of the goal's name is the goal. */
  goal: CompiledCondition | null
  whileActive: WhileActive
  /** Where enrolments begin again, by version. */
  firstSteps: ReadonlyMap<number, FirstStep>
  /** Epoch milliseconds. */
  publishedAt: number
}

/** An ad platform or webhook that receives conversions. */
export interface Destination {
  id: string
  /** The types that it receives. */
  types: ConversionType[]
}

/**
 * How far a page's `identify` is trusted. `open`: it takes effect at once. `confirmed`: for a contact that a keyed call
 * has used, it waits until a keyed call confirms it.
 */
export const PAGE_IDENTIFY = ['open', 'confirmed'] as const
export type PageIdentify = (typeof PAGE_IDENTIFY)[number]

/** The configuration of a business at one version. */
export interface BusinessState {
  id: string
  configVersion: number
  /** Items of an inactive business are not applied. */
  active: boolean
  fields: Map<string, FieldType>
  campaigns: Campaign[]
  /** The events that steps of its campaigns wait for, including those of former versions. */
  awaited: ReadonlySet<string>
  /** Some goals or steps of its campaigns have conditions on events. */
  hasConditions: boolean
  /** The conditions of such steps, by the name of the event. */
  awaitedConditions: ReadonlyMap<string, readonly CompiledCondition[]>
  /** It has ever published a campaign, so its contacts may have enrolments. */
  isEnrolling: boolean
  /** It has ever published a campaign with keys, so its contacts may have enrolments with keys. */
  isKeyed: boolean
  /** Only the active ones. */
  destinations: Destination[]
  pageIdentify: PageIdentify
  /** By key, with archived ones. */
  topics: ReadonlyMap<string, TopicRules>
  /** The rules that are evaluated for every item: those in force, and those that are being built. */
  segmentRules: SegmentRule[]
  /** `segmentRules` compiled for `fields`; null when there are none. */
  segments: CompiledSegments | null
}
