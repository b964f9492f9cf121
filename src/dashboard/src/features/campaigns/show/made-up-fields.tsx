import { TextField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { isObject } from '../edit/definition.ts'
import { JsonField } from '../edit/parts.tsx'
import styles from './campaign.module.css'
import { type MadeUp, PROFILE } from './made-up.ts'

interface MadeUpProps {
  person: MadeUp
  issueOf: (name: string) => string | undefined
  onChange: (person: MadeUp) => void
}

export function MadeUpFields({ person, issueOf, onChange }: MadeUpProps) {
  const texts = textsOf('simulation')
  return (
    <div className={styles['person']}>
      {PROFILE.map((name) => (
        <TextField
          key={name}
          name={`contact.${name}`}
          label={texts.profile[name]}
          value={person[name]}
          dir="auto"
          autoComplete="off"
          spellCheck={false}
          error={issueOf(`contact.${name}`)}
          onChange={(event) => onChange({ ...person, [name]: event.target.value })}
        />
      ))}
      <TextField
        name="contact.tags"
        label={texts.tags}
        hint={texts.tagsHint}
        value={person.tags}
        dir="auto"
        autoComplete="off"
        spellCheck={false}
        error={issueOf('contact.tags')}
        onChange={(event) => onChange({ ...person, tags: event.target.value })}
      />
      <JsonField
        name="contact.customFields"
        label={texts.customFields}
        value={person.customFields}
        rows={3}
        error={issueOf('contact.customFields')}
        onChange={(next) =>
          onChange({ ...person, customFields: isObject(next) ? (next as MadeUp['customFields']) : {} })
        }
      />
    </div>
  )
}
