/** The campaign as JSON, in the format of the API. The server checks it and reports issues by path. */
import { useState } from 'react'
import { Copy } from '../../../parts/value/code.tsx'
import { TextAreaField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './campaign-editor.module.css'
import { type Json, isObject } from './definition.ts'
import { useCampaignEditing } from './editing.ts'
import { Issues, readJson } from './parts.tsx'

/** `onFault` reports whether the JSON is faulty. While it is, nothing can be saved. */
export function JsonView({ onFault }: { onFault: (isFaulty: boolean) => void }) {
  const texts = textsOf('campaigns')
  const { value, issues, change } = useCampaignEditing()
  const [typed, setTyped] = useState(() => JSON.stringify(value, null, 2))
  const read = readObject(typed)
  // The value was changed elsewhere, because the draft was discarded.
  const isOther = 'value' in read && JSON.stringify(read.value) !== JSON.stringify(value)
  const shown = isOther ? JSON.stringify(value, null, 2) : typed
  return (
    <div className={`card ${styles['json']}`}>
      <TextAreaField
        name="json"
        label={texts.jsonLabel}
        hint={texts.jsonHint}
        rows={24}
        dir="ltr"
        spellCheck={false}
        value={shown}
        error={'fault' in read ? `${texts.jsonInvalid} ${read.fault}` : undefined}
        onChange={({ target }) => {
          setTyped(target.value)
          const next = readObject(target.value)
          onFault('fault' in next)
          if ('value' in next) change(next.value)
        }}
      />
      <Issues issues={issues} />
      <div className="row">
        <Copy what={shown} />
      </div>
    </div>
  )
}

function readObject(text: string): { value: Json } | { fault: string } {
  const read = readJson(text)
  if ('fault' in read) return read
  return isObject(read.value) ? { value: read.value } : { fault: textsOf('campaigns').notAnObject }
}
