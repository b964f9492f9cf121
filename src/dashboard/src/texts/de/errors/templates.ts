import type { TEMPLATE_FAULTS } from '../../../../../rules/faults/templates.ts'
import type { TextsOf } from '../../error-texts.ts'

export const templates: TextsOf<typeof TEMPLATE_FAULTS> = {
  suppressed: 'Ist eine gesperrte Adresse: Heben Sie zuerst die Sperre auf',
  one_email: 'Muss eine E-Mail-Adresse sein, etwa ada@example.com',
  phone: 'Muss eine Telefonnummer sein, etwa +4930123456',
  texts_up_to: 'Muss eine Liste von höchstens {max} Texten sein',
  name_of_provider: 'Muss ein Name des Anbieters sein',
  clean_string: 'Muss ein Text ohne NUL-Zeichen und einzelne Surrogate sein',
  default_language: 'Muss eine der Sprachen der Vorlage sein',
  language_name: 'Muss nach einer Sprache wie en oder pt-BR benannt sein',
  there_twice: 'Kommt zweimal vor',
  one_body: 'Eines davon ist erforderlich: {parts}',
  html_or_mjml: 'Muss html oder mjml haben, nicht beide',
  not_of_channel: 'Ist kein Feld des Kanals {channel}',
  languages: 'Muss 1 bis {max} Sprachen haben',
  no_confirm_url: 'Hat in der Sprache {language} kein {value}',
  reads: '{value} hat weder ein Kontakt noch ein Ereignis. Erlaubt sind {readable}',
  push_size: 'Titel, Text und Adresse haben zusammen {bytes} Byte: Eine Push-Nachricht hat höchstens {max}',
  of_template_for: 'Gehört zu einer Vorlage für {channel}',
}
