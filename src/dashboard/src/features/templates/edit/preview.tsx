/** Preview of the stored version for a chosen contact and language, and a test. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { Content } from '../content.tsx'
import { ContactPicker } from '../../contacts/links.ts'
import { type Shown, type Template, previewQuery } from '../queries.ts'
import { TestSend } from '../test-send.tsx'
import { SmsCount } from './sms-count.tsx'
import styles from './template.module.css'
import { nameOfLanguage } from './variants.tsx'

interface PreviewProps {
  businessId: string
  template: Template
  isChanged: boolean
}

export function Preview({ businessId, template, isChanged }: PreviewProps) {
  const texts = textsOf('templates')
  const canSend = useCan('audience:write')
  const { templateId, version, channel, variants } = template
  const [shown, show] = useState<Shown>({ contactId: undefined, language: undefined })
  const [isTesting, setTesting] = useState(false)
  const { data, error } = useQuery(previewQuery({ businessId, templateId }, version, shown))
  const test = (
    <Button icon="send" onClick={() => setTesting(true)}>
      {texts.test}
    </Button>
  )
  return (
    <Section title={texts.preview} intro={texts.previewIntro} actions={canSend && test}>
      {isChanged && <Note>{texts.previewOfSaved}</Note>}
      <div className={styles['shown']}>
        <ContactPicker
          businessId={businessId}
          contactId={shown.contactId}
          label={texts.chooseContact}
          onChoose={(contactId) => show({ ...shown, contactId })}
        />
        {shown.contactId !== undefined && (
          <Button
            kind="quiet"
            icon="close"
            aria-label={texts.nobody}
            onClick={() => show({ ...shown, contactId: undefined })}
          />
        )}
        <SelectField
          name="language"
          label={texts.language}
          isLabelHidden
          value={shown.language ?? ''}
          options={[
            { value: '', label: texts.ofContact },
            ...Object.keys(variants).map((value) => ({ value, label: nameOfLanguage(value) })),
          ]}
          onChange={(event) => show({ ...shown, language: event.target.value || undefined })}
        />
      </div>
      <ErrorBox error={error} />
      {data === undefined && error === null && <Loading lines={6} />}
      {data !== undefined && (
        <>
          <Content
            src={frameOf({ businessId, templateId, version, ...shown })}
            rendering={data.message}
            title={texts.preview}
          />
          {channel === 'sms' && <SmsCount text={data.message.text ?? ''} />}
        </>
      )}
      {isTesting && (
        <TestSend
          businessId={businessId}
          channel={channel}
          template={{ templateId, name: template.name, ...shown }}
          onClose={() => setTesting(false)}
        />
      )}
    </Section>
  )
}

/** The version is a parameter so that the browser loads the frame again after a save. */
function frameOf({
  businessId,
  templateId,
  version,
  contactId,
  language,
}: Shown & Record<'businessId' | 'templateId', string> & { version: number }): string {
  const query = new URLSearchParams({
    version: String(version),
    ...(contactId !== undefined && { contactId }),
    ...(language !== undefined && { language }),
  })
  return `/dashboard/api/b/${businessId}/templates/${templateId}/html?${query.toString()}`
}
