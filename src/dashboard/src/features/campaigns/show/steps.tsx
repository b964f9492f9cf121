/** The tree of the steps, in words. */
import { Badge } from '../../../parts/value/badge.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Campaign } from '../queries.ts'
import { type Branch, type Step, type StepSpeaker, branchesOf, describeStep, numberSteps } from '../steps.ts'
import { useStepSpeaker } from '../use-step-speaker.ts'
import { Sentence } from '../../rules/show/sentence.tsx'
import styles from './campaign.module.css'
import { StepNumber } from './step-figures.tsx'

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
      <StepList steps={campaign.steps} speaker={speaker} numbers={numberSteps(campaign.steps)} />
    </Section>
  )
}

interface StepWords {
  speaker: StepSpeaker
  numbers: ReadonlyMap<string, string>
}

function StepList({ steps, ...words }: StepWords & { steps: Step[] }) {
  const { speaker, numbers } = words
  return (
    <ol className={styles['steps']}>
      {steps.map((step) => (
        <li key={step.id}>
          <p className="row">
            <span>
              <StepNumber>{numbers.get(step.id)}</StepNumber> <Sentence parts={describeStep(step, speaker)} />
            </span>
            {step.type === 'send' && step.kind === 'transactional' && (
              <Badge kind="accent">{textsOf('campaigns').transactional}</Badge>
            )}
          </p>
          <Branches branches={branchesOf(step)} {...words} />
        </li>
      ))}
    </ol>
  )
}

function Branches({ branches, ...words }: StepWords & { branches: Branch[] }) {
  if (branches.length === 0) return null
  return (
    <ul className={styles['branches']}>
      {branches.map(({ label, steps }, at) => (
        <li key={at}>
          <p className={styles['label']}>{label}</p>
          {steps.length === 0 ? (
            <p className="muted">{textsOf('campaigns').nothing}</p>
          ) : (
            <StepList steps={steps} {...words} />
          )}
        </li>
      ))}
    </ul>
  )
}
