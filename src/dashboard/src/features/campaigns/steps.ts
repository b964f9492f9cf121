/** The steps of a campaign, and what they do in words. */
import { numberOf } from '../../../../rules/campaigns/step-number.ts'
import type { Step as StoredStep, StepType } from '../../../../rules/campaigns/steps.ts'
import { type ListStepType, sentListsIn, walkSteps as walkPaths } from '../../../../rules/campaigns/walk-steps.ts'
import { locale } from '../../format.ts'
import { textsOf } from '../../texts/index.ts'
import { entryOf } from '../rules/entry-of.ts'
import { type Part, type Speaker, describeNode, fill, value, word } from '../rules/sentence.ts'
import { treeOf } from '../rules/tree.ts'
import { formatDuration, formatWeekdays } from './durations.ts'
import type { Campaign } from './queries.ts'

export type Step = Campaign['steps'][number]

export interface StepSpeaker extends Speaker {
  /** Undefined when the template does not exist. */
  nameOfTemplate: (id: string) => string | undefined
}

/** A list of steps inside a step. */
export interface Branch {
  label: string
  steps: Step[]
}

export const branchesOf = (step: Step): Branch[] =>
  sentListsIn(step).map(({ steps }, at) => ({ label: labelOf(step, at), steps: steps as Step[] }))

function labelOf(step: Step, at: number): string {
  const share = step.type === 'split' ? step.parts[at]?.percent : undefined
  return share === undefined ? (headingOf(step.type, at) ?? '') : textsOf('campaigns').share(formatShare(share))
}

/** Returns the heading of a list inside a step. Null: it is a part of a split. */
export function headingOf(type: StepType | undefined, at: number): string | null {
  const { afterEvent, afterTimeout, ifTrue, ifFalse } = textsOf('campaigns')
  const headings: Record<ListStepType, string[]> = {
    wait_for: [afterEvent, afterTimeout],
    branch: [ifTrue, ifFalse],
    split: [],
  }
  const known: Partial<Record<StepType, string[]>> = headings
  return (type && known[type]?.[at]) ?? null
}

const formatShare = (percent: number): string =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }).format(percent / 100)

/** Describes a step without its inner steps. */
export function describeStep(step: Step, speaker: StepSpeaker): Part[] {
  const texts = textsOf('campaigns')
  switch (step.type) {
    case 'send': {
      const name = speaker.nameOfTemplate(step.template)
      return fill(texts.sendSteps[step.channel], [[name === undefined ? word(texts.deletedTemplate) : value(name)]])
    }
    case 'wait':
      return fill(texts.waitStep, [[value(formatDuration(step.for))]])
    case 'wait_until':
      return step.weekdays === undefined
        ? fill(texts.waitUntilStep, [[value(step.time)]])
        : fill(texts.waitUntilDayStep, [[value(step.time)], [value(formatWeekdays(step.weekdays))]])
    case 'wait_for':
      return fill(texts.waitForStep, [[value(step.event)], [value(formatDuration(step.timeout))]])
    case 'branch':
      return fill(texts.branchStep, [describeNode(treeOf(step.rule).root, speaker)])
    case 'split':
      return [word(texts.splitStep)]
    case 'update':
      return describeUpdate(step)
    case 'exit':
      return [word(texts.exitStep)]
    default:
      return describeLater(step)
  }
}

/** Of a step whose type only a later version of the API has: this page describes each type that it knows. */
const describeLater = (step: never): Part[] => [value(JSON.stringify(step))]

/** Returns the changes, separated by semicolons. */
function describeUpdate({ addTags, removeTags, traits }: Extract<Step, { type: 'update' }>): Part[] {
  const texts = textsOf('campaigns')
  const changes = [
    ...(addTags.length > 0 ? [fill(texts.addTagsStep, [[value(listOf(addTags))]])] : []),
    ...(removeTags.length > 0 ? [fill(texts.removeTagsStep, [[value(listOf(removeTags))]])] : []),
    ...Object.entries(traits).map(([key, to]) =>
      to === null
        ? fill(texts.clearTraitStep, [[value(key)]])
        : fill(texts.setTraitStep, [[value(key)], [value(typeof to === 'string' ? to : JSON.stringify(to))]]),
    ),
  ]
  return changes.flatMap((parts, at) => (at === 0 ? parts : [word('; '), ...parts]))
}

/** Joins them with commas and “and”. */
export const listOf = (tags: readonly string[]): string =>
  new Intl.ListFormat(locale, { type: 'conjunction' }).format(tags)

/** Returns all steps, from top to bottom. */
export const walkSteps = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => [step, ...branchesOf(step).flatMap((branch) => walkSteps(branch.steps))])

/** Returns the number of each step by its ID, as in the form of the campaign. */
export const numberSteps = (steps: readonly Step[]): Map<string, string> =>
  new Map(walkPaths(steps as StoredStep[]).map(({ step, path }) => [step.id, numberOf(path)]))

/** Describes the step with this ID, which may be from an earlier version of the campaign. */
export function describeStepOf(steps: readonly Step[], stepId: string, speaker: StepSpeaker): Part[] {
  const step = walkSteps(steps).find(({ id }) => id === stepId)
  return step === undefined ? fill(textsOf('campaigns').earlierStep, [[value(stepId)]]) : describeStep(step, speaker)
}

/** Describes why a message has its state. An unknown reason is shown as the server names it. */
export const describeReason = (reason: string): string => entryOf(textsOf('campaigns').reasons, reason) ?? reason
