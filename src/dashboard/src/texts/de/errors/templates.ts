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
  link_scheme: 'Hat einen Link, der mit {value} beginnt. Ein Link darf mit {schemes} beginnen',
  push_size: 'Titel, Text und Adresse haben zusammen {bytes} Byte: Eine Push-Nachricht hat höchstens {max}',
  too_deep: 'Hat mehr als {max} Elemente ineinander',
  lost_text:
    '„{value}“ geht im HTML verloren: Setzen Sie Text in mj-text oder ein anderes Element für Text, und schließen Sie jedes Element',
  lost_liquid: '{value} geht im HTML verloren: Zwischen Elementen gehört es in mj-raw',
  lost_media: 'Ein mj-style mit inline="inline" verliert @media: Setzen Sie es in eines ohne inline',
  no_include: 'mj-include liest eine Datei, und Vorlagen können keine Dateien lesen: Fügen Sie ihren Inhalt ein',
  mjml_letters: '<{value}> muss kleingeschrieben sein',
  mjml_bodies: 'Hat mehr als einen mj-body, von denen einer verloren geht',
  mjml_open: '<{value}> steht in einem Text: Schließen Sie das Element davor',
  reads_data: 'Liest Daten, die nur ein Sendeaufruf hat',
  data_in_use: 'Darf keine Daten lesen, die nur ein Sendeaufruf hat: wird verwendet von {names}',
  of_template_for: 'Gehört zu einer Vorlage für {channel}',
}
