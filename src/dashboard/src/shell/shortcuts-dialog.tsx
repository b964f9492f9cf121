import { Dialog } from '../parts/overlay/dialog.tsx'
import { CheckboxField } from '../parts/form/field.tsx'
import { setShortcutsOn, shortcutsOn } from '../preferences.ts'
import { useStore } from '../store.ts'
import { textsOf } from '../texts/index.ts'
import styles from './shell.module.css'
import { shortcuts } from '../parts/action/shortcuts.ts'

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const { control, shortcuts: texts } = textsOf('shell')
  const isOn = useStore(shortcutsOn)
  const all = [{ keys: `${control}+K`, label: texts.palette }, ...useStore(shortcuts)]
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <dl className={styles['shortcuts']}>
        {all.map(({ keys, label }) => (
          <div key={keys}>
            <dt>{label}</dt>
            <dd>
              <Keys keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
      <CheckboxField
        name="shortcuts"
        label={texts.on}
        hint={texts.hint}
        checked={isOn}
        onChange={(event) => setShortcutsOn(event.target.checked)}
      />
    </Dialog>
  )
}

function Keys({ keys }: { keys: string }) {
  const { and } = textsOf('shell').shortcuts
  const [first = '', second] = keys.split(' ')
  return (
    <>
      {first.split('+').map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
      {second !== undefined && (
        <>
          <span className="muted small">{and}</span>
          <kbd>{second}</kbd>
        </>
      )}
    </>
  )
}
