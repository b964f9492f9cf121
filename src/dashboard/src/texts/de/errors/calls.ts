import type { CALL_FAULTS } from '../../../../../rules/faults/calls.ts'
import type { TextsOf } from '../../error-texts.ts'

export const calls: TextsOf<typeof CALL_FAULTS> = {
  exactly_one: 'Muss genau eines davon haben: {fields}',
  customer_id: 'Muss eine Kundennummer sein',
  not_to_email: 'Passt nicht zu to.email: Die Vorlage ist für {channel}',
  not_to_phone: 'Passt nicht zu to.phone: Die Vorlage ist für {channel}',
  not_by_webhook: 'Kann keine Vorlage für Webhooks sein',
  only_by_email: 'Gibt es nur für E-Mails',
  data_too_deep: 'Ist zu tief verschachtelt',
  valid_for: 'Muss eine Dauer von PT10S bis P3D sein',
  file_name: 'Muss ein Dateiname ohne /, \\ und Steuerzeichen sein',
  media_type: 'Muss ein Medientyp wie application/pdf sein',
  content_id: 'Muss 1 bis 255 Zeichen ohne Leerzeichen und Klammern haben',
  base64: 'Muss Base64 sein',
  per_address_hour: 'Muss eine ganze Zahl von 1 bis {max} oder null sein',
}
