/** Figures of each step of a campaign: the step in words, and its figures below it, however narrow the page is. */
import type { ReactNode } from 'react'
import { formatNumber } from '../../../format.ts'
import { Num } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Campaign } from '../queries.ts'
import { type StepSpeaker, describeReason, describeStepOf, numberSteps } from '../steps.ts'
import { Sentence } from '../../rules/show/sentence.tsx'
import styles from './campaign.module.css'

interface FiguresOfStep {
  stepId: string
  figures: readonly { label: string; value: number }[]
  /** Number of skipped messages by their reason. Null: the step sends nothing. */
  skipped: Record<string, number> | null
}

interface StepFiguresProps {
  label: string
  campaign: Campaign
  speaker: StepSpeaker
  rows: readonly FiguresOfStep[]
}

export function StepFigures({ label, campaign: { steps }, speaker, rows }: StepFiguresProps) {
  const numbers = numberSteps(steps)
  return (
    <ol className="stack" aria-label={label}>
      {rows.map(({ stepId, figures, skipped }) => (
        <li key={stepId} className="card">
          <p>
            <StepNumber>{numbers.get(stepId)}</StepNumber> <Sentence parts={describeStepOf(steps, stepId, speaker)} />
          </p>
          <dl className={styles['figures']}>
            {figures.map((figure) => (
              <div key={figure.label}>
                <dt className="muted small">{figure.label}</dt>
                <dd>
                  <Num value={figure.value} />
                </dd>
              </div>
            ))}
            {skipped !== null && <Skipped reasons={Object.entries(skipped)} />}
          </dl>
        </li>
      ))}
    </ol>
  )
}

function Skipped({ reasons }: { reasons: [reason: string, many: number][] }) {
  const { skippedWhy, messageStates } = textsOf('campaigns')
  const isNone = reasons.length === 0
  const words = reasons.map(([reason, many]) => `${formatNumber(many)} ${describeReason(reason)}`)
  return (
    <div className={isNone ? undefined : styles['why']}>
      <dt className="muted small">{isNone ? messageStates.skipped : skippedWhy}</dt>
      <dd>{isNone ? <Num value={0} /> : words.join(', ')}</dd>
    </div>
  )
}

/** A step of an earlier version has none. The point is outside: with it, a number would be turned round in Hebrew. */
export function StepNumber({ children }: { children: ReactNode }) {
  if (children === undefined) return null
  return (
    <span className="muted numeric">
      <bdi>{children}</bdi>.
    </span>
  )
}
