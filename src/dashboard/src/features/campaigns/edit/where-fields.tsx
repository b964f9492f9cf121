/** Conditions on the event that starts a campaign, that is its goal, or that a step waits for. */
import { Button } from '../../../parts/action/button.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type NamedProperty, PropertyRow } from '../../rules/edit/event-fields.tsx'
import type { Draft } from '../../rules/condition.ts'
import { sayAtField } from '../../../without-path.ts'
import { firstCondition } from '../../rules/value.ts'
import { isObject, setAt } from './definition.ts'
import { issueAt, useCampaignEditing } from './editing.ts'
import { Issues, JsonField } from './parts.tsx'

interface WhereProps {
  /** The path of the trigger, the goal or the step. */
  path: string
  /** Its field `where`. */
  where: unknown
  /** Properties to choose from. Undefined: any property. */
  properties?: readonly NamedProperty[]
  /** Label of the button that adds a condition. */
  add: string
}

export function WhereFields({ path, where, properties, add }: WhereProps) {
  const texts = textsOf('campaign-editor')
  const { value, issues, change } = useCampaignEditing()
  const set = (next: unknown) => change(setAt(value, `${path}.where`, next))
  const setWhere = (next: Draft[]) => set(next.length === 0 ? undefined : next)
  if (where !== undefined && !(Array.isArray(where) && where.every(isObject))) {
    return (
      <JsonField
        name="where"
        label={texts.where}
        value={where}
        error={issueAt(issues, `${path}.where`)}
        onChange={set}
      />
    )
  }
  const conditions = (where ?? []) as Draft[]
  const placed = issues
    .filter((issue) => issue.path.startsWith(`${path}.`))
    .map((issue) => ({ part: issue.path.slice(`${path}.`.length), message: sayAtField(issue) }))
  const first = firstCondition({ property: properties?.[0]?.value ?? '' }, properties?.[0]?.type ?? 'text')
  return (
    <>
      {conditions.map((one, at) => (
        <PropertyRow
          key={at}
          condition={one}
          issues={placed}
          path={`where[${at}]`}
          properties={properties}
          onChange={(next) => setWhere(conditions.with(at, next))}
          onRemove={() => setWhere(conditions.toSpliced(at, 1))}
        />
      ))}
      <Issues issues={issues.filter((issue) => issue.path === `${path}.where`)} />
      <div>
        <Button kind="quiet" size="small" icon="plus" onClick={() => setWhere([...conditions, first])}>
          {add}
        </Button>
      </div>
    </>
  )
}
