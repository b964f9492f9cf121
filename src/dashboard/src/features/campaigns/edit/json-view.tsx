/** The campaign as JSON, in the format of the API. The server checks it and reports issues by path. */
import { JsonView } from '../../../parts/form/json-view.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './campaign-editor.module.css'
import { isObject } from './definition.ts'
import { useCampaignEditing } from './editing.ts'
import { Issues } from './parts.tsx'

/** `onFault` reports whether the JSON is faulty. While it is, nothing can be saved. */
export function CampaignJson({ onFault }: { onFault: (isFaulty: boolean) => void }) {
  const texts = textsOf('campaigns')
  const { value, issues, change } = useCampaignEditing()
  return (
    <div className={`card ${styles['json']}`}>
      <JsonView
        name="json"
        label={texts.jsonLabel}
        hint={texts.jsonHint}
        rows={24}
        value={value}
        invalid={texts.jsonInvalid}
        refuse={(read) => (isObject(read) ? undefined : texts.notAnObject)}
        onChange={(next) => change(next)}
        onFault={onFault}
      >
        <Issues issues={issues} />
      </JsonView>
    </div>
  )
}
