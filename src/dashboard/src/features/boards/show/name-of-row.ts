import { textsOf } from '../../../texts/index.ts'
import { STAGES } from '../../rules/stages.ts'

interface Row {
  value: string | null
  label: string | null
  isOther: boolean
}

/** Returns the name of a row of a breakdown. */
export function nameOfRow({ value, label, isOther }: Row, breakdown: string | undefined): string {
  const texts = textsOf('analytics')
  if (isOther) return texts.others
  if (value === null) return texts.noValue
  return breakdown === 'stage' ? nameOfStage(value) : (label ?? value)
}

export function nameOfStage(stage: string): string {
  const known = STAGES.find((one) => one === stage)
  return known === undefined ? stage : textsOf('contacts').stages[known]
}
