/** Values that a template can use, to be inserted at the cursor. */
import { useQuery } from '@tanstack/react-query'
import { Section } from '../../../parts/page/page.tsx'
import { textsOf } from '../../../texts/index.ts'
import { fieldsQuery } from '../../rules/queries.ts'
import styles from './template.module.css'

interface ReadableProps {
  businessId: string
  /** Undefined: the values are only listed. */
  onInsert: ((text: string) => void) | undefined
}

const CONTACT = 'firstName lastName email phone country city language timezone stage revenue'.split(' ')
const GROUPS = {
  contact: CONTACT.map((name) => `contact.${name}`),
  event: ['event.name', 'event.properties.…'],
  links: ['unsubscribeUrl', 'preferencesUrl'],
  business: ['business.name'],
  // The person replaces the name of the property.
  examples: ['event.properties.… | money: event.properties.currency', 'event.properties.… | date: "%-d %B %Y"'],
}

export function Readable({ businessId, onInsert }: ReadableProps) {
  const texts = textsOf('templates')
  const groups = useQuery(fieldsQuery(businessId, '')).data?.groups
  const fields = groups?.find(({ group }) => group === 'Custom fields')?.fields ?? []
  const customFields = fields.flatMap(({ condition }) => pathOf(String(condition['customField'])) ?? [])
  return (
    <Section title={texts.readable} intro={onInsert && texts.readableIntro}>
      <div className="stack">
        {Object.entries({ ...GROUPS, customFields }).map(
          ([group, paths]) =>
            paths.length > 0 && (
              <div key={group}>
                <h3 className={styles['small']}>{texts.readableGroups[group as keyof typeof texts.readableGroups]}</h3>
                <ul className={styles['paths']}>
                  {paths.map((path) => (
                    <li key={path}>
                      <Path path={path} onInsert={onInsert} />
                    </li>
                  ))}
                </ul>
              </div>
            ),
        )}
      </div>
    </Section>
  )
}

function Path({ path, onInsert }: { path: string; onInsert: ReadableProps['onInsert'] }) {
  if (onInsert === undefined) return <code dir="ltr">{path}</code>
  // The person replaces it with the name of the property.
  const text = `{{${path.replace('…', 'name')}}}`
  return (
    <button type="button" className={styles['path']} onClick={() => onInsert(text)}>
      <code dir="ltr">{path}</code>
    </button>
  )
}

/** Returns undefined when Liquid cannot express the name. */
function pathOf(name: string): string | undefined {
  if (/^[A-Za-z_][\w-]*$/.test(name)) return `contact.customFields.${name}`
  return name.includes('"') ? undefined : `contact.customFields["${name}"]`
}
