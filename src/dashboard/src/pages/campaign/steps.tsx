/** The tree of the steps, in words. */
import { Badge } from '../../parts/badge.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Section } from '../../parts/page.tsx'
import { textsOf } from '../../texts/index.ts'
import type { Campaign } from '../campaigns/queries.ts'
import { type Branch, type Step, type StepSpeaker, branchesOf, describeStep } from '../campaigns/steps.ts'
import { useStepSpeaker } from '../campaigns/use-step-speaker.ts'
import { Sentence } from '../segments/sentence.tsx'
import styles from './campaign.module.css'

export function Steps({ businessId, campaign }: { businessId: string; campaign: Campaign }) {
  const texts = textsOf('campaigns')
  const speaker = useStepSpeaker(businessId)
  if (campaign.steps.length === 0) {
    return (
      <Empty icon="list" title={texts.noStepsTitle}>
        {texts.noSteps}
      </Empty>
    )
  }
  return (
    <Section title={texts.steps}>
      <StepList steps={campaign.steps} speaker={speaker} />
    </Section>
  )
}

function StepList({ steps, speaker }: { steps: Step[]; speaker: StepSpeaker }) {
  return (
    <ol className={styles['steps']}>
      {steps.map((step) => (
        <li key={step.id} className={styles['step']}>
          <p className="row">
            <Sentence parts={describeStep(step, speaker)} />
            {step.type === 'send' && step.kind === 'transactional' && (
              <Badge kind="accent">{textsOf('campaigns').transactional}</Badge>
            )}
          </p>
          <Branches branches={branchesOf(step)} speaker={speaker} />
        </li>
      ))}
    </ol>
  )
}

function Branches({ branches, speaker }: { branches: Branch[]; speaker: StepSpeaker }) {
  if (branches.length === 0) return null
  return (
    <ul className={styles['branches']}>
      {branches.map(({ label, steps }, at) => (
        <li key={at}>
          <p className={styles['label']}>{label}</p>
          {steps.length === 0 ? (
            <p className="muted">{textsOf('campaigns').nothing}</p>
          ) : (
            <StepList steps={steps} speaker={speaker} />
          )}
        </li>
      ))}
    </ul>
  )
}
