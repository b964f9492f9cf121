/** A list of steps, and buttons that add steps. */
import type { KeyboardEvent } from 'react'
import { STEP_TYPES, type StepType } from '../../../../../rules/campaigns/steps.ts'
import { numberOf } from '../../../../../rules/campaigns/step-number.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { Menu } from '../../../parts/overlay/menu.tsx'
import { textsOf } from '../../../texts/index.ts'
import { headingOf } from '../steps.ts'
import styles from './campaign-editor.module.css'
import {
  duplicateStep,
  getAt,
  insertStep,
  isObject,
  listAt,
  listsOf,
  moveStep,
  newStep,
  placeOf,
  removeStep,
} from './definition.ts'
import { otherIssues, useCampaignEditing } from './editing.ts'
import { Issues } from './parts.tsx'
import { PartFields, StepFields, shownFieldsOf } from './step-fields.tsx'

/** `path` is the path of the list. */
export function StepList({ path, label }: { path: string; label: string }) {
  const texts = textsOf('campaign-editor')
  const { value } = useCampaignEditing()
  const steps = listAt(value, path)
  return (
    <div className={styles['list']}>
      {steps.length > 0 && (
        <ol aria-label={label} className={styles['steps']}>
          {steps.map((_, at) => (
            <li key={at}>
              <StepFrame path={`${path}[${at}]`} />
            </li>
          ))}
        </ol>
      )}
      {steps.length === 0 && path !== 'steps' && <p className="muted small">{textsOf('campaigns').nothing}</p>}
      {steps.length === 0 && path === 'steps' && <p className="muted">{texts.noSteps}</p>}
      <AddStep path={path} at={steps.length} label={label} />
    </div>
  )
}

function AddStep({ path, at, label }: { path: string; at: number; label: string }) {
  const texts = textsOf('campaign-editor')
  const { value, change } = useCampaignEditing()
  return (
    <div data-focus={`${path}:add`} tabIndex={-1} className={styles['add']}>
      <Menu
        label={texts.addStepTo(label)}
        items={STEP_TYPES.map((type) => ({
          label: textsOf('campaigns').stepTypes[type],
          onSelect: () => change(insertStep(value, { list: path, at }, newStep(type)), `${path}[${at}]`),
        }))}
      >
        <Icon name="plus" />
        {texts.addStep}
      </Menu>
    </div>
  )
}

function StepFrame({ path }: { path: string }) {
  const texts = textsOf('campaign-editor')
  const { value, issues, change, announce } = useCampaignEditing()
  const step = getAt(value, path)
  const type = isObject(step) ? STEP_TYPES.find((one) => one === step['type']) : undefined
  const name = texts.stepName(numberOf(path), type === undefined ? typeOf(step) : textsOf('campaigns').stepTypes[type])
  const move = (direction: 'up' | 'down', focus: string) => {
    const moved = moveStep(value, path, direction)
    if (moved.path === path) return
    change(moved.value, `${moved.path}:${focus}`)
    announce(texts.moved(numberOf(moved.path)))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    // Only the innermost step moves.
    event.stopPropagation()
    const direction = event.key === 'ArrowUp' ? 'up' : 'down'
    move(direction, direction)
  }
  const inner = listsOf(step)
  const shown = [...(type === undefined ? [] : shownFieldsOf(type)), ...inner.map((list) => `${list}[`)].map(
    (field) => `${path}.${field}`,
  )
  const others = otherIssues(issues, path, []).filter(({ path: at }) => !shown.some((field) => at.startsWith(field)))
  return (
    <div role="group" aria-label={name} className={styles['frame']} onKeyDown={onKeyDown}>
      <div className={styles['bar']}>
        <h3 tabIndex={-1} data-focus={path} className={styles['name']}>
          {name}
        </h3>
        <MoveButton path={path} direction="up" name={name} onMove={move} />
        <MoveButton path={path} direction="down" name={name} onMove={move} />
        <Menu label={texts.actions(name)} items={useActions(path, step)}>
          <Icon name="more" />
        </Menu>
      </div>
      <StepFields path={path} type={type} />
      <Issues issues={others} />
      {inner.map((list, at) => (
        <Branch key={list} path={`${path}.${list}`} label={labelOf(type, at, name)} heading={headingOf(type, at)} />
      ))}
    </div>
  )
}

const typeOf = (step: unknown): string =>
  isObject(step) && typeof step['type'] === 'string' ? step['type'] : textsOf('campaign-editor').unknownStep

function useActions(path: string, step: unknown) {
  const texts = textsOf('campaign-editor')
  const { value, change } = useCampaignEditing()
  const { list, at } = placeOf(path)
  const isLast = at + 1 === listAt(value, list).length
  const after = isLast && at > 0 ? `${list}[${at - 1}]` : path
  const remove = () => change(removeStep(value, path), isLast && at === 0 ? `${list}:add` : after)
  return [
    {
      label: texts.duplicate,
      icon: 'copy' as const,
      onSelect: () => change(duplicateStep(value, path), `${list}[${at + 1}]`),
    },
    ...STEP_TYPES.map((type) => ({
      label: texts.addBefore(textsOf('campaigns').stepTypes[type]),
      icon: 'plus' as const,
      onSelect: () => change(insertStep(value, { list, at }, newStep(type)), path),
    })),
    {
      label: listsOf(step).length > 0 ? texts.removeAll : texts.remove,
      icon: 'trash' as const,
      isDangerous: true,
      onSelect: remove,
    },
  ]
}

interface MoveButtonProps {
  path: string
  direction: 'up' | 'down'
  name: string
  onMove: (direction: 'up' | 'down', focus: string) => void
}

function MoveButton({ path, direction, name, onMove }: MoveButtonProps) {
  const texts = textsOf('campaign-editor')
  return (
    <Button
      kind="quiet"
      size="small"
      icon={direction}
      aria-label={texts.move[direction](name)}
      aria-keyshortcuts={direction === 'up' ? 'Alt+ArrowUp' : 'Alt+ArrowDown'}
      data-focus={`${path}:${direction}`}
      onClick={() => onMove(direction, direction)}
    />
  )
}

function labelOf(type: StepType | undefined, at: number, name: string): string {
  const heading = headingOf(type, at) ?? textsOf('campaign-editor').part(String(at + 1))
  return `${name}: ${heading}`
}

function Branch({ path, label, heading }: { path: string; label: string; heading: string | null }) {
  return (
    <div className={styles['branch']}>
      {heading === null ? <SplitPart path={path} /> : <p className={styles['heading']}>{heading}</p>}
      <StepList path={path} label={label} />
    </div>
  )
}

/** `path` is the path of the part's list of steps. */
function SplitPart({ path }: { path: string }) {
  return <PartFields path={path.slice(0, -'.steps'.length)} />
}
