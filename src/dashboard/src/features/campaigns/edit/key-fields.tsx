/** What a campaign enrols once for, and whether events must carry its key. */
import { MAX_KEY_PATH } from '../../../../../rules/campaigns/key-path.ts'
import { WHILE_ACTIVE } from '../../../../../rules/campaigns/while-active.ts'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './campaign-editor.module.css'
import { getAt, isObject, setAt } from './definition.ts'
import { issueAt, useCampaignEditing } from './editing.ts'

/** Returns undefined when it enrols once for each contact. */
const pathOf = (enrolPer: unknown): string | undefined => {
  const property = isObject(enrolPer) ? enrolPer['property'] : undefined
  return typeof property === 'string' ? property : undefined
}

export function EnrolPer() {
  const texts = textsOf('campaign-editor')
  const { value, issues, change } = useCampaignEditing()
  const path = pathOf(value['enrolPer'])
  const whileActive = WHILE_ACTIVE.find((one) => one === value['whileActive']) ?? 'ignore'
  return (
    <>
      <div className={styles['two']}>
        <SelectField
          name="enrolPer"
          label={texts.enrolPer}
          value={path === undefined ? 'contact' : 'property'}
          options={[
            { value: 'contact', label: texts.oncePerContact },
            { value: 'property', label: texts.oncePerProperty },
          ]}
          error={path === undefined ? issueAt(issues, 'enrolPer') : undefined}
          onChange={(event) =>
            change(setAt(value, 'enrolPer', event.target.value === 'contact' ? 'contact' : { property: '' }))
          }
        />
        {path !== undefined && (
          <PathField
            name="enrolPer.property"
            label={texts.keyPath}
            hint={texts.keyPathHint}
            value={path}
            error={issueAt(issues, 'enrolPer')}
            onChange={(property) => change(setAt(value, 'enrolPer', { property }))}
          />
        )}
      </div>
      <SelectField
        name="whileActive"
        label={path === undefined ? texts.whileActive : texts.whileKeyActive}
        value={whileActive}
        options={WHILE_ACTIVE.map((one) => ({ value: one, label: texts.whileActiveKinds[one] }))}
        error={issueAt(issues, 'whileActive')}
        onChange={(event) => change(setAt(value, 'whileActive', event.target.value))}
      />
    </>
  )
}

/** For the goal or for a step. Shown only while the campaign has keys, or when the field has a value. */
export function SameKey({ path }: { path: string }) {
  const texts = textsOf('campaign-editor')
  const { value, issues, change } = useCampaignEditing()
  const sameKey = getAt(value, `${path}.sameKey`)
  const keyPath = pathOf(value['enrolPer'])
  if (keyPath === undefined && (sameKey === undefined || sameKey === null)) return null
  const kind = sameKey === true ? 'same' : typeof sameKey === 'string' ? 'path' : 'any'
  const set = (next: unknown) => change(setAt(value, `${path}.sameKey`, next))
  return (
    <div className={styles['two']}>
      <SelectField
        name={`${path}.sameKey`}
        label={texts.sameKey}
        value={kind}
        options={[
          { value: 'any', label: texts.sameKeyKinds.any },
          { value: 'same', label: texts.sameKeyKinds.same(keyPath ?? '') },
          { value: 'path', label: texts.sameKeyKinds.path },
        ]}
        error={kind === 'path' ? undefined : issueAt(issues, `${path}.sameKey`)}
        onChange={(event) => set(event.target.value === 'same' ? true : event.target.value === 'path' ? '' : undefined)}
      />
      {kind === 'path' && (
        <PathField
          name={`${path}.sameKey.path`}
          label={texts.keyPathThere}
          value={String(sameKey)}
          error={issueAt(issues, `${path}.sameKey`)}
          onChange={set}
        />
      )}
    </div>
  )
}

interface PathProps {
  name: string
  label: string
  hint?: string
  value: string
  error: string | undefined
  onChange: (path: string) => void
}

const PathField = ({ onChange, ...rest }: PathProps) => (
  <TextField
    {...rest}
    maxLength={MAX_KEY_PATH}
    dir="ltr"
    autoComplete="off"
    spellCheck={false}
    onChange={(event) => onChange(event.target.value)}
  />
)
